# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0

SHELL := /bin/sh
# Everything but the set-up itself runs inside the environment.
IN_ENV := . ./env.sh &&
# Two processes, each of which takes a file after the other: much of the time a test waits for a robot.
# One that a hanging test ends is not replaced: its file would hang the next one, too.
PARALLEL := -n 2 --dist loadfile --max-worker-restart 0

.PHONY: help setup demo test test-jazzy test-long lint format bench screenshots lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup: ## make the environment (.venv, ROS 2, built interfaces); nothing to do the second time
	@sh scripts/setup.sh

demo: setup ## run a closed-loop mission on the simulated robot
	@$(IN_ENV) robot-agent-harness demo

test: setup ## run the whole test suite (ARGS='-k name' to choose, '-n 0' in one process)
	@$(IN_ENV) pytest $(PARALLEL) $(ARGS)

test-jazzy: ## run it on ROS 2 Jazzy, in an environment of its own (.venv-jazzy, .ros-jazzy)
	@ROS_WHEELS=jazzy sh scripts/setup.sh
	@export ROS_WHEELS=jazzy; $(IN_ENV) pytest $(PARALLEL) $(ARGS)

test-long: setup ## the same with the long runs
	@$(IN_ENV) pytest --long $(PARALLEL) $(ARGS)

lint: setup ## style, formatting, types and the direction of dependencies
	@$(IN_ENV) ruff check . && ruff format --check . && mypy && lint-imports --no-logo

format: setup ## put the code into the house's format
	@$(IN_ENV) ruff check --fix . ; ruff format .

bench: setup ## benchmarks as a table of ratios
	@$(IN_ENV) python bench/run.py $(ARGS)

screenshots: setup ## make the pictures in docs/images anew (needs chromium)
	@$(IN_ENV) python scripts/screenshots.py

lock: setup ## pin the newest allowed versions of all dependencies anew
	@$(IN_ENV) sh scripts/lock.sh

clean: ## remove everything that make targets made
	rm -rf .venv .venv-jazzy .ros .ros-jazzy .set_up.lock build install log demo_output
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
