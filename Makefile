# Two commands do everything on a machine with Python 3.11, make and git:
#   make demo    train the paper's model on 100 labels and open the report
#   make test    the test suite
# Each makes its own virtual environment in .venv first, if there is none.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# Data sets are looked for in UNKNOT_DATA first; a checkout with data beside it uses that.
ifneq ($(wildcard ../shared/data),)
export UNKNOT_DATA ?= $(abspath ../shared/data)
endif

.PHONY: help install demo test test-slow wheel docs coverage lint bench clean

help:            ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

install: $(STAMP)  ## make .venv and install unknot in it, with the tested versions

demo: $(STAMP)     ## MNIST from 100 labels: error, report, pictures
	$(BIN)/unknot demo

# One single-threaded worker per core is faster than threads, and repeatable.
test: $(STAMP)     ## the test suite (a few minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

test-slow: $(STAMP) ## the long cases, which `make test` leaves out
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m slow

wheel: $(STAMP)    ## build the wheel, install it into a clean environment, fit and report from there
	.ci/wheel

docs: $(STAMP)     ## the site, with its tutorials executed, in site/
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

coverage: $(STAMP) ## the test suite, and the lines of each file that it does not run
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --cov --cov-report=term-missing

lint: $(STAMP)     ## ruff and mypy, as pre-commit runs them
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)    ## speed and memory, as ratios to hand-written PyTorch (wants a quiet machine)
	$(BIN)/python -m benchmarks

clean:           ## remove the virtual environment and caches
	rm -rf $(VENV) site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
