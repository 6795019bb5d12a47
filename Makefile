# Discreet. `make help` lists what can be made. Everything runs in .venv, built here on first use.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
TUMULT := .venv-tumult
PYTHON_TUMULT ?= python3.12
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DEMO := $(VENV)/.ready-demo
READY_SERVE := $(VENV)/.ready-serve
READY_ALL := $(VENV)/.ready-all
FRENCH := src/discreet/catalogue/locale/fr/LC_MESSAGES/discreet.mo
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --times

# Tests start many processes: none should compile what another has compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
FAULTS ?=

.PHONY: help setup demo demo-all serve test test-all check lint catalogue faults replicate bench bench-query bench-peers bench-scale docs clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## build .venv with everything the tests need

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Discreet needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian or Ubuntu install it with: sudo apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)

# A demonstration needs the package and what writes workbooks. Python compiles what is used when it is used.
$(READY_DEMO): pyproject.toml constraints.txt | $(BIN)/python
	@$(INSTALL) --no-compile --editable . XlsxWriter
	@touch $(READY_DEMO)

$(READY_SERVE): pyproject.toml constraints.txt | $(BIN)/python
	@$(INSTALL) --editable '.[client,server,tables]'
	@touch $(READY_SERVE)

$(READY): pyproject.toml constraints.txt replications/pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[testing]' --editable ./replications
	@$(BIN)/python -m compileall -q src replications/src
	@# Compiles the tests, which pytest does in its own way. What is wrong with them is said when they run.
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null 2>&1 || true
	@touch $(READY)

# An editable installation compiles the catalogues, as every build does.
$(FRENCH): $(FRENCH:.mo=.po) hatch_build.py | $(BIN)/python
	@$(INSTALL) --no-deps --editable .

# torch by itself first: then its plain build for the processor is found, and nothing for graphics cards is fetched.
$(READY_ALL): $(READY)
	$(INSTALL) torch
	$(INSTALL) --editable '.[testing,spark,gan]'
	@touch $(READY_ALL)

demo: $(if $(wildcard $(READY)),$(READY),$(READY_DEMO)) $(FRENCH) ## from nothing to a protected answer and a table, in a fresh workspace under demo/
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

demo-all: $(READY) $(FRENCH) ## a longer tour: cards, workbooks, local collection, studies, sensitivities
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo-all.sh

serve: $(if $(wildcard $(READY)),$(READY),$(READY_SERVE)) $(FRENCH) ## the sample survey behind a server, with one person of each role, under serve/
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/serve.sh

test: lint ## lint, types, import direction and the test suite (with a real PostgreSQL); under five minutes
	$(PYTEST) --dist worksteal -m "not long"

test-all: $(READY_ALL) $(FRENCH) ## the rest: long statistics, crash rounds, reproductions, a small GAN, a Spark cluster (needs Java 17)
	$(PYTEST) --dist loadgroup -m "long"

check: lint ## lint, types, unit tests that work in memory; under a minute
	$(PYTEST) --dist worksteal -m "not long and not statistical and not slow" tests/unit

lint: $(READY) $(FRENCH)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(WORKERS)
	$(BIN)/lint-imports --no-cache

catalogue: $(READY) ## write the catalogues anew from the source, and say what is not translated
	$(BIN)/python -m tests.catalogue write

faults: $(READY) ## plant faults in a copy of the source, one by one, and see which test finds each; half an hour
	$(BIN)/python -m tests.faults --workers $(WORKERS) $(FAULTS)

replicate: $(READY) ## repeat the founding documents into replicated/; DATA=DIR names the folder of their data files
	$(BIN)/discreet reproduce report --out replicated/report
	$(BIN)/discreet reproduce bootstrap --out replicated/farms $(if $(DATA),--data '$(DATA)')
	$(BIN)/discreet reproduce thesis --out replicated/thesis $(if $(DATA),--data '$(DATA)') --no-gan

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

bench-scale: $(READY_ALL) $(TUMULT)/.ready ## the same questions on DuckDB, PostgreSQL and Spark, and by Tumult Analytics; half an hour
	@$(BIN)/python -m compileall -q src benchmarks
	$(BIN)/python -m benchmarks scale

$(TUMULT)/.ready: benchmarks/tumult.txt
	@test -x $(TUMULT)/bin/python || $(PYTHON_TUMULT) -m venv $(TUMULT)
	$(TUMULT)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/tumult.txt
	@touch $(TUMULT)/.ready

docs: $(READY) ## write the generated pages anew from the code, then the site into site/, strictly
	$(BIN)/python -m discreet.cli.reference > docs/reference.md
	$(BIN)/python -m discreet.cli.files_page > docs/files.md
	@mkdir -p docs/schemas
	for kind in card workload manifest study agreement; do $(BIN)/python -m discreet schema $$kind --out docs/schemas/$$kind.json; done
	$(BIN)/python -m discreet noise pictures docs/pictures
	$(BIN)/discreet linked tradeoff --scale 30 --belief 0.8 --people 100000 --out docs/pictures > /dev/null
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean: ## remove .venv, caches and the demo
	rm -rf $(VENV) $(PEERS) $(TUMULT) demo serve replicated site .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
