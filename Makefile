# Two commands for a machine that has Python 3.11+, make and git:  make demo  and  make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
# Options of the benchmarks, such as --quick.
BENCH ?=
# Processes that share the tests, file by file.
JOBS ?= 2

.PHONY: demo test lint chromium postgresql java bench bench-check notebooks fuzz reliability sbom vulnerabilities wheel clean

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

# Databases are tested on a real server in a throw-away cluster; without one those tests are skipped.
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	  || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq \
	  && apt-get install -y -qq --no-install-recommends postgresql; } || true

# The Spark engine is tested in real sessions, which run in Java; likewise.
java:
	@command -v java >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends \
	  openjdk-17-jre-headless; } || true

test: lint chromium postgresql java
	$(BIN)/pytest -n $(JOBS) --dist loadfile

# Runs the example notebooks again, in place.
notebooks: $(VENV)/.installed-test
	$(BIN)/python tests/notebooks.py

# The nightly share: more than a million cases over all targets, most of them guided by coverage
# where atheris installs, the others by Hypothesis.
CASES ?= 1100000
fuzz: $(VENV)/.installed-test
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	$(BIN)/python -m tests.fuzz --cases $(CASES)

# The full counts of docs/reliability.md: spoilt releases, injected faults, load. That takes more than
# an hour; a first look: make reliability SEEDS=10 FAULTS=--quick RUNS=5 SESSIONS=2
SEEDS ?= 400
FAULTS ?=
RUNS ?= 50
SESSIONS ?= 20
reliability: $(VENV)/.installed-test
	$(BIN)/python -m tests.mutations --seeds $(SEEDS)
	$(BIN)/python -m tests.faults $(FAULTS)
	$(BIN)/python -m tests.load --runs $(RUNS) --sessions $(SESSIONS)

# What an installation consists of, as CycloneDX JSON, from installed metadata alone.
sbom: $(VENV)/.installed-test
	@mkdir -p dist
	$(BIN)/python -m tests.sbom dist/sfumato.cdx.json

# Known vulnerabilities of what is installed, by a database that you bring (ADVISORIES=FOLDER|ZIP).
vulnerabilities: $(VENV)/.installed-test
	$(BIN)/python -m tests.advisories "$(ADVISORIES)"

# The same commit gives the same bytes: times are those of the commit.
wheel: $(BIN)/python
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m pip wheel --quiet \
	  --disable-pip-version-check --no-deps --wheel-dir dist .

bench: $(VENV)/.installed $(PEERS)/.installed
	$(BIN)/python -m benchmarks.run $(BENCH)
	$(BIN)/python -m benchmarks.side_by_side $(BENCH)
	$(BIN)/python -m benchmarks.start_up $(filter --quick,$(BENCH))

# Ratios against the last committed ones; fails where one has grown.
bench-check: $(VENV)/.installed $(PEERS)/.installed
	$(BIN)/python -m benchmarks.side_by_side --check $(BENCH)

clean:
	rm -rf $(VENV) $(PEERS) .pytest_cache .mypy_cache .ruff_cache .hypothesis .artifacts
