# `make demo`, `make check` and `make test` need Python 3.11 or newer with venv; the rest comes into .venv.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo check test test-all docs lint types clean

demo: .venv/core-installed
	$(BIN)/gravure demo

# What may be known in a minute: style, and a case of each test that is not slow.
check: .venv/dev-installed
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -q -n auto --dist worksteal --quick

# All but what starts several processes, goes over all there are of a kind, or is very long; of tests
# of many cases some.
test: .venv/dev-installed
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'not mpi and not sweep'

test-all: .venv/dev-installed
	$(BIN)/python -m pytest -q -n auto --dist worksteal

docs: .venv/core-installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/python -m gravure.tools.site build/docs

lint: .venv/dev-installed
	$(BIN)/ruff check .

types: .venv/dev-installed
	$(BIN)/mypy

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/core-installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gravure needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/dev-installed: .venv/core-installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
