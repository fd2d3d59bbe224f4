# Two commands for a machine that has Python 3.11+, make and git:  make demo  and  make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
# Options of the benchmarks, such as --quick.
BENCH ?=

.PHONY: demo test lint chromium bench bench-check notebooks clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sfumato needs Python 3.11 or newer (set PYTHON=...)"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[reports]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ $(VENV)/.installed

# Peers pin their own dependencies exactly, so they get an environment of their own.
$(PEERS)/.installed: benchmarks/peers.txt | $(BIN)/python
	$(BIN)/python -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/sfumato demo --force

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy

# The workbench is tested in a real browser; without one those tests say that they were skipped.
chromium:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } || true

test: lint chromium
	$(BIN)/pytest

# Runs the example notebooks again, in place.
notebooks: $(VENV)/.installed-test
	$(BIN)/python tests/notebooks.py

bench: $(VENV)/.installed $(PEERS)/.installed
	$(BIN)/python -m benchmarks.run $(BENCH)
	$(BIN)/python -m benchmarks.side_by_side $(BENCH)

# Ratios against the last committed ones; fails where one has grown.
bench-check: $(VENV)/.installed $(PEERS)/.installed
	$(BIN)/python -m benchmarks.side_by_side --check $(BENCH)

clean:
	rm -rf $(VENV) $(PEERS) .pytest_cache .mypy_cache .ruff_cache .hypothesis .artifacts
