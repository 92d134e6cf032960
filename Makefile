# Every command a developer needs. Needs make and Python 3.11 to 3.13; the rest is installed into .venv.

VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages-installed
JAVA := $(VENV)/java/bin/java
TEST_WORKERS ?= 2

# What Spark needs to know: which Java, and which Python its workers run.
RUN := JAVA_HOME="$(CURDIR)/$(VENV)/java" PYSPARK_PYTHON="$(CURDIR)/$(BIN)/python" $(BIN)/

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench fuzz-engines verify clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r target what; do printf '%-20s %s\n' "$$target" "$$what"; done

demo: $(PACKAGES) $(JAVA) ## sweep a study on local Spark, analyse it, draw it, and answer in five lines
	@$(RUN)endive sweep experiments/demo.toml --out out/demo
	@$(RUN)endive analyze out/demo > /dev/null
	@$(RUN)endive report out/demo

test: $(PACKAGES) $(JAVA) ## run the tests: unit, properties, golden, integration
	@$(RUN)python -m pytest -q -m "not slow" -n $(TEST_WORKERS) --dist loadfile

check: $(PACKAGES) ## lint, formatting, types, direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(PACKAGES) ## format the code and sort the imports
	@$(BIN)/ruff check --select I --fix .
	@$(BIN)/ruff format .

bench: $(PACKAGES) $(JAVA) ## measure speed, side by side, as ratios
	@$(RUN)python -m benchmarks

fuzz-engines: $(PACKAGES) ## compare the two engines on random configurations
	@$(RUN)python -m verification.fuzz_engines

verify: $(PACKAGES) $(JAVA) ## slow checks against closed forms and measurements
	@$(RUN)python -m verification

clean: ## remove .venv and every cache; results stay
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PACKAGES): pyproject.toml requirements/dev.txt tools/create_venv.sh
	@PYTHON="$(PYTHON)" tools/create_venv.sh $(VENV)
	@touch $@

# No dependency on the stamp's age: the machine's own java, to which this may be a link, is older.
$(JAVA): | $(PACKAGES)
	@$(BIN)/python tools/provide_java.py
