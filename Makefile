# SPDX-License-Identifier: Apache-2.0
# The doors to the build. Meson does the work; each variant has its own folder
# under build/. On a machine with nothing prepared: make demo, make test.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
FUZZ_CLI_SECONDS ?= 120
JOBS ?= $(shell nproc)
MESON = PKG_CONFIG_PATH= meson
NINJA = ninja -j $(JOBS)

CLANG ?= $(shell command -v clang-14 || echo clang)
SANITIZE_ENV = ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=99 TSAN_OPTIONS=exitcode=99

.PHONY: all release dev demo test nightly nightly-sample check asan tsan fuzz fuzz-cli golden-update lint man format bench static \
	install uninstall clean dist deb deps dev-deps build-asan build-tsan build-afl tests

all: release

# A folder is set up once; meson itself notices later changes of its files.
build/release/build.ninja:
	$(MESON) setup build/release --buildtype=release -Doptimization=2 -Dtests=false >/dev/null
build/dev/build.ninja:
	$(MESON) setup build/dev --buildtype=debugoptimized -Doptimization=1 --werror >/dev/null
build/asan/build.ninja:
	CC=$(CLANG) $(MESON) setup build/asan -Ddebug=true -Doptimization=1 --werror \
		-Db_sanitize=address,undefined -Db_lundef=false >/dev/null
build/tsan/build.ninja:
	CC=$(CLANG) $(MESON) setup build/tsan -Ddebug=true -Doptimization=1 --werror \
		-Db_sanitize=thread -Db_lundef=false >/dev/null
build/fuzz/build.ninja:
	CC=$(CLANG) $(MESON) setup build/fuzz -Ddebug=true -Doptimization=1 --werror \
		-Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true >/dev/null
# The AFL++ of Debian 12 crashes clang with its own instrumentation; LLVM's serves it as well.
build/afl/build.ninja:
	AFL_QUIET=1 CC=afl-clang-fast $(MESON) setup build/afl -Ddebug=true -Doptimization=2 \
		-Db_sanitize=address,undefined -Db_lundef=false -Dtests=false -Dafl=true >/dev/null

release: build/release/build.ninja
	@$(NINJA) -C build/release --quiet
	@if [ -e build/release/src/assay ]; then ln -sfn release/src/assay build/assay; fi

dev: build/dev/build.ninja
	@$(NINJA) -C build/dev --quiet

build-asan: build/asan/build.ninja
	@$(NINJA) -C build/asan --quiet

build-tsan: build/tsan/build.ninja
	@$(NINJA) -C build/tsan --quiet

build-afl: build/afl/build.ninja
	@AFL_QUIET=1 AFL_LLVM_INSTRUMENT=LLVM-NATIVE $(NINJA) -C build/afl --quiet

static: release
	@$(NINJA) -C build/release --quiet src/assay-static
	@strip -o build/assay-static build/release/src/assay-static
	@ls -l build/assay-static

# What a machine needs to build and run, and what the tests and linters need too.
deps:
	@tools/install-deps
dev-deps:
	@tools/install-deps --dev
	@tools/foreign-readers

# Fast, no rights needed: run before every commit.
check: dev
	@tools/check-layers
	@tools/man-pages --check build/dev/src/assay
	@tests/run --build build/dev unit fuzz golden

# Every test, on a machine with nothing prepared.
test: dev-deps
	@$(MAKE) --no-print-directory tests

# All of it runs, also behind a failure; the sum decides.
tests: release static dev build-asan
	@tools/check-layers
	@tools/man-pages --check build/dev/src/assay
	@rm -f build/tally build/tests-failed
	@tests/run --build build/dev --tally build/tally unit fuzz golden || touch build/tests-failed
	@$(SANITIZE_ENV) tests/run --build build/asan --tally build/tally --label asan unit fuzz golden \
		|| touch build/tests-failed
	@tests/run --build build/release --tally build/tally --require-assay e2e \
		|| touch build/tests-failed
	@tests/run --sum build/tally && [ ! -e build/tests-failed ]

# What takes minutes or hours too; the sample takes seconds of each part.
nightly: dev-deps
	@$(MAKE) --no-print-directory tests || touch build/tests-failed
	@tests/run --build build/release --tally build/tally --require-assay nightly \
		|| touch build/tests-failed
	@tools/lint || touch build/tests-failed
	@tests/run --sum build/tally && [ ! -e build/tests-failed ]

nightly-sample: release dev
	@NIGHTLY_SAMPLE=1 tests/run --build build/release --tally build/tally --label sample \
		--require-assay nightly

asan: build-asan
	@$(SANITIZE_ENV) tests/run --build build/asan --label asan unit fuzz golden e2e

tsan: build-tsan
	@$(SANITIZE_ENV) tests/run --build build/tsan --label tsan --leave-out tests/tsan-left-out \
		unit golden e2e

# The tests that need no real processor, for aarch64, under emulation.
build/aarch64/build.ninja:
	$(MESON) setup build/aarch64 --cross-file tools/cross/aarch64-linux-gnu.ini \
		--buildtype=debugoptimized --werror >/dev/null
aarch64: dev build/aarch64/build.ninja
	@$(NINJA) -C build/aarch64 --quiet
	@tests/run --build build/aarch64 --label aarch64 --runner qemu-aarch64 \
		--leave-out tests/aarch64-left-out unit fuzz golden

# FUZZ_SECONDS for each reader, or FUZZ=reader for one.
fuzz: build/fuzz/build.ninja
	@$(NINJA) -C build/fuzz --quiet
	@tests/fuzz/run build/fuzz $(FUZZ_SECONDS) $(FUZZ)

# FUZZ_CLI_SECONDS for each view and export of the command line, or FUZZ=target for one.
fuzz-cli: dev
	@$(MAKE) --no-print-directory build-afl
	@tests/fuzz/cli/fuzz_cli.py run build/afl $(FUZZ_CLI_SECONDS) $(FUZZ)

# Rewrites the expectations: all of them, or CASE=area/case.
golden-update: dev
	@tests/run --build build/dev --update $(CASE)

# Option lists of the man pages from the option tables.
man: dev
	@tools/man-pages --update build/dev/src/assay

lint: dev
	@tools/lint

format:
	@git ls-files '*.c' '*.h' | xargs clang-format-14 -i

bench: release
	@bench/run

demo: deps release
	@examples/csv/demo
	@examples/queue/demo

install: release
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 build/release/src/assay $(DESTDIR)$(PREFIX)/bin/assay
	tools/install-files build/release/src/assay $(DESTDIR)$(PREFIX) $(PREFIX)

uninstall: release
	rm -f $(DESTDIR)$(PREFIX)/bin/assay
	tools/uninstall-files build/release/src/assay $(DESTDIR)$(PREFIX)

# What a release is made of: the source, and one static executable.
VERSION = $(shell sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
dist: static
	@mkdir -p build/dist
	@git archive --format=tar.gz --prefix=assay-$(VERSION)/ -o build/dist/assay-$(VERSION).tar.gz HEAD
	@cp build/assay-static build/dist/assay-$(VERSION)-$$(uname -m)-linux-static
	@ls build/dist/*$(VERSION)*

# A package for Debian and its like.
deb: release
	@tools/make-deb build/release/src/assay build/dist

clean:
	rm -rf build demo
