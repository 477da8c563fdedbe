# Newcomers, developers and CI use these commands. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
# Prefer the distribution's Python. Version managers often compile Python without profile-guided optimization, which
# makes it a quarter slower.
PYTHON ?= $(shell for python in /usr/bin/python3 python3; do \
	$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; \
	done || echo python3)
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Containers often set this variable. Each process that starts would then compile the services again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit bench check clean collage-demo conformance cwl-corpus cwl-stand-ins demo docs faults format gpu-check \
	help install lock masstimes-demo masstimes-stack-demo mutation-check ocr ocr-demo ocr-model ocr-stack-demo packs \
	release-check sbom stack stack-bench stack-demo style test test-durations test-long \
	test-packs

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

install: ## Install Sluice, the tools for its development and the pack spd into .venv.
	@scripts/install.sh $(PYTHON)

packs: ## Install all packs into .venv, but not their parts that need torch.
	@scripts/install.sh $(PYTHON) collage masstimes ocr

ocr: install ## Install the pack ocr with pero-ocr and torch into .venv (1.5 GB, minutes).
	@scripts/install.sh $(PYTHON) ocr
	@scripts/install-extra.sh ocr pero

# The last digits of the model's weights depend on the processor.
ocr-model: ocr ## Train the small model of templates/ocr on generated pages (half an hour).
	@scripts/install-fonts.sh
	@nice -n 10 $(BIN)/ocr-train --config templates/ocr/config --out templates/ocr/config/ocr

ocr-demo: ocr ## Process two volumes of scanned pages from start to end (KEEP=1: leave the system running).
	@scripts/install-fonts.sh
	@$(BIN)/python -m ocr.demo --home var/ocr-demo $(if $(KEEP),--keep)

ocr-stack-demo: ocr ## Run ocr-demo on the processes of docker-compose.yml.
	@scripts/install-fonts.sh
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack ocr-demo --folder var/ocr-stack-demo

demo: install ## Process two runs of detector frames from start to end (KEEP=1: leave the system running).
	@$(BIN)/python -m spd.demo --home var/demo $(if $(KEEP),--keep)

collage-demo: install ## Make a picture of 120 photos on unreliable computers (KEEP=1: leave the system running).
	@scripts/install.sh $(PYTHON) collage
	@$(BIN)/python -m collage.demo --home var/collage-demo $(if $(KEEP),--keep)

masstimes-demo: install ## Crawl a small web, label mass times and train a model (KEEP=1: leave the system running).
	@scripts/install.sh $(PYTHON) masstimes
	@scripts/install-extra.sh masstimes train
	@$(BIN)/python -m masstimes.demo --home var/masstimes-demo $(if $(KEEP),--keep)

masstimes-stack-demo: install ## Run masstimes-demo on the processes of docker-compose.yml.
	@scripts/install.sh $(PYTHON) masstimes
	@scripts/install-extra.sh masstimes train
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack masstimes-demo --folder var/masstimes-stack-demo

stack: install ## Run the processes of docker-compose.yml on this machine until Ctrl-C.
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack up --folder var/stack

stack-demo: install ## Run the demonstration on the processes of docker-compose.yml.
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack demo --folder var/stack-demo

stack-bench: install ## Measure the overhead of these processes with 10 000 and a million waiting jobs (five minutes).
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack bench --folder var/stack-bench --jobs 20000 --waiting 10000 1000000

faults: install ## Process two detector runs and 2 000 small files during 66 faults (SEED=1: choose the faults).
	@scripts/install-rabbitmq.sh
	@scripts/install-faketime.sh
	@$(BIN)/python -m tests.faults --seed $(or $(SEED),1)

