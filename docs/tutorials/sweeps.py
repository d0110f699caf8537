# %% [markdown]
# # Sweeps
#
# Which weight, how many dimensions of style, and was it luck? A sweep trains every combination with several seeds, one
# process per core, ranks the runs and writes one page. What is finished is kept: the same command continues after an
# interruption.

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
(folder / "spec.yaml").write_text("""
data: {name: digits}
labels: {budget: {digit: 50}}
model: {kind: class_style, style: 4}
train: {steps: 60, batch_size: 60, device: cpu, progress: false}
""")

# %%
import subprocess
import sys

command = [
    sys.executable,
    "-m",
    "unknot",
    "sweep",
    str(folder / "spec.yaml"),
    "-o",
    str(folder / "sweep"),
    "--grid",
    "model.style=2,6",
    "--seeds",
    "2",
    "--workers",
    "1",
]
done = subprocess.run(command, capture_output=True, text=True)
print(done.stdout[-1500:].replace(str(folder), "."), done.stderr[-500:] if done.returncode else "")

# %% [markdown]
# `ranking.json` has all numbers. With so few steps and two seeds the differences mean nothing; the page says so by the
# spread over seeds.

# %%
import json

ranking = json.loads((folder / "sweep" / "ranking.json").read_text())
print(json.dumps(ranking, indent=1)[:900])

# %% [markdown]
# On a cluster, `unknot sweep ... --ray ADDRESS` makes every run a task of Ray (`pip install 'unknot[sweep]'`).
