# docker build -t unknot . && docker run --rm -v "$PWD/runs:/work/runs" unknot
# Runs the demo on the embedded 8x8 digits; mount a folder with MNIST on /data for the demo on MNIST.
FROM python:3.11-slim
WORKDIR /work
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir -c constraints.txt torch && pip install --no-cache-dir -c constraints.txt .
ENV UNKNOT_DATA=/data
ENTRYPOINT ["unknot"]
CMD ["demo"]
