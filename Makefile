# demo   see it work            test   lint, types, layers and every test
# check  lint, types, layers    soak   the long tests: kills, races, ten times the examples
# bench  measure, write bench/results/*.json
# faults  what is done to a store, and what comes of it: writes the table of docs/reliability.md
# coverage  what share of the lines tests run; fails below the floor in pyproject.toml
# browser  a Chromium for the tests of pages, unpacked into .cache where there is none
# conformance  the public suite of MCP and the inspector's strict check, where Node can be had
# test-agents  Claude Code and Codex from npm, run offline: 760 MB in .clients, the output in docs/
# audit  licences, ranges and use of what is installed    constraints  pin it all anew
# bench-check  measure every bar that was promised; fails when one no longer holds
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Some hundred processes are started by tests: what one has compiled, the next need not.
unexport PYTHONDONTWRITEBYTECODE
# Thousands of small stores: in memory where there is a lot of it that takes programs too, otherwise
# on the disk, as in `make soak`, `make faults` and whatever is started by hand.
MEMORY := $(shell awk '$$2 == "/dev/shm" && $$4 !~ /noexec/' /proc/mounts 2>/dev/null | grep -q . \
	&& df -Pk /dev/shm | awk 'NR == 2 && $$4 > 4000000 { print $$6 }')
test coverage: export PYTEST_DEBUG_TEMPROOT := $(MEMORY)

.PHONY: browser conformance demo test test-agents soak faults check coverage audit constraints bench bench-check clean

demo: $(VENV)/.installed
	@$(BIN)/recollect demo

# One process a core: tests share no file, no port and no order. Lines are counted where most of them
# are run, so that nothing is run twice.
test: check browser coverage
	$(BIN)/pytest -n auto --dist worksteal tests/property tests/faults tests/e2e tests/house $(UNMEASURED)

soak: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m soak
	HYPOTHESIS_PROFILE=soak $(BIN)/pytest -n auto --dist worksteal --timeout 3600 tests/property

# Not part of `test`: the clients are large. Their versions are those that the output names.
CLIENTS := .clients/node_modules/.bin
AGENTS_OUTPUT := docs/agents-tested.txt
test-agents: $(VENV)/.dev $(CLIENTS)/claude
	$(BIN)/pytest -v -n 2 -p no:cacheprovider tests/agents > $(AGENTS_OUTPUT).new 2>&1 || { cat $(AGENTS_OUTPUT).new; rm $(AGENTS_OUTPUT).new; exit 1; }
	{ date -u +%Y-%m-%d; $(CLIENTS)/claude --version; $(CLIENTS)/codex --version 2>/dev/null; \
	  grep -E "PASSED|FAILED|SKIPPED| passed| failed" $(AGENTS_OUTPUT).new | sed 's/^\[gw[0-9]*\] \[ *[0-9]*%\] //' | sort; } > $(AGENTS_OUTPUT)
	rm $(AGENTS_OUTPUT).new
	cat $(AGENTS_OUTPUT)

$(CLIENTS)/claude:
	npm install --no-audit --no-fund --prefix .clients @anthropic-ai/claude-code@2.1.327 @openai/codex@0.169.0
	@touch $@

faults: $(VENV)/.dev
	$(BIN)/python -m tests.faults.matrix --write

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	MYPY_NUM_WORKERS=2 $(BIN)/mypy
	$(BIN)/lint-imports

# Fetched by apt-get, never installed. Without one, tests of pages are skipped; under CI this fails.
browser: $(VENV)/.dev
	$(BIN)/python -m tools.chromium

# Nearly all that these run is run by others too: not slowed down by counting lines.
UNMEASURED = tests/contract/policy tests/unit/test_linear.py tests/unit/evaluation/test_pages.py \
	tests/contract/engine/test_import_memory.py

coverage: $(VENV)/.dev
	$(BIN)/pytest -q -n auto --dist worksteal --cov --cov-report term:skip-covered \
	  tests/unit tests/contract tests/conformance tests/golden $(addprefix --ignore ,$(UNMEASURED))

conformance: $(VENV)/.dev
	$(BIN)/python -m tools.conformance

audit: $(VENV)/.dev
	$(BIN)/python -m tools.audit

# Versions and hashes for every platform, no address.
constraints: $(VENV)/.dev
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --extra mcp --extra openai --extra serve --extra transformer \
	  --generate-hashes --no-strip-extras --no-emit-index-url --no-header --no-annotate --upgrade pyproject.toml -o constraints.txt

bench: $(VENV)/.dev
	$(BIN)/python -m bench.paks && $(BIN)/python -m bench.select && $(BIN)/python -m bench.recall && $(BIN)/python -m bench.hooks && $(BIN)/python -m bench.policy && $(BIN)/python -m bench.peers

bench-quality: $(VENV)/.dev
	$(BIN)/python -m bench.quality

bench-check: $(VENV)/.dev
	$(BIN)/python -m bench.check

clean:
	rm -rf $(VENV) .cache bench/.envs bench/.stores

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e .
	@touch $@

# What was tested, by hash; where the index lacks one of these, whatever pyproject.toml allows.
$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --require-hashes -r constraints.txt || $(BIN)/pip install --quiet '.[dev]'
	$(BIN)/pip install --quiet --no-deps -e .
	@touch $@ $(VENV)/.installed
