# Two commands matter to a newcomer: `make run` and `make test`.  Both need Python 3.11 or newer and git, nothing else:
# everything is installed into .venv from requirement files whose hashes are checked.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Tests start hundreds of processes, and each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run demo test test-exhaustive test-postgres check lint types contracts migrations audit docs wheel upgrade fmt lock vendor bench accuracy verdicts fuzz faults parity mutants clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

# The stamps make setup a no-op while Python and the pinned requirements stay as they are.
$(VENV)/.base: requirements/base.txt scripts/venv.sh
	@sh scripts/venv.sh $(VENV)
	@echo "Installing what ctxweb needs into $(VENV) …"
	@$(PIP) install --require-hashes -r requirements/base.txt
	@touch $@

$(VENV)/.app: $(VENV)/.base pyproject.toml CHANGELOG.md
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.app requirements/dev.txt
	@if ! cmp -s requirements/dev.txt $(VENV)/dev.txt; then \
		echo "Installing what the tests need into $(VENV) …"; \
		$(PIP) install --require-hashes -r requirements/dev.txt && cp requirements/dev.txt $(VENV)/dev.txt; \
	fi
	@touch $@

setup: $(VENV)/.dev ## Install everything into .venv

run: $(VENV)/.app ## Serve the dashboard with its worker
	@exec $(BIN)/ctxweb serve $(ARGS)

demo: $(VENV)/.app ## The same, with the demo session
	@exec $(BIN)/ctxweb serve --demo $(ARGS)

# Tests run on every core, a file at a time.  Where ARGS names files they run at once, without the seconds that starting
# the other processes takes.
CORES = $(if $(findstring .py,$(ARGS)),,-n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder)

# What these ask is what a page makes of one session that was read whole, whichever database it came from; that each
# page answers on PostgreSQL too is asked by the other files.
ONE_SESSION = addresses as_recorded bodies causes_after charts diff_lists figures_walk layers one_figure packing \
	plain_words quality_page recommended replay_losses replay_pages replay_steps sweep_charts templatetags \
	transcript_page why_page

# What takes long is marked exhaustive and has a target of its own.  Where ARGS names a place, all of it is run.
QUICK = $(if $(findstring tests/,$(ARGS)),,-m "not exhaustive")

test: $(VENV)/.dev ## Run the tests (ARGS="-k name" or ARGS="tests/engine/test_replay.py" for some of them)
	@$(BIN)/python -m pytest $(CORES) $(QUICK) $(ARGS)

test-exhaustive: $(VENV)/.dev ## Run the long tests, which make test leaves out
	@$(BIN)/python -m pytest $(CORES) -m exhaustive $(ARGS)

test-postgres: $(VENV)/.dev ## Run the web and services tests on PostgreSQL (CTXWEB_TEST_DATABASE_URL)
	@CTXWEB_TEST_DATABASE_URL="$${CTXWEB_TEST_DATABASE_URL:-postgres://postgres@127.0.0.1:5432/postgres}" \
		$(BIN)/python -m pytest tests/web tests/services $(ONE_SESSION:%=--ignore=tests/web/test_%.py) $(CORES) $(QUICK) $(ARGS)

check: lint types contracts migrations ## Lint, types, import contracts, missing migrations

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev
	@$(BIN)/mypy

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports

migrations: $(VENV)/.dev
	@DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python manage.py makemigrations --check --dry-run

audit: $(VENV)/.dev ## Ask public advisories about every pinned package
	@$(BIN)/python scripts/audit.py $(ARGS)

docs: $(VENV)/.dev ## Build the documentation site into build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheel: docs ## Build the wheel and try it in a fresh environment
	@sh scripts/try_wheel.sh $(BIN)/python

fmt: $(VENV)/.dev ## Format, and fix what can be fixed
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: ## Pin the requirements again (needs uv)
	uv pip compile pyproject.toml --group build $(LOCK) -o requirements/base.txt
	uv pip compile pyproject.toml --group build --group dev --extra fast --extra mcp --extra postgres --extra redis \
		-c requirements/base.txt $(LOCK) -o requirements/dev.txt
	uv pip compile pyproject.toml --group build --extra fast --extra mcp -c requirements/dev.txt $(LOCK) -o requirements/mcp.txt
	uv pip compile pyproject.toml --group build --extra fast --extra postgres --extra redis -c requirements/dev.txt $(LOCK) \
		-o requirements/server.txt

LOCK = --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet \
	--custom-compile-command "make lock" $(ARGS)

upgrade: $(VENV)/.dev ## Restore an earlier version's backup: are the figures the same?
	@$(BIN)/python scripts/upgrade.py $(ARGS)

parity: $(VENV)/.dev ## Compare policies with the originals' own code (installs those apart)
	@$(BIN)/python -m tests.parity $(ARGS)

mutants: $(VENV)/.dev ## Change policies and estimators in one place at a time: do the tests see it? (an hour)
	@nice -n 10 $(BIN)/python -m tests.mutants $(or $(ARGS),--out docs/benchmarks/mutants.md)

vendor: $(VENV)/.dev ## Fetch third-party browser files again (needs npm)
	@$(PIP) install "fonttools[woff]"
	@$(BIN)/python scripts/vendor.py

fuzz: $(VENV)/.dev ## Read a million damaged files (ARGS="--inputs 10000" for fewer)
	@$(BIN)/python -m tests.fuzz $(or $(ARGS),--out docs/benchmarks/fuzz.md)

bench: $(VENV)/.dev ## Time and memory on large generated files
	@$(BIN)/python -m tests.bench $(ARGS)

accuracy: $(VENV)/.dev ## Hold estimates against what providers measured, on samples and corpus
	@$(BIN)/python -m tests.bench accuracy $(ARGS)

verdicts: $(VENV)/.dev ## Hold the first line about rebuilt public reports against what they show
	@$(BIN)/python -m tests.why_cases $(or $(ARGS),--out docs/benchmarks/verdicts.md)

faults: $(VENV)/.dev ## Kill, stop and load real processes; writes docs/reliability.md (half an hour)
	@$(BIN)/python -m tests.faults $(ARGS)

clean: ## Remove what the targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
