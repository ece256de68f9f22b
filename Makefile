# SPDX-License-Identifier: Apache-2.0
# The doors to the build. Meson does the work; each variant has its own folder
# under build/. On a machine with nothing prepared: make demo, make test.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)
MESON = PKG_CONFIG_PATH= meson
NINJA = ninja -j $(JOBS)

CLANG ?= $(shell command -v clang-14 || echo clang)
SANITIZE_ENV = ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=99 TSAN_OPTIONS=exitcode=99

.PHONY: all release dev demo test check asan tsan fuzz golden-update lint man format bench static \
	install clean deps dev-deps build-asan build-tsan tests

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
build/static/build.ninja:
	$(MESON) setup build/static --buildtype=release -Doptimization=2 -Dtests=false \
		-Dstatic=true -Db_pie=false --strip >/dev/null

release: build/release/build.ninja
	@$(NINJA) -C build/release --quiet
	@if [ -e build/release/src/assay ]; then ln -sfn release/src/assay build/assay; fi

dev: build/dev/build.ninja
	@$(NINJA) -C build/dev --quiet

build-asan: build/asan/build.ninja
	@$(NINJA) -C build/asan --quiet

build-tsan: build/tsan/build.ninja
	@$(NINJA) -C build/tsan --quiet

static: build/static/build.ninja
	@$(NINJA) -C build/static --quiet
	@strip -o build/assay-static build/static/src/assay
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
tests: release dev build-asan
	@tools/check-layers
	@tools/man-pages --check build/dev/src/assay
	@rm -f build/tally build/tests-failed
	@tests/run --build build/dev --tally build/tally unit fuzz golden || touch build/tests-failed
	@$(SANITIZE_ENV) tests/run --build build/asan --tally build/tally --label asan unit fuzz golden \
		|| touch build/tests-failed
	@tests/run --build build/release --tally build/tally --require-assay e2e \
		|| touch build/tests-failed
	@tests/run --sum build/tally && [ ! -e build/tests-failed ]

asan: build-asan
	@$(SANITIZE_ENV) tests/run --build build/asan --label asan unit fuzz golden e2e

tsan: build-tsan
	@$(SANITIZE_ENV) tests/run --build build/tsan --label tsan --leave-out tests/tsan-left-out \
		unit golden e2e

# FUZZ_SECONDS for each reader, or FUZZ=reader for one.
fuzz: build/fuzz/build.ninja
	@$(NINJA) -C build/fuzz --quiet
	@tests/fuzz/run build/fuzz $(FUZZ_SECONDS) $(FUZZ)

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

install: release
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 build/release/src/assay $(DESTDIR)$(PREFIX)/bin/assay
	tools/install-files build/release/src/assay $(DESTDIR)$(PREFIX)

clean:
	rm -rf build demo
