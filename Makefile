# demo   see it work            test   lint, types, layers and every test
# check  lint, types, layers    soak   the long tests: kills, races, ten times the examples
# bench  measure, write bench/results/*.json
# bench-check  measure every bar that was promised; fails when one no longer holds
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test soak check bench bench-check clean

demo: $(VENV)/.installed
	@$(BIN)/recollect demo

# One process a core: tests share no file, no port and no order.
test: check
	$(BIN)/pytest -n auto --dist worksteal

soak: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m soak
	HYPOTHESIS_PROFILE=soak $(BIN)/pytest -n auto --dist worksteal --timeout 3600 tests/property

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python -m bench.paks && $(BIN)/python -m bench.select && $(BIN)/python -m bench.recall && $(BIN)/python -m bench.hooks && $(BIN)/python -m bench.policy && $(BIN)/python -m bench.peers

bench-check: $(VENV)/.dev
	$(BIN)/python -m bench.check

clean:
	rm -rf $(VENV) bench/.envs bench/.stores

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e '.[dev]'
	@touch $@ $(VENV)/.installed
