# The verbs of this repository; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PARTS := clients compatibility contracts migrations registry serdes spark_validation
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help setup lock format check test test-all docs build demo bench clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## make .venv with the locked versions, and contractlog in it

$(READY): requirements/dev.txt pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "contractlog needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "setting up .venv (once; the packages are about 1 GB)"
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	@[ -x $(BIN)/uv ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@mkdir -p .typing/contractlog && for part in $(PARTS); do ln -sfn ../../$$part .typing/contractlog/$$part; done
	@touch $@

lock: setup ## compile requirements/*.in to *.txt
	@for name in base server spark demo dev; do $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 requirements/$$name.in -o requirements/$$name.txt; done

format: setup ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

check: setup ## lint, types, import layers, generated documents
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
