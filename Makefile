# Everything a newcomer, a developer and CI call. `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
# The distribution's own Python where it serves: one that a version manager compiled is often built without profile-guided
# optimization, and then Python code takes a quarter longer.
PYTHON ?= $(shell for python in /usr/bin/python3 python3; do \
	$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; \
	done || echo python3)
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Containers often set it; every process that starts would compile the services anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: gpu-check help style format install ocr ocr-model ocr-demo ocr-stack-demo conformance demo masstimes-demo masstimes-stack-demo stack stack-demo stack-bench faults test test-long check lock sbom audit clean docs bench

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: ## everything into .venv
	@scripts/install.sh $(PYTHON)

ocr: install ## the programs of templates/ocr with pero-ocr and torch into .venv (1.5 GB; minutes)
	@scripts/install-extra.sh ocr

ocr-model: ocr ## the small model of templates/ocr anew, from generated pages (half an hour; other processors, other last digits)
	@scripts/install-fonts.sh
	@nice -n 10 $(BIN)/ocr-train --config templates/ocr/config --out templates/ocr/config/ocr

ocr-demo: ocr ## two volumes of scanned pages through the system, start to end (KEEP=1 leaves it up)
	@scripts/install-fonts.sh
	@$(BIN)/python -m ocr.demo --home var/ocr-demo $(if $(KEEP),--keep)

ocr-stack-demo: ocr ## the same on the processes of docker-compose.yml
	@scripts/install-fonts.sh
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack ocr-demo --folder var/ocr-stack-demo

demo: install ## two runs of detector frames through the system, start to end (KEEP=1 leaves it up)
	@$(BIN)/python -m spd.demo --home var/demo $(if $(KEEP),--keep)

collage-demo: install ## a picture of 120 photos by old computers that die, lie and never deliver (KEEP=1 leaves it up)
	@$(BIN)/python -m collage.demo --home var/collage-demo $(if $(KEEP),--keep)

masstimes-demo: install ## a small web is crawled, people say what masses are, a model learns it (KEEP=1 leaves it up)
	@scripts/install-extra.sh masstimes-train
	@$(BIN)/python -m masstimes.demo --home var/masstimes-demo $(if $(KEEP),--keep)

masstimes-stack-demo: install ## the same on the processes of docker-compose.yml
	@scripts/install-extra.sh masstimes-train
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack masstimes-demo --folder var/masstimes-stack-demo

stack: install ## the processes of docker-compose.yml on this machine, until Ctrl-C
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack up --folder var/stack

stack-demo: install ## the demonstration on such a stack
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack demo --folder var/stack-demo

stack-bench: install ## what bookkeeping costs on such a stack, with 10 000 and with a million jobs waiting (five minutes)
	@scripts/install-rabbitmq.sh
	@$(BIN)/python -m stack bench --folder var/stack-bench --jobs 20000 --waiting 10000 1000000

faults: install ## two detector runs and 2 000 small files while 66 faults happen (SEED=1; the same seed, the same faults)
	@scripts/install-rabbitmq.sh
	@scripts/install-faketime.sh
	@$(BIN)/python -m tests.faults --seed $(or $(SEED),1)

# Written by hand; what `make docs` writes is left as it comes.
PAGES = *.md docs/*.md docs/adr docs/explanation docs/how-to docs/tutorial docs/reference/templates.md templates

format: install ## code and hand-written pages, as `make check` wants them
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format --quiet
	@$(BIN)/mdformat $(PAGES)

check: style ## style, types, import contracts, dependencies, limits
	@$(BIN)/mypy

style: install
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mdformat --check $(PAGES)
	@$(BIN)/lint-imports
	@$(BIN)/deptry sluice wfms dms wms pilot templates stack
	@$(BIN)/deptry --ignore DEP002,DEP004 tests scripts
	@$(BIN)/python scripts/check_limits.py

# Three processes for two cores: they wait a third of their time.
test: check ## checks, and all tests on real PostgreSQL and RabbitMQ but the long ones (twenty minutes on two cores)
	@scripts/install-test-needs.sh
	@scripts/in-memory.sh $(BIN)/python -m pytest -n 3 --dist loadgroup -m "not long" $(PYTEST_ARGS)

# What is random draws others each time; failures print what to put above the test as @example, so that `make test` has it from then on.
# The tools of the pilot's tests run in the open; in the second call they run in the sandbox.
test-long: install ## the long tests, those with random examples on twenty times as many, the pilot's in its sandbox (SLUICE_GRAPHS=1000; an hour)
	@scripts/install-test-needs.sh
	@scripts/install-extra.sh ocr
	@scripts/install-extra.sh masstimes-train
	@scripts/install-schemas.sh
	@SLUICE_GRAPHS=$(or $(SLUICE_GRAPHS),1000) scripts/in-memory.sh $(BIN)/python -m pytest -n 2 --dist loadgroup \
		-m "long or hypothesis" --hypothesis-profile=long $(PYTEST_ARGS)
	@SLUICE_TEST_SANDBOX=1 scripts/in-memory.sh $(BIN)/python -m pytest -n 2 --dist loadgroup \
		-m "not long" $(PYTEST_ARGS) tests/unit/pilot

conformance: install ## the CWL project's own tests (SUITE=folder of a repository of theirs; CONTAINERS=none or local; six minutes)
	@scripts/conformance.sh "$(SUITE)"

docs: install ## the generated parts of docs/
	@$(BIN)/python scripts/generate_docs.py

gpu-check: install ## what only a machine with an NVIDIA GPU can show; exit 2 where there is none
	@$(BIN)/python -m scripts.gpu_check

bench: install ## all benchmarks (ten minutes)
	@$(BIN)/sluice bench all

lock: ## new versions of all dependencies into requirements.lock
	@VIRTUAL_ENV=.venv $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--extra dev pyproject.toml --output-file requirements.lock --custom-compile-command "make lock"

sbom: install ## what the images are made of, as CycloneDX: var/sbom/services.cdx.json, pilot.cdx.json
	@mkdir -p var/sbom
	@for part in services pilot; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
			--extra $$part --constraint requirements.lock pyproject.toml --output-file var/sbom/$$part.txt && \
		PYTHONWARNINGS=ignore $(BIN)/uv tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py requirements --output-reproducible \
			--pyproject pyproject.toml --output-file var/sbom/$$part.cdx.json var/sbom/$$part.txt || exit 1; \
	done; ls var/sbom/*.cdx.json

audit: install ## known vulnerabilities of what requirements.lock fixes (asks a database on the Internet)
	@$(BIN)/uv tool run --quiet --from pip-audit==2.9.0 pip-audit --require-hashes --disable-pip --requirement requirements.lock

clean: ## what was generated
	rm -rf .venv .venv.lock .venv.removed var .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
