# make demo | test | lint | format | bench | docs | wheel | clean
# Every target makes what it needs: a virtual environment in .venv and the package in it,
# rebuilt only when a native source or the build configuration changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find native -name '*.cpp' -o -name '*.hpp') CMakeLists.txt pyproject.toml
CXX_FILES := $(shell find native -name '*.cpp' -o -name '*.hpp')

.PHONY: demo test lint format bench docs wheel clean
.DEFAULT_GOAL := demo

demo: $(VENV)/installed
	$(BIN)/kleene demo

test: $(VENV)/installed-test
	$(BIN)/python -m pytest --cov=kleene --cov-report=term $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/clang-format -i $(CXX_FILES)

bench: $(VENV)/installed-test
	$(BIN)/python benchmarks/files_and_generators.py

docs: $(VENV)/installed-docs
	$(BIN)/mkdocs build --strict

wheel: $(VENV)/python
	$(BIN)/pip wheel --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# One environment; extras are layered on it by need. The native module is built once, in place.
$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Kleene needs Python 3.11 or newer; choose one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" cmake ninja
	@touch $@

$(VENV)/installed: $(VENV)/python $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[$*]'
	@touch $@
