# Two commands: `make demo` and `make test`. Each sets up what it needs in .venv and nothing outside it,
# but for the model, which goes to your user data directory.

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
DEMO ?= ring_buffer
PYTEST_WORKERS ?= 4
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: attack consumers demo test live check bench servers screenshots clean

demo: $(VENV)/.app
	$(BIN)/cra models pull
ifdef HEADLESS
	$(BIN)/cra demo $(DEMO) --headless
else
	$(BIN)/cra demo $(DEMO)
endif

# Bytecode is kept: without it every worker, and every program that a test starts, compiles all of it again.
test: $(VENV)/.dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -m "not live" -n $(PYTEST_WORKERS) --dist worksteal

live: $(VENV)/.dev
	$(BIN)/cra models pull
	timeout 900 $(BIN)/pytest tests/live -m live --timeout 870

attack: $(VENV)/.dev
	$(BIN)/python -m tests.attacks.long

consumers: $(VENV)/.consumers
	$(VENV)-consumers/bin/python -m pytest tests/consumers -rs --timeout 900

check: $(VENV)/.dev
	$(BIN)/ruff check agent screens tui tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

servers: $(VENV)/.dev
	$(BIN)/cra models pull
	$(BIN)/python -m benchmarks.servers

screenshots: $(VENV)/.dev
	$(BIN)/python -m benchmarks.screenshots docs/screenshots

clean:
	rm -rf $(VENV) $(VENV)-consumers .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; found $$("$(PYTHON)" --version 2>&1). Name one with make PYTHON=…"; exit 3; }
	@"$(PYTHON)" -m venv $(VENV) \
	  || { echo "The virtual environment could not be made. On Debian and Ubuntu: apt install python3-venv"; exit 3; }

$(VENV)/.app: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[embedded,web]'
	@touch $@

# The trainers want versions of their own, and much room: they never come near the application's environment.
$(VENV)/.consumers: $(BIN)/python pyproject.toml constraints.txt tests/consumers/requirements.txt tests/consumers/readers.txt
	@$(BIN)/python -m venv $(VENV)-consumers
	$(VENV)-consumers/bin/python -m pip --disable-pip-version-check --quiet install -e '.[dev]' -r tests/consumers/requirements.txt
	$(VENV)-consumers/bin/python -m pip --disable-pip-version-check --quiet install --no-deps -r tests/consumers/readers.txt
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[dev,embedded,web]'
	@touch $@ $(VENV)/.app
