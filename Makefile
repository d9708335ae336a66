# Every target does its own set-up: a virtual environment in .venv, the tools of tests/requirements.txt, a release
# build. One Cargo profile serves the wheel, the tests and the benchmarks, so that nothing is compiled twice.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := $(CURDIR)/.venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.requirements
STAMP_LONG := $(VENV)/.requirements-long
# PyTorch, apart from the environment: it is large, and brings an ONNX Runtime that twincell would use.
TRAINING := $(CURDIR)/.venv-train
STAMP_TRAINING := $(TRAINING)/.requirements
# For `make bench` only, and apart from the environment: the tests go on with the back end that is built in.
ONNXRUNTIME := $(CURDIR)/target/onnxruntime
# Kernels are looked for in the environment that make set up, and in no other.
RUN := env -u PYTHONPATH -u CONDA_PREFIX VIRTUAL_ENV=$(VENV) PATH="$(VENV)/bin:$$PATH"

.PHONY: help setup build training widgets screenshots test test-long demo bench bench-kernel lint clean

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name what; do \
	  printf '  make %-12s %s\n' "$$name" "$$what"; done

$(STAMP): tests/requirements.txt
	@python=$$(.ci/require); \
	if ! $(PYTHON) -c 'import pip' 2>/dev/null; then rm -rf $(VENV); "$$python" -m venv $(VENV); fi
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(STAMP_LONG): tests/requirements-long.txt $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Training needs a later Python than twincell; without one its tests are skipped.
$(STAMP_TRAINING): tests/requirements-train.txt $(STAMP)
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	  $(PYTHON) -m venv $(TRAINING); \
	  $(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check -r $<; \
	else mkdir -p $(TRAINING); fi
	@touch $@

setup: $(STAMP)
	@.ci/require >/dev/null

build: setup ## compile, and install into .venv with the command and the kernel
	$(RUN) maturin develop --release

widgets: ## check, test and build the widget from widgets/js into widgets/dist; needs Node 20 or later
	@command -v npm >/dev/null || { echo "Node 20 or later with npm is needed to build the widget; what is built is in widgets/dist" >&2; exit 1; }
	cd widgets/js && npm ci --no-audit --no-fund && npm run check && npm test && npm run build

training: $(STAMP_TRAINING) ## an environment for models/train in .venv-train: PyTorch and what goes with it

test: build training ## every test but the long ones
	$(RUN) cargo test --release --workspace
	$(RUN) TWINCELL_TRAINING_PYTHON="$$(ls $(TRAINING)/bin/python 2>/dev/null)" python -m pytest -m "not long"

test-long: build $(STAMP_LONG) ## the tests that take minutes, and those that need a browser or large packages
	$(RUN) cargo test --release --workspace -- --ignored
	$(RUN) python -m pytest -m long
	$(RUN) python -m pytest tests/kernel/test_libraries.py

screenshots: build $(STAMP_LONG) ## take pictures of every view into target/screenshots, and renew those in docs/images
	$(RUN) python -m tests.widgets.screenshots

demo: build ## run the quickstart notebook, print its verdicts, write quickstart.html
	$(RUN) python notebooks/run_quickstart.py

$(ONNXRUNTIME)/.installed: | $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(@D) "onnxruntime>=1.18"
	@touch $@

bench: build $(ONNXRUNTIME)/.installed ## measure speed, with CHANGES=FILE.jsonl also on the pairs of a file
	@library=$$(find $(ONNXRUNTIME)/onnxruntime/capi -name 'libonnxruntime.so*' -o -name 'libonnxruntime.*dylib' | head -n 1); \
	$(RUN) TWINCELL_PYTHON=$(PYTHON) TWINCELL_ONNXRUNTIME="$$library" CHANGES="$(abspath $(CHANGES))" \
	  cargo bench --quiet -p twincell-values -p twincell-models -p twincell --bench instrument --bench forward --bench pairs \
	  -- --quiet --noplot | { grep -v '^Benchmarking ' || true; }

bench-kernel: build ## measure the kernel against ipykernel, with ratios
	$(RUN) python tests/measure/kernel.py --check

lint: setup ## formatting and warnings of Rust and Python
	$(RUN) cargo fmt --all --check
	$(RUN) cargo clippy --release --workspace --all-targets -- -D warnings
	$(RUN) ruff check
	$(RUN) ruff format --check

clean: ## remove what was built
	rm -rf $(VENV) $(TRAINING) quickstart.html .pytest_cache .ruff_cache kernel/python/twincell/*.so
	cargo clean
