# Every command a developer needs. Needs make and Python 3.11 to 3.13; the rest is installed into .venv.

VENV := .venv
BIN := $(VENV)/bin
JAVA := $(VENV)/java/bin/java
TEST_WORKERS ?= 3

# What is installed for each purpose: the tests need all that a run needs, the checks all that the tests
# need, the site all that the checks need.
FOR_RUN := $(VENV)/.installed-for-run
FOR_TEST := $(VENV)/.installed-for-test
FOR_CHECK := $(VENV)/.installed-for-check
FOR_SITE := $(VENV)/.installed-for-site

# What Spark needs to know: which Java, and which Python its workers run.
RUN := JAVA_HOME="$(CURDIR)/$(VENV)/java" PYSPARK_PYTHON="$(CURDIR)/$(BIN)/python" $(BIN)/

# Commands and tests start many processes: each would compile every module it imports where this is set.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test quick coverage check format bench fuzz-engines fuzz-config chaos studies verify docs site wheel matrix mutate soak advisories pins clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r target what; do printf '%-20s %s\n' "$$target" "$$what"; done

demo: $(FOR_RUN) $(JAVA) ## a study on local Spark: a table of answers and a report
	@$(RUN)endive study experiments/demo.toml --out out/demo

test: $(FOR_TEST) $(JAVA) ## run the tests: unit, properties, golden, integration
	@$(RUN)python -m pytest -q -m "not slow" -n $(TEST_WORKERS) --dist loadfile

quick: $(FOR_TEST) ## the tests for the desk: no Spark, no browser, nothing lengthy: about a minute
	@$(RUN)python -m pytest -q -m "not slow and not spark and not browser and not lengthy" -n $(TEST_WORKERS) --dist loadfile

coverage: $(FOR_CHECK) $(JAVA) ## which lines of src no test runs; the files with most of them first
	@rm -rf out/coverage && mkdir -p out/coverage
	@$(RUN)python -m coverage run -m pytest -q -m "not slow and not browser" -n $(TEST_WORKERS) --dist loadfile
	@$(BIN)/python -m coverage combine -q && $(BIN)/python -m coverage report

check: $(FOR_CHECK) ## lint, formatting, types, direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(FOR_CHECK) ## format the code and sort the imports
	@$(BIN)/ruff check --select I --fix .
	@$(BIN)/ruff format .

bench: $(FOR_TEST) $(JAVA) ## measure speed, side by side, as ratios
	@$(RUN)python -m benchmarks

fuzz-engines: $(FOR_TEST) ## compare the two engines on random configurations
	@$(RUN)python -m verification.fuzz_engines

fuzz-config: $(FOR_TEST) ## read 20,000 mutated files: configurations, studies, tables, folders, questions of the page
	@$(RUN)python -m verification.fuzz_config

chaos: $(FOR_TEST) $(JAVA) ## break 100 sweeps at random, let them go on, and compare
	@$(RUN)python -m verification.chaos

studies: $(FOR_RUN) $(JAVA) ## the six studies of the first documents at full size, into out/studies (half an hour on two cores)
	@for study in experiments/original/exp_*.toml; do $(RUN)endive study $$study --out out/studies/$$(basename $$study .toml) --detail runs || exit 1; done

verify: $(FOR_TEST) $(JAVA) ## slow checks against closed forms and measurements
	@$(RUN)python -m verification

docs: $(FOR_TEST) $(JAVA) ## run the commands of every page and write what they print (long studies: from a cache)
	@$(RUN)python -m tools.make_docs $(PAGES)

site: $(FOR_SITE) ## build the documentation site, strictly: out/site/index.html
	@$(BIN)/python -m tools.build_site out/site

wheel: $(FOR_RUN) $(JAVA) ## build the wheel, install it apart, and run, sweep and report without the checkout
	@$(RUN)python tools/try_wheel.py

matrix: $(FOR_RUN) ## install the wheel on every supported Python there is, at newest and lowest versions, and run
	@$(BIN)/python -m tools.try_matrix

mutate: $(FOR_TEST) $(JAVA) ## plant every listed mistake and see that a test notices (an hour)
	@$(RUN)python -m tools.mutate

soak: $(FOR_TEST) $(JAVA) ## an hour of everything that breaks things; what it found is appended to docs/validation/soak.md
	@$(RUN)python -m verification.soak

advisories: $(FOR_CHECK) ## hold the pinned versions against published advisories, without a network
	@$(BIN)/python -m tools.check_advisories

clean: ## remove .venv and every cache; results stay
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

pins: $(FOR_RUN) ## write the pinned versions anew, from the ranges in pyproject.toml and requirements/*.in
	@tools/renew_pins.sh $(PINS)

$(FOR_RUN): pyproject.toml requirements/engine.txt requirements/run.txt tools/create_venv.sh
	@PYTHON="$(PYTHON)" tools/create_venv.sh $(VENV) run
	@touch $@

$(FOR_TEST): $(FOR_RUN) requirements/test.txt
	@tools/create_venv.sh $(VENV) test
	@touch $@

$(FOR_CHECK): $(FOR_TEST) requirements/check.txt
	@tools/create_venv.sh $(VENV) check
	@touch $@

$(FOR_SITE): $(FOR_CHECK) requirements/site.txt
	@tools/create_venv.sh $(VENV) site
	@touch $@

# The set-up has found a Java; this is for one that has gone since. No dependency on the stamp's age: the machine's own
# java, to which this may be a link, is older.
$(JAVA): | $(FOR_RUN)
	@$(BIN)/python tools/provide_java.py
