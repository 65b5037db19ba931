# make demo | test | coverage | emulator | lint | format | sanitize | sanitize-rotate | odr-check
# | torture | bench | lab | gpu-check | docs | wheel | release-check | windows-check
# | test-oldest | clean
# Every target makes what it needs: a virtual environment in .venv and the package in it,
# rebuilt only when a native source or the build configuration changed.

# Tests start many programs: each compiles what it imports, unless the first one keeps it.
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CXX_FILES := $(shell find native src/kleene/backends/cuda -name '*.[ch]pp' -o -name '*.inl' -o -name '*.cu' \
  -o -name '*.cuh')
NATIVE := $(CXX_FILES) src/kleene/backends/cuda/variants.py CMakeLists.txt pyproject.toml
# The emulators take most of a build, and only these goals need them; once built, they are kept up to
# date by all goals. With them come the checked emulator and the kernels of its own tests.
NEED_EMULATOR := test coverage emulator torture gpu-check $(VENV)/installed-test
EMULATOR := $(if $(wildcard $(VENV)/emulator-ON)$(filter \
  $(NEED_EMULATOR),$(MAKECMDGOALS)),ON,OFF)
BUILD_OPTIONS := -Ccmake.define.KLEENE_EMULATOR=$(EMULATOR) \
  -Ccmake.define.KLEENE_EMULATOR_TESTS=$(EMULATOR) -Cinstall.strip=false

.PHONY: demo test coverage emulator lint format sanitize sanitize-rotate odr-check torture bench lab \
  gpu-check gpu-record-check docs wheel release-check windows-check test-oldest clean
.DEFAULT_GOAL := demo

demo: $(VENV)/installed
	$(BIN)/kleene demo

# What device="emulated" needs, in a source checkout.
emulator: $(VENV)/installed

# Two processes at a time; ARGS="-n 0 ..." for one, where print and a debugger are of use.
test: $(VENV)/installed-test
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

# The same, with a report of the lines and branches that no test runs: takes a third longer.
coverage: $(VENV)/installed-test
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov=kleene --cov-report=term-missing $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check src tests benchmarks torture release docs examples
	$(BIN)/ruff format --check src tests benchmarks torture release docs examples
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/python release/version_from_tag.py

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix src tests benchmarks torture release docs examples
	$(BIN)/ruff format src tests benchmarks torture release docs examples
	$(BIN)/clang-format -i $(CXX_FILES)

# Kleene beside its peers: kleene lab run --suite peers, ARGS as it takes them, say
# ARGS="peers-bfs --budget 60" or ARGS="--record mine.jsonl". The record is resumed; see
# kleene lab run --help.
RECORD ?= kleene-lab.jsonl
LAB := --record $(RECORD) --data benchmarks/data
bench: $(VENV)/installed-peers
	$(BIN)/kleene lab run --suite peers $(LAB) $(ARGS)

# Every experiment, and the report about them.
lab: $(VENV)/installed-peers $(VENV)/installed-report
	$(BIN)/kleene lab run $(LAB) $(ARGS)
	$(BIN)/kleene lab report $(RECORD)

# Needs an NVIDIA GPU; writes benchmarks/<gpu>.jsonl, to be committed.
# ARGS="--checks-only" or "--no-checks" for one half, each some ten minutes.
gpu-check: $(VENV)/installed-test
	$(BIN)/python benchmarks/gpu_check.py $(ARGS)

# Are the kernels those of the GPU records? CI asks; a commit needs no GPU.
gpu-record-check: $(VENV)/installed
	$(BIN)/python benchmarks/gpu_record.py

