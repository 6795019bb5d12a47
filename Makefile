# Discreet. `make help` lists what can be made. Everything runs in .venv, built here on first use.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_ALL := $(VENV)/.ready-all
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check bench bench-query bench-peers docs clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## build .venv with everything the tests need

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Discreet needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian or Ubuntu install it with: sudo apt-get install python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[testing]'
	@$(BIN)/python -m compileall -q src
	@touch $(READY)

# torch by itself first: then its plain build for the processor is found, and nothing for graphics cards is fetched.
$(READY_ALL): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[testing,spark,gan]'
	@touch $(READY_ALL)

demo: $(READY) ## from nothing to protected counts with intervals, in a fresh workspace under demo/
	@$(BIN)/python -m compileall -q src
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

test: $(READY) ## lint, types, import direction and the test suite (with a real PostgreSQL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "not long"

test-all: $(READY_ALL) ## the rest: long statistics, crash rounds, large files, a small GAN, a Spark cluster (needs Java 17)
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "long"

check: $(READY) ## lint, types, unit tests; under a minute
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(PYTEST) -q -n $(WORKERS) -m "not long and not statistical" tests/unit

bench: $(READY) ## measure: cold start, sample, noise, ledger, ingest, questions, tables
	@$(BIN)/python -m compileall -q src benchmarks
	$(BIN)/python -m benchmarks

bench-query: $(READY) ## questions against plain DuckDB; writes the tables of docs/benchmarks.md
	@$(BIN)/python -m compileall -q src benchmarks
	$(BIN)/python -m benchmarks query

bench-peers: $(READY) $(PEERS)/.ready ## the same work by OpenDP and diffprivlib, in an environment of their own
	$(BIN)/python -m benchmarks peers

$(PEERS)/.ready: benchmarks/peers.txt
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers.txt
	@touch $(PEERS)/.ready

docs: $(READY) ## write docs/reference.md anew from the code
	$(BIN)/python -m discreet.cli.reference > docs/reference.md

clean: ## remove .venv, caches and the demo
	rm -rf $(VENV) $(PEERS) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
