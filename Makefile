# What can be done here: `make help`.

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup demo lib check docs test torture bench clean

# Tests and demo need the sandbox. The same trait everywhere, so that nothing is built twice.
swift-build := swift build --traits Sandbox
programs := .build/debug/enrolld .build/debug/enroll-sandbox
sources := Package.swift $(shell find Sources include -type f)

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 8

setup: ## install what building needs
	@.ci/setup

demo: setup $(programs) ## sign in against a local provider, renew, sign out (AUTO=1: plays the user)
	@python3 Examples/demo.py $(if $(AUTO),--auto)

# Asking the build system takes seconds; looking at dates does not.
$(programs): $(sources)
	@$(swift-build) --product $(@F)
	@touch $@

lib: setup ## build the C library in both flavours, and the daemon, into build/
	.ci/build-library small
	.ci/build-library standard

check: setup ## everything a reviewer would check without running the tests
	@.ci/check

docs: setup ## build the Swift documentation into build/docs; broken links and gaps fail it
	.ci/docs

test: ## run all tests (QUICK=1: without the real providers and the browser)
	@.ci/setup
	@QUICK=$(QUICK) .ci/test

torture: lib ## run the long forms of the tests: faults, kills, hostile input, for about an hour
	@.ci/torture

bench: lib ## measure, beside what others do
	.ci/bench

clean: ## remove everything that was built
	rm -rf .build build