# Tests that exercise the native core, on an instrumented build of it: ASan and UBSan with leak
# detection, then TSan. The interpreter starts with -S so that the installed package does not get in
# front of that build, which has no emulator. Python takes memory from malloc, so that what its
# objects hold does not count as lost; of leaks, those of Kleene's own blocks fail, except for the
# names that Python keeps for ever. ThreadSanitizer cannot follow a process that forks while it has
# threads.
SITE = $(shell $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
SANITIZED_TESTS = $(sort $(filter-out %_cuda.py %_cuda_weights.py,$(wildcard $(addprefix tests/*/, \
  test_*_native.py test_io*.py test_generate*.py test_csgraph.py test_dense_graph.py \
  test_encodings.py test_prepared_*.py test_betweenness*.py test_components.py \
  test_distance_measures.py test_graph.py test_k_shortest.py test_loads.py test_path_counts.py \
  test_product.py test_result.py test_rounding.py test_spmv.py test_tile_products.py test_trees.py \
  test_verify.py))))
SANITIZERS := address,undefined thread
sanitize: $(SANITIZERS:%=sanitize-%)
sanitize-%: $(VENV)/installed-test
	rm -rf build/sanitized
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --target build/sanitized \
	  -Cbuild-dir=build/sanitize-$* -Ccmake.define.KLEENE_SANITIZE=$* \
	  -Ccmake.define.KLEENE_EMULATOR=OFF -Cinstall.strip=false .
	setarch -R env LD_PRELOAD="$$(c++ -print-file-name=lib$(if $(findstring thread,$*),tsan,asan).so) \
	  $$(c++ -print-file-name=libstdc++.so)" PYTHONMALLOC=malloc \
	  ASAN_OPTIONS="detect_leaks=1 stack_trace_format='    #%n %p %F %L %M'" \
	  LSAN_OPTIONS="exitcode=0 log_path=build/sanitized/leaks" \
	  TSAN_OPTIONS="exitcode=66 suppressions=native/tsan-suppressions.txt" \
	  PYTHONPATH=build/sanitized:$(SITE) $(BIN)/python -S -m pytest -q -p no:cacheprovider \
	  $(SANITIZED_TESTS) -k "not on_a_device and not emulated \
	  $(if $(findstring thread,$*),and not fork)" $(ARGS)
	cat build/sanitized/leaks* /dev/null 2>/dev/null | \
	  awk 'BEGIN { RS = "" } /^Direct leak/ && /kleene/ && !/PyUnicode_Intern/ { print; lost = 1 } \
	  END { exit lost }'

# One sanitizer and a fifth of these tests, another every day: ROTATION=0 to 9 covers all.
ROTATION ?= $(shell echo $$(($$(date +%s) / 86400 % 10)))
sanitize-rotate:
	$(MAKE) sanitize-$(word $(shell echo $$(($(ROTATION) % 2 + 1))),$(SANITIZERS)) \
	  SANITIZED_TESTS="$(shell printf '%s\n' $(SANITIZED_TESTS) | awk 'NR % 5 == $(ROTATION) % 5')"

# The adversarial campaign, some minutes; ARGS="soak --minutes 60" for one part, and longer.
torture: $(VENV)/installed-test $(VENV)/installed-fuzz
	$(BIN)/python -m torture $(ARGS)

# Violations of the one-definition rule, by link-time optimisation of the core and its bindings; and
# of the rule for files of other instruction sets, which may define nothing outside their namespace.
odr-check: $(VENV)/python
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/odr-check -G Ninja \
	  -DKLEENE_ODR_CHECK=ON -DKLEENE_EMULATOR=OFF -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	  -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" >/dev/null
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/odr-check
	! find build/odr-check -path '*/kleene_avx*.o' | xargs gcc-nm -C | grep ' [TWVu] ' | grep -v '::avx'

# Strict, and without the network. What the build writes into docs/ is made anew: examples run again
# when the library has changed, not only when they have.
docs: $(VENV)/installed-docs
	rm -rf site docs/api docs/gallery
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -j 2 -d build/docs docs site

wheel: $(VENV)/python
	rm -rf dist
	$(BIN)/pip wheel --quiet --no-deps -Ccmake.define.KLEENE_EMULATOR=ON \
	  -Ccmake.define.KLEENE_EMULATOR_TESTS=OFF --wheel-dir dist .

# Everything about a release that can be checked on one machine: see release/check.py. PYTHONS are
# the interpreters to try, oldest first; ARGS="--no-suite" leaves out the long part.
PYTHONS ?= $(PYTHON)
release-check: $(VENV)/installed-release
	$(BIN)/python release/check.py --python $(PYTHONS) $(ARGS)

# The core, compiled for Windows by Zig's clang: pip install ziglang. Some minutes of one core.
ZIG ?= $(PYTHON) -m ziglang
AVX2 := -mavx2 -mfma
AVX512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma
FOR_WINDOWS = @mkdir -p $(@D) && $(ZIG) c++ -target x86_64-windows-gnu -std=c++20 -O0 -Inative/core \
  -DKLEENE_X86_LEVELS -c $< -o $@
windows_objects = $(foreach to,$(2),$(patsubst native/%.cpp,build/windows/%$(to),$(1)))
windows-check: \
  $(call windows_objects,$(shell find native/core -name '*.cpp' ! -name '*.each_*'),.o) \
  $(call windows_objects,$(shell find native/core -name '*.each_id.cpp'),.int32.o .int64.o) \
  $(call windows_objects,$(shell find native/core -name '*.each_level.cpp'),.base.o .avx2.o .avx512.o)
build/windows/%.o: native/%.cpp
	$(FOR_WINDOWS)
build/windows/%.int32.o build/windows/%.int64.o: native/%.cpp
	$(FOR_WINDOWS) -DKLEENE_ID=std::$(patsubst .%,%,$(suffix $(basename $@)))_t
build/windows/%.base.o: native/%.cpp
	$(FOR_WINDOWS) -DKLEENE_LEVEL=baseline -DKLEENE_BYTES=16
build/windows/%.avx2.o: native/%.cpp
	$(FOR_WINDOWS) -DKLEENE_LEVEL=avx2 -DKLEENE_BYTES=32 $(AVX2)
build/windows/%.avx512.o: native/%.cpp
	$(FOR_WINDOWS) -DKLEENE_LEVEL=avx512 -DKLEENE_BYTES=64 $(AVX512)

# The tests with the oldest versions of what Kleene depends on, in an environment of their own.
OLDEST := build/oldest
test-oldest: $(VENV)/installed-test
	test -d $(OLDEST) || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --requirement tests/oldest.txt $(TOOLS)
	$(OLDEST)/bin/python -m pip install --quiet --no-build-isolation --no-deps \
	  -Cbuild-dir=build/oldest-native -Ccmake.define.KLEENE_EMULATOR_TESTS=ON .
	cd tests && ../$(OLDEST)/bin/python -m pytest -p no:cacheprovider -q -c ../pyproject.toml $(ARGS) .

clean:
	rm -rf $(VENV) build dist site docs/api docs/gallery .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# One environment; extras are layered on it by need. The native module is built once, in place.
# CMake and Ninja come from the system where they are recent enough.
NEWER = $(shell $(1) --version 2>/dev/null | $(PYTHON) -c 'import re, sys; \
  v = re.search(r"(\d+)\.(\d+)", sys.stdin.read()); \
  print("yes" if v and (int(v[1]), int(v[2])) >= $(2) else "")')
TOOLS = "scikit-build-core>=0.11" "nanobind>=2.4" $(if $(call NEWER,cmake,(3, 18)),,cmake) \
  $(if $(call NEWER,ninja,(1, 10)),,ninja)
$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Kleene needs Python 3.11 or newer; choose one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(TOOLS)
	@touch $@

$(VENV)/emulator-$(EMULATOR): | $(VENV)/python
	@rm -f $(VENV)/emulator-*
	@touch $@

# The dependencies, or those of an extra, one a line.
REQUIREMENTS := $(PYTHON) -c 'import sys, tomllib; \
  project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  of = {"base": project["dependencies"], **project["optional-dependencies"]}; \
  print(*of[sys.argv[1]], sep="\n")'

# The dependencies are installed while the native module compiles.
$(VENV)/installed: $(VENV)/python $(VENV)/emulator-$(EMULATOR) $(NATIVE)
	@$(REQUIREMENTS) base > $(VENV)/requirements-base.txt
	$(BIN)/python -m pip install --quiet --no-compile -r $(VENV)/requirements-base.txt & \
	  $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps $(BUILD_OPTIONS) --editable . \
	  && wait $$!
	@touch $@

$(VENV)/installed-%: $(VENV)/installed
	@$(REQUIREMENTS) $* > $(VENV)/requirements-$*.txt
	$(BIN)/python -m pip install --quiet --no-compile -r $(VENV)/requirements-$*.txt
	@touch $@
