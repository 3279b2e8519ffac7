# `make help` lists the targets.

SHELL := bash
.DEFAULT_GOAL := help
# If a step fails, the file that it was writing is deleted, so that it is not used as a result.
.DELETE_ON_ERROR:
.PHONY: help setup demo demo-gateway lib install uninstall dist release others generate check docs site pictures test torture \
  bench bench-gateway bench-mcp clean

swift-build := swift build
programs := .build/debug/enrolld .build/debug/enroll-sandbox
sources := Package.swift $(shell find Sources include -type f)

# The files that ship. scripts/build explains the options TARGET (`make lib TARGET=aarch64-linux-gnu`), OPENSSL=static
# and HTTP=host, and where such a build goes. With an option, no man pages are made.
export TARGET OPENSSL HTTP
options := $(TARGET)$(OPENSSL)$(HTTP)
lib := build/$(if $(TARGET),$(TARGET)/)lib$(if $(OPENSSL),-openssl)$(if $(HTTP),-hosthttp)
products := $(addprefix $(lib)/,libenroll.so.0 enrolld $(if $(HTTP)$(findstring android,$(TARGET)),,enroll))
pages := $(if $(options),,build/man/man3/libenroll.3)
shipped := $(shell find Sources -iname '*gateway*' -prune -o -iname '*sandbox' -prune -o -name EnrollKit -prune \
  -o -name EnrollFoundation -prune -o -name EnrollTesting -prune -o -name EnrollHTTP -prune -o -print)

# `make install` installs only the plain build. With an option it fails here, before anything is built.
ifneq ($(and $(options),$(filter install,$(MAKECMDGOALS))),)
$(error make install installs the plain build; TARGET, OPENSSL and HTTP are for make lib. Leave them out, or take the files from $(lib))
endif

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

# The Debian packages that a target needs in all of its steps (lines of scripts/packages). They are checked before the
# first step.
lib: packages := lib
test: packages := $(if $(QUICK),quick,test)
torture: packages := torture
bench: packages := bench
dist release: packages := dist header

setup: ## install what building needs
	@scripts/setup $(packages)

demo: setup $(programs) ## sign in against a local provider, renew, sign out (AUTO=1: plays the user)
	@python3 Examples/demo.py $(if $(AUTO),--auto)

# The second provider, Canaille, is a real provider, which runs in its own Python virtual environment.
demo-gateway: packages := lib canaille
demo-gateway: setup $(programs) .build/debug/enroll-gateway $(products) ## one account, two providers, two apps, through a gateway (AUTO=1: plays the user)
	@Tests/system/ProviderTests/setup canaille
	@.build/providers/venv/bin/python -B Examples/demo_gateway.py $(if $(AUTO),--auto)

# make compares the dates of the files first, because even a SwiftPM build without changes takes seconds.
$(programs) .build/debug/enroll-gateway: $(sources)
	@$(swift-build) --product $(@F)
	@touch $@

lib: setup $(products) $(pages) ## build the C library, the daemon, the command and the man pages, into build/ (TARGET: for another platform)

# Folders count as sources, too: the date of a folder changes when a file in it is removed.
$(products) &: Package.swift scripts/build include/enroll.h $(shipped)
	@scripts/setup lib
	scripts/build
	@touch $(products)

# Once everything is built, the installation needs no Swift: `make lib && sudo make install`.
install: $(products) $(pages) ## install library, header, programs and man pages (PREFIX, DESTDIR)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' scripts/install install

uninstall: ## take away what `make install` put there
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' scripts/install uninstall

dist: setup $(products) $(pages) others ## make the packages and archives of a release, of every target that is built, in build/dist
	@scripts/dist

release: setup $(products) $(pages) others ## check a release, make its artefacts and say what to push where (VERSION=x.y.z)
	@scripts/release $(VERSION)

# Brings the existing builds for other platforms up to date, and this machine's own build.
others: $(products)
	@scripts/targets 2>/dev/null | while read -r target folder; do \
	  [ "$$folder" = build ] || $(MAKE) --no-print-directory lib TARGET="$$target" </dev/null || exit; done

build/man/man3/libenroll.3: build/lib/enrolld scripts/man-pages scripts/header.py include/enroll.h docs/json-rpc.md docs/configuration.md docs/enroll.md Examples/sign_in.c
	@scripts/setup lib
	@rm -rf build/man
	scripts/man-pages build/lib/enrolld build/man

generate: .build/debug/enrolld ## write every file that is generated from the command surface (CHECK=1: only compare)
	@scripts/generate $(if $(CHECK),--check)

check: setup ## everything a reviewer would check without running the tests
	@scripts/check

docs: setup ## build the Swift documentation into build/docs; broken links and gaps fail it
	scripts/docs

site: ## build the documentation as a site into build/site, with the Swift API if `make docs` has been; broken links fail it
	@SWIFT=$(wildcard build/docs) scripts/site/build
	@echo "build/site/index.html: open it, or python3 -m http.server --directory build/site"

pictures: .build/debug/enroll-sandbox ## draw the pictures of the documentation and record the terminal's anew, into docs/pictures
	@$(swift-build) --product enroll
	@scripts/site/pictures.py
	@scripts/record-terminal

test: setup ## run all tests (QUICK=1: without the real providers and the browser)
	@QUICK=$(QUICK) scripts/test

torture: setup lib ## run the long forms of the tests: faults, kills, hostile input, other platforms, sanitizers
	@scripts/torture

bench: setup lib .build/debug/enroll-sandbox ## measure, beside what others do (BEFORE=FOLDER: compare with an earlier build; RECORD=VERSION: keep the figures)
	@scripts/bench $(if $(BEFORE),--before '$(BEFORE)') $(if $(RECORD),--record $(RECORD))

bench-gateway: setup ## measure the gateway beside Starlette with Authlib (TURNS=N)
	@scripts/bench-gateway

bench-mcp: lib ## measure the MCP bridge beside mcp-remote, mcp-stdio and mcp-proxy (OPTIONS: of scripts/bench-mcp)
	@scripts/bench-mcp $(OPTIONS)

clean: ## remove everything that was built
	rm -rf .build build
