# What can be done here: `make help`.

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup demo lib install uninstall check docs test torture bench clean

# Tests and demo need the sandbox. The same trait everywhere, so that nothing is built twice.
swift-build := swift build --traits Sandbox
programs := .build/debug/enrolld .build/debug/enroll-sandbox
sources := Package.swift $(shell find Sources include -type f)

# What `make lib` builds, and what the C library and the daemon are made of.
libraries := build/small/libenroll.so.0 build/standard/libenroll.so.0
embedded := $(shell find Sources -name 'EnrollKit' -prune -o -name '*Sandbox' -prune -o -name '*sandbox' -prune \
  -o -name EnrollTesting -prune -o -name enroll -prune -o -print)
pages := build/man/man3/libenroll.3
command := build/bin/enroll

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 11

# What a goal needs, from its building to its end, is asked for before its first step: lines of .ci/packages.
lib: packages := lib
test: packages := $(if $(QUICK),quick,test)
torture: packages := torture

setup: ## install what building needs
	@.ci/setup $(packages)

demo: setup $(programs) ## sign in against a local provider, renew, sign out (AUTO=1: plays the user)
	@python3 Examples/demo.py $(if $(AUTO),--auto)

# Asking the build system takes seconds; looking at dates does not.
$(programs): $(sources)
	@$(swift-build) --product $(@F)
	@touch $@

lib: setup $(libraries) $(command) $(pages) ## build the C library in both flavours, the programs and the man pages, into build/

# Folders are sources as well: they change when a file goes away.
$(libraries): build/%/libenroll.so.0: Package.swift .ci/build-library include/enroll.h $(embedded)
	@.ci/setup lib
	.ci/build-library $*
	@touch $@

# After the library: both are built in one place.
$(command): Package.swift .ci/build-command $(embedded) $(shell find Sources/enroll) | build/standard/libenroll.so.0
	@.ci/setup lib
	.ci/build-command
	@touch $@

# What is built is installed without Swift: `make lib && sudo make install`.
install: $(libraries) $(command) $(pages) ## install library, header, programs and man pages (PREFIX, DESTDIR, FLAVOUR=standard)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' FLAVOUR='$(FLAVOUR)' .ci/install install

uninstall: ## take away what `make install` put there
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' FLAVOUR='$(FLAVOUR)' .ci/install uninstall

$(pages): $(libraries) .ci/man-pages .ci/header.py include/enroll.h docs/json-rpc.md docs/configuration.md docs/enroll.md Examples/sign_in.c
	@.ci/setup lib
	@rm -rf build/man
	.ci/man-pages build/small/enrolld build/man

check: setup ## everything a reviewer would check without running the tests
	@.ci/check

docs: setup ## build the Swift documentation into build/docs; broken links and gaps fail it
	.ci/docs

test: setup ## run all tests (QUICK=1: without the real providers and the browser)
	@QUICK=$(QUICK) .ci/test

torture: setup lib ## run the long forms of the tests: faults, kills, hostile input, for about an hour
	@.ci/torture

bench: lib ## measure, beside what others do
	.ci/bench

clean: ## remove everything that was built
	rm -rf .build build
