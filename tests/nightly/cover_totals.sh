#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Equal totals of lines, functions and branches in every output, over cppcheck, cJSON, sqlite and three
# Rust workspaces: sources of the release's Debian packages and of crates. The sample is a part of cJSON.
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v python3 apt-get >/dev/null || skip_all 'no python3 or apt-get'

# The source package, by lists of our own: machines seldom have deb-src.
fetch() { # fetch PACKAGE
    local options=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$PWD/parts" -o "Dir::State::Lists=$PWD/lists")
    if [ ! -e parts/debian.sources ]; then
        mkdir -p parts lists/partial && sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources \
            >parts/debian.sources && apt-get -q "${options[@]}" update || return 1
    fi
    apt-get -q "${options[@]}" source "$1"
}
totals() { # totals INPUT...
    python3 "$TOP/tests/e2e/lib/cover_totals.py" "$ASSAY" "$@"
}

# cJSON: test programs that each include the source.
cjson() { # cjson COMPILER FLAG... ; builds and runs in the working folder
    local at=$PWD name
    cd ../cjson-*/tests || return 1
    local names=(compare_tests parse_array parse_number)
    [ -n "${NIGHTLY_SAMPLE:-}" ] || names+=(parse_object parse_string parse_value print_array print_number print_object
        print_string print_value readme_examples minify_tests misc_tests cjson_add)
    for name in "${names[@]}"; do
        "$@" -w -I.. -Iunity/src -Iunity/examples "$name.c" unity/src/unity.c ../cJSON.c -lm -o "$at/$name" 2>/dev/null ||
            "$@" -w -I.. -Iunity/src -Iunity/examples "$name.c" unity/src/unity.c -lm -o "$at/$name" || return 1
        LLVM_PROFILE_FILE=$at/$name.profraw "$at/$name" >/dev/null
    done
    cd "$at" || return 1
}
if fetch cjson >fetch.log 2>&1; then
    mkdir -p cjson-gcc cjson-clang
    (cd cjson-gcc && cjson gcc --coverage) >build.log 2>&1
    check 'cJSON by gcc' totals cjson-gcc
    if command -v clang-19 >/dev/null; then
        (cd cjson-clang && cjson clang-19 -fprofile-instr-generate -fcoverage-mapping) >build.log 2>&1
        programs=()
        for profile in cjson-clang/*.profraw; do programs+=("${profile%.profraw}"); done
        check 'cJSON by clang 19' totals "${programs[@]}" cjson-clang
    else
        skip 'cJSON by clang 19' 'no clang-19'
    fi
else
    skip cJSON "$(tail -n 1 fetch.log)"
fi
[ -z "${NIGHTLY_SAMPLE:-}" ] || { finish; exit; }

# Sources of crates, sqlite's among them: Debian's have to be generated first. The crates of the workspaces
# have no dev-dependencies that take long to build.
crates() {
    cargo new -q fetched && cd fetched && cargo add -q heck@0.5.0 strsim@0.11.1 shlex@2.0.1 either@1.19.0 itoa@1.0.19 \
        semver@1.0.28 scopeguard@1.2.0 roxmltree@0.21.2 utf8_iter@1.1.0 libsqlite3-sys@0.30.1 && cargo vendor -q ../vendor
}
workspace() { # workspace CRATE... ; the crates are its members
    local at=workspace-$1 crate
    mkdir -p "$at/crates" && printf '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n' >"$at/Cargo.toml"
    for crate in "$@"; do
        cp -r "vendor/$crate" "$at/crates/$crate" && rm -f "$at/crates/$crate/.cargo-checksum.json" "$at/crates/$crate/Cargo.lock"
    done
    cd "$at" || return 1
    if "$ASSAY" cover run -q --no-report -- cargo test --workspace --lib --tests >"$SCRATCH/build.log" 2>&1; then
        check "workspace of $* by rustc" totals .assay/cover
    else
        skip "workspace of $* by rustc" "$(tail -n 1 "$SCRATCH/build.log")"
    fi
    cd "$SCRATCH" || exit 1
}
if command -v cargo >/dev/null && (crates) >fetch.log 2>&1; then
    cat >driver.c <<'END'
#include "sqlite3.h"
int main(int argc, char **argv)
{
    sqlite3 *db;
    return argc < 2 || sqlite3_open(":memory:", &db) || sqlite3_exec(db, argv[1], 0, 0, 0) || sqlite3_close(db);
}
END
    cp vendor/libsqlite3-sys/sqlite3/sqlite3.[ch] .
    query='create table t(a,b); with recursive c(x) as (values(1) union all select x+1 from c where x<999)
        insert into t select x, hex(x) from c; create index i on t(b); select count(*), max(b) from t where a % 7 < 3;'
    mkdir -p sqlite-gcc && (cd sqlite-gcc && gcc -w -I.. --coverage ../driver.c ../sqlite3.c -ldl -lm -lpthread -o sqlite &&
        ./sqlite "$query") >build.log 2>&1
    check 'sqlite by gcc' totals sqlite-gcc
    for llvm in 14 19; do
        "clang-$llvm" -w -fprofile-instr-generate -fcoverage-mapping driver.c sqlite3.c -ldl -lm -lpthread \
            -o "sqlite$llvm" 2>build.log || continue
        LLVM_PROFILE_FILE=sqlite$llvm.profraw "./sqlite$llvm" "$query"
        check "sqlite by clang $llvm" totals "sqlite$llvm" "sqlite$llvm.profraw"
    done
    workspace heck strsim shlex
    workspace either itoa semver
    workspace scopeguard roxmltree utf8_iter
else
    skip 'sqlite and Rust workspaces' "no cargo, or: $(tail -n 1 fetch.log 2>/dev/null)"
fi

if command -v clang++-19 >/dev/null && fetch cppcheck >fetch.log 2>&1; then
    (cd cppcheck-* && make -j"$(nproc)" CXX=clang++-19 CXXFLAGS="-O1 -w -fprofile-instr-generate -fcoverage-mapping" \
        testrunner) >build.log 2>&1
    (cd cppcheck-* && for class in TestTokenizer TestClass TestMath; do
        LLVM_PROFILE_FILE=../cppcheck-$class.profraw ./testrunner -q $class
    done) >run.log 2>&1
    check "cppcheck's test runner by clang 19" totals cppcheck-2*/testrunner cppcheck-*.profraw
else
    skip cppcheck "no clang++-19, or: $(tail -n 1 fetch.log)"
fi
finish
