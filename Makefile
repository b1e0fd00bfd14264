# The targets of this repository; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PARTS := clients compatibility contracts migrations registry serdes spark_validation
PYTHON ?= python3
BIN := .venv/bin
FUZZ_SECONDS ?= 300
# Container images often set this; then each of the many Python processes that tests start compiles 600 modules.
unexport PYTHONDONTWRITEBYTECODE
BOTH_CORES := -n 2 --dist worksteal
# for tests that mostly wait for servers
WAITING := -n 4 --dist worksteal
READY := .venv/.ready
LOCKS := uv build base server spark rules aws azure gcp hcvault demo dev
COMPILE = $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11

.PHONY: help setup lock format check test test-all soak docs build demo bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## create .venv with the locked versions and contractlog

$(READY): requirements/uv.txt requirements/build.txt requirements/dev.txt pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "contractlog needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "setting up .venv (once; the packages are about 1 GB)"
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	@[ -x $(BIN)/uv ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --build-constraints requirements/build.txt -e .
	@mkdir -p .typing/contractlog && for part in $(PARTS); do ln -sfn ../../$$part .typing/contractlog/$$part; done
	@mkdir -p .cache
	@touch $@

lock: setup ## compile requirements/*.in to *.txt
	@for name in $(LOCKS); do $(COMPILE) requirements/$$name.in -o requirements/$$name.txt; done

format: setup ## format the code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

check: setup ## lint, types, import layers, docstrings, locked versions, generated documents
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest --quiet tests/unit/structure
	@for name in $(LOCKS); do cp requirements/$$name.txt .cache/$$name.txt; $(COMPILE) requirements/$$name.in -o .cache/$$name.txt; \
	  cmp -s requirements/$$name.txt .cache/$$name.txt || { echo "requirements/$$name.txt lags behind its .in file: run make lock"; exit 1; }; done
	$(BIN)/python docs/generate.py --check

test: setup ## run the tests: unit, contract, integration, e2e (about ten minutes on two cores)
	@echo "running the tests: unit, contract, integration (Kafka, PostgreSQL, Spark, Chromium), end to end, third-party clients"
	$(BIN)/pytest --quiet -m "not slow" $(BOTH_CORES) $(LEAVE_OUT) tests/unit tests/contract
	$(BIN)/pytest --quiet -m "not slow" $(WAITING) tests/integration tests/e2e tests/foreign
	@echo "all tests passed; next: make demo shows the whole product on real flight data, CONTRIBUTING.md explains how to contribute"

test-all: setup ## run the long tests: fuzzing, planted defects, histories, full-size data
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest --quiet -m slow $(BOTH_CORES) tests/fuzz tests/defects tests/unit tests/contract
	$(BIN)/pytest --quiet -m slow $(BOTH_CORES) $(LEAVE_OUT_LONG) tests/integration tests/e2e tests/foreign

soak: setup ## run for hours: fuzzing of schemas, JSON records and rules, histories with killed nodes, a hundred million mutated records
	$(BIN)/python tests/fuzz/schemas.py --seconds 3600
	$(BIN)/python tests/fuzz/records.py --mutants 100000000
	$(BIN)/python tests/fuzz/documents.py --mutants 100000000 --seconds 3600
	$(BIN)/python tests/fuzz/rules.py --records 1000000
	PYTHONPATH=tests $(BIN)/python -m histories --seconds 3600

demo: setup ## run the whole product on real flight data: registry, Kafka, CI check, audit, lineage (under two minutes after setup)
	@$(BIN)/python examples/demo.py

docs: setup ## write the generated documents
	$(BIN)/python docs/generate.py

build: setup ## build wheel and sdist in dist/
	$(BIN)/uv build --quiet --python $(BIN)/python --build-constraints requirements/build.txt --require-hashes

bench: setup ## measure speed as ratios to named alternatives (for Apicurio: benchmarks/registry/run.py --only apicurio)
	@for script in benchmarks/*.py benchmarks/registry/{run,hostile_schemas,write_delays}.py benchmarks/serdes/{run,first_record,memory,broker}.py benchmarks/audit/*.py benchmarks/rules/run.py benchmarks/lineage/{run,degradation}.py; do echo "== $$script"; $(BIN)/python $$script; done

clean: ## remove everything that the other targets created
	rm -rf .venv .typing .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist demo *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