# These pages are written by hand. `make docs` writes the others.
PAGES = *.md docs/*.md docs/adr docs/explanation docs/how-to docs/tutorial docs/reference/templates.md templates
# Tests are left out, because they contain spelling mistakes on purpose.
SOURCES = *.md Makefile deploy dms docs pilot scripts sluice stack templates wfms wms

# The tests of packs import these packages, which the packs declare.
PACKS_NEED = DEP001=torch,DEP003=lxml|numpy|scrapy|torch|uproot

format: install ## Format the code and the hand-written pages as `make check` requires.
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format --quiet
	@$(BIN)/mdformat $(PAGES)

check: style ## Check style, spelling, types, import contracts, dependencies and limits.
	@$(BIN)/mypy

style: packs
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mdformat --check $(PAGES)
	@$(BIN)/codespell $(SOURCES)
	@$(BIN)/proselint check $(PAGES)
	@$(BIN)/lint-imports
	@$(BIN)/deptry sluice bench wfms dms wms pilot stack
	@for pack in templates/*/; do (cd "$$pack" && deptry .) || exit 1; done
	@$(BIN)/deptry --ignore DEP002,DEP004 --per-rule-ignores "$(PACKS_NEED)" tests templates/*/tests scripts
	@$(BIN)/python scripts/check_limits.py

# Three processes keep two cores busy, because each of them waits a third of its time.
test: check ## Run the checks and all tests except the long ones (25 minutes on two cores).
	@scripts/install-test-needs.sh
	@scripts/in-memory.sh $(BIN)/python -m pytest -n 3 --dist loadgroup -m "not long" $(PYTEST_ARGS)

test-durations: override PYTEST_ARGS += -p tests.durations
test-durations: test ## Run `make test`, and print the seconds of each folder and of the slowest files.

test-packs: packs ## Run the tests of the packs except the long ones (PACK=name: of one pack).
	@scripts/install-fonts.sh
	@scripts/in-memory.sh $(BIN)/python -m pytest -n 3 --dist loadgroup -m "not long" $(PYTEST_ARGS) \
		templates/$(or $(PACK),*)/tests

mutation-check: install ## Check whether fast tests find ten random changes of PACKAGE, a folder (SEED=1; half an hour).
	@$(BIN)/python scripts/mutation_check.py $(PACKAGE) $(if $(SEED),--seed $(SEED))

# Random examples differ in each run. A failure prints an @example for the test, so that `make test` repeats it.
# Twenty times as many examples take more than ten minutes on a slow machine.
# The second call runs the pilot's tests again, with their tools in the sandbox.
test-long: packs ## Run the long tests, more random examples, and the pilot's tests in its sandbox (an hour).
	@scripts/install-test-needs.sh
	@scripts/install-extra.sh ocr pero
	@scripts/install-extra.sh masstimes train
	@scripts/install-schemas.sh
	@status=0; \
	SLUICE_GRAPHS=$(or $(SLUICE_GRAPHS),1000) scripts/in-memory.sh $(BIN)/python -m pytest -n 3 --dist loadgroup \
		-m "long or hypothesis" --hypothesis-profile=long --timeout=3600 $(PYTEST_ARGS) || status=1; \
	SLUICE_TEST_SANDBOX=1 scripts/in-memory.sh $(BIN)/python -m pytest -n 3 --dist loadgroup \
		-m "not long" $(PYTEST_ARGS) tests/unit/pilot || status=1; \
	exit $$status

release-check: install ## Run all checks of a release in a clean clone (SUITES=folder with the CWL suites; three hours).
	@$(BIN)/python scripts/release_check.py "$(SUITES)"

# The variables CONTAINERS and TEMPLATES are explained in scripts/conformance.sh.
conformance: install ## Run the conformance tests of the CWL project (SUITE=folder of its repository; six minutes).
	@scripts/conformance.sh "$(SUITE)"

cwl-corpus: install ## Compare the check of templates with cwltool's for all CWL documents in SUITE, a folder.
	@$(BIN)/python scripts/cwl_corpus.py "$(SUITE)"

cwl-stand-ins: install ## Run workflows in SUITE with placeholder tools, as templates and with cwltool (LIMIT=100).
	@$(BIN)/python -m scripts.stand_ins "$(SUITE)" --limit $(or $(LIMIT),100)

docs: install ## Write the generated parts of docs/.
	@$(BIN)/python scripts/generate_docs.py

gpu-check: packs ## Check the features that need an NVIDIA GPU (exit status 2 without a GPU).
	@$(BIN)/python -m scripts.gpu_check

bench: packs ## Run all benchmarks (ten minutes).
	@$(BIN)/sluice bench all

lock: ## Write the versions of all dependencies into requirements.lock.
	@VIRTUAL_ENV=.venv $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-emit-package sluice \
		--extra dev pyproject.toml templates/*/pyproject.toml \
		--output-file requirements.lock --custom-compile-command "make lock"

sbom: install ## List the components of the images in CycloneDX format (var/sbom/*.cdx.json).
	@mkdir -p var/sbom
	@for part in services pilot; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-emit-index-url --no-annotate \
			--extra $$part --constraint requirements.lock pyproject.toml --output-file var/sbom/$$part.txt && \
		PYTHONWARNINGS=ignore $(BIN)/uv tool run --quiet --from cyclonedx-bom==7.5.0 \
			cyclonedx-py requirements --output-reproducible \
			--pyproject pyproject.toml --output-file var/sbom/$$part.cdx.json var/sbom/$$part.txt || exit 1; \
	done; ls var/sbom/*.cdx.json

audit: install ## List known vulnerabilities of the versions in requirements.lock (needs the Internet).
	@$(BIN)/uv tool run --quiet --from pip-audit==2.9.0 \
		pip-audit --require-hashes --disable-pip --requirement requirements.lock

clean: ## Remove the environment and all generated files.
	rm -rf .venv .venv.lock .venv.removed var .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
