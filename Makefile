# Everything runs in virtual environments that this file makes; it needs Python 3.11+, a C++20 compiler and make.
# PYTHON chooses the interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
DASHBOARDS := .venv-dashboards

PYTHON_VERSION := $(shell $(PYTHON) -c 'import platform; print(platform.python_version())')
CPP := $(wildcard cpp/include/localmdi/*/*.hpp cpp/src/*/*.cpp cpp/bindings/*.cpp cpp/bindings/*.hpp)
CPP_TESTS := $(wildcard cpp/tests/*/*.cpp cpp/tests/*/*.hpp cpp/benchmarks/*.cpp)
BUILD_FILES := CMakeLists.txt pyproject.toml

CMAKE = $(BIN)/cmake -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja

# Stamps: a recipe runs again only when what it depends on has changed.
CREATED := $(VENV)/.python-$(PYTHON_VERSION)
BUILD_TOOLS := $(VENV)/.build-tools
BUILT := $(VENV)/.built
APP_TOOLS := $(VENV)/.app-tools
TEST_TOOLS := $(VENV)/.test-tools
PAPER_TOOLS := $(VENV)/.paper-tools
EVALUATION_TOOLS := $(VENV)/.evaluation-tools
DOCS_TOOLS := $(VENV)/.docs-tools
BENCH_TOOLS := $(VENV)/.bench-tools
OLDEST_BUILT := $(OLDEST)/.built
DASHBOARDS_BUILT := $(DASHBOARDS)/.built

.PHONY: help demo test checks test-python test-cpp test-coverage test-threads test-sdist test-slow test-oldest test-dashboards lint types layers shape warnings fuzz mutants bench bench-check paper evaluation docs links format clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(BUILT) $(APP_TOOLS) ## explain a forest on the handwritten digits, and write the report
	$(BIN)/localmdi demo

test: $(BUILT) $(TEST_TOOLS) ## everything that must hold before a commit
	$(MAKE) --jobs=2 --output-sync=target checks
	$(MAKE) test-python

# The C++ tests compile while the others read.
checks: test-cpp lint types layers shape

test-slow: warnings test-sdist test-threads test-oldest test-dashboards test-coverage ## the tests that take minutes, coverage, threads under ThreadSanitizer, all tests on the oldest supported libraries
	$(BIN)/python -m pytest -m slow --ignore=tests/dashboards tests

fuzz: $(BUILT) $(TEST_TOOLS) ## damaged files for every reader, an hour of them (FUZZ="--seconds 60 --seed 7")
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

mutants: $(BUILT) $(TEST_TOOLS) ## change one operator or number at a time, 300 of them: do the tests notice? (MUTANTS="--python 60 --cpp 0 --seed 7")
	PYTHONPATH=tools $(BIN)/python -m mutants $(MUTANTS)

bench: $(BUILT) $(BENCH_TOOLS) ## the speed table of the README
	$(BIN)/python -m benchmarks

bench-check: $(BUILD_TOOLS) ## count the instructions of fixed workloads (needs valgrind), beside those on record (COUNTS=--write: record them)
	$(CMAKE) -B build/counts -DLOCALMDI_COUNTS=ON -DCMAKE_BUILD_TYPE=Release
	$(BIN)/cmake --build build/counts --target count_instructions
	$(BIN)/python -m benchmarks.instructions build/counts/count_instructions $(COUNTS)

paper: $(BUILT) $(PAPER_TOOLS) ## the paper's figures and tables, in paper-output (PAPER=--full for its own settings)
	$(BIN)/python -m paper $(PAPER)

evaluation: $(BUILT) $(EVALUATION_TOOLS) ## all measures on problems with known answers, in evaluation-output (EVALUATION=--full for up to an hour)
	$(BIN)/python -m evaluation $(EVALUATION)

docs: $(BUILT) $(DOCS_TOOLS) ## the documentation, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Read docs/_build/html/index.html"

links: $(BUILT) $(DOCS_TOOLS) ## do the documentation's links to other sites still lead somewhere? (needs the network)
	$(BIN)/python -m sphinx -q -b linkcheck -D plot_gallery=0 docs docs/_build/links

format: $(BUILT) $(TEST_TOOLS) ## rewrite Python and C++ in the house style, and the stub of the compiled module
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format -q .
	$(BIN)/clang-format -i $(CPP) $(CPP_TESTS)
	$(BIN)/python tools/stub.py

# The parts of `make test`, for work on one of them.

lint: $(TEST_TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP) $(CPP_TESTS)

types: $(BUILT) $(TEST_TOOLS)
	$(BIN)/mypy

layers: $(BUILT) $(TEST_TOOLS)
	$(BIN)/lint-imports --no-logo

shape:
	$(PYTHON) tools/shape.py

test-cpp: $(BUILD_TOOLS)
	$(CMAKE) -B build/cpp-tests -DLOCALMDI_TESTS=ON
	$(BIN)/cmake --build build/cpp-tests
	$(BIN)/ctest --test-dir build/cpp-tests --output-on-failure --no-tests=error

# The same tests under ThreadSanitizer. Warnings are the business of test-cpp: here GCC invents some.
test-threads: $(BUILD_TOOLS)
	$(CMAKE) -B build/thread-tests -DLOCALMDI_TESTS=ON -DLOCALMDI_SANITIZERS=thread -DLOCALMDI_WERROR=OFF
	$(BIN)/cmake --build build/thread-tests --target programs
	TSAN_OPTIONS=halt_on_error=1 $(BIN)/ctest --test-dir build/thread-tests --output-on-failure --no-tests=error

# The bindings with warnings as errors, as test-cpp has the core; a user's build must not fail for a warning.
warnings: $(BUILD_TOOLS)
	$(CMAKE) -B build/warnings -DLOCALMDI_WERROR=ON -DCMAKE_BUILD_TYPE=Debug \
		-DPython_EXECUTABLE=$(abspath $(BIN))/python -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)"
	$(BIN)/ninja -C build/warnings $(patsubst %,CMakeFiles/_core.dir/%.o,$(wildcard cpp/bindings/*.cpp))

test-sdist: $(BUILD_TOOLS)
	$(BIN)/python tools/check_sdist.py

test-python: $(BUILT) $(TEST_TOOLS)
	$(BIN)/python -m pytest -m "not slow" --numprocesses=logical --maxprocesses=8 --dist=loadgroup

test-coverage: $(BUILT) $(TEST_TOOLS)
	$(BIN)/python -m pytest -m "not slow" --numprocesses=logical --maxprocesses=8 --dist=loadgroup --cov --cov-report=term-missing

test-oldest: $(OLDEST_BUILT)
	$(OLDEST)/bin/python -m pytest -m "not slow" --ignore=tests/architecture --ignore=tests/paper --ignore=tests/evaluation tests

# Dash brings a plugin for pytest that uses an interface which pytest has deprecated.
test-dashboards: $(DASHBOARDS_BUILT)
	$(DASHBOARDS)/bin/python -m pytest -p no:dash tests/dashboards

clean: ## remove the environments and everything built
	rm -rf $(VENV) $(OLDEST) $(DASHBOARDS) build dist docs/_build docs/generated docs/gallery .coverage* .mypy_cache .ruff_cache .pytest_cache

# Environments

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "localmdi needs Python 3.11 or newer, this is $(PYTHON_VERSION); choose one: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	touch $@

$(BUILD_TOOLS): $(CREATED) pyproject.toml
	$(BIN)/python -m pip install -q --group build
	touch $@

$(BUILT): $(BUILD_TOOLS) $(BUILD_FILES) $(CPP)
	$(BIN)/python -m pip install -q --no-build-isolation -e .
	touch $@

$(APP_TOOLS): $(BUILT)
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[app]'
	touch $@

$(PAPER_TOOLS): $(CREATED) pyproject.toml
	$(BIN)/python -m pip install -q --group paper
	touch $@

$(EVALUATION_TOOLS): $(CREATED) pyproject.toml
	$(BIN)/python -m pip install -q --group evaluation
	touch $@

$(TEST_TOOLS): $(CREATED) pyproject.toml
	$(BIN)/python -m pip install -q --group test --group lint
	touch $@

$(BENCH_TOOLS): $(CREATED) pyproject.toml
	$(BIN)/python -m pip install -q --group bench
	touch $@

$(DOCS_TOOLS): $(CREATED) pyproject.toml
	$(BIN)/python -m pip install -q --group docs
	touch $@

# Not editable, so the tests meet the package as users install it. The pins have wheels for Python 3.11.
$(OLDEST_BUILT): tools/oldest.txt $(BUILD_FILES) $(CPP) $(shell find src -name '*.py')
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install -q --upgrade pip
	$(OLDEST)/bin/python -m pip install -q -c tools/oldest.txt -C build-dir=build/oldest --group test .
	touch $@

# explainerdashboard asks for a NumPy that is older than that of the other tests.
$(DASHBOARDS_BUILT): $(BUILD_FILES) $(CPP) $(shell find src -name '*.py')
	$(PYTHON) -m venv --clear $(DASHBOARDS)
	$(DASHBOARDS)/bin/python -m pip install -q --upgrade pip
	$(DASHBOARDS)/bin/python -m pip install -q -C build-dir=build/dashboards --group dashboards .
	touch $@
