# Every target does its own set-up; nothing needs root. `make reproduce` is the main job, `make test` the tests.
SHELL := /bin/sh
BIN := .venv/bin
STAMP := .venv/.installed
PYTHON ?=

# Public data that stand beside the checkout are used where they are.
ifneq ($(wildcard ../shared/data),)
export MISSTEP_DATA ?= $(abspath ../shared/data)
endif

.PHONY: reproduce test lint bench setup clean

reproduce: $(STAMP)
	@$(BIN)/misstep reproduce --out reports

test: $(STAMP)
	@$(BIN)/pytest

lint: $(STAMP)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP)
	@$(BIN)/python -m benchmarks

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt scripts/setup.sh
	@PYTHON="$(PYTHON)" scripts/setup.sh
	@touch $@

clean:
	rm -rf .venv reports .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
