#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The DWARF reader against llvm-symbolizer: random addresses of programs built by
# gcc, clang and rustc in every packaging, all frames compared.
# beside others: 70 s
set -u
llvm=$(command -v llvm-symbolizer-14 llvm-symbolizer-19 llvm-symbolizer | head -1)
[ -n "$llvm" ] || { echo "llvm-symbolizer is not installed"; exit 77; }
lookup=$TOOLS/dwarf_lookup
[ -x "$lookup" ] || { echo "dwarf_lookup is not built: make dev"; exit 77; }
export TMPDIR=$SCRATCH
cd "$SCRATCH" || exit 1
programs=$TOP/tests/programs
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
many=${ORACLE_ADDRESSES:-5000} # 20,000 in tests/nightly
count=$many

# same NAME BINARY [option…]: compares and prints a TAP line.
same() {
    local name=$1 binary=$2
    shift 2
    local said
    if said=$("$TOP/tests/tools/compare-frames" "$lookup" "$llvm" "./$binary" "$count" "$@" 2>&1); then
        echo "# $name: $said"
        ok "$name"
    else
        printf '%s\n' "$said" | cut -c1-2000 >said
        not_ok "$name" said
    fi
}

# has COMMAND NAME: else the case NAME is skipped.
has() {
    command -v "$1" >/dev/null || { skip "$2" "$1 is not installed"; return 1; }
}

# built NAME COMMAND…: runs it; a failure is the case's.
built() {
    local name=$1 said
    shift
    said=$("$@" 2>&1) && return 0
    printf '%s\n' "$said" >said
    not_ok "$name: did not build" said
    return 1
}

cxx=$programs/dwarf_oracle.cc
gxx=(g++ -std=c++17 -g -O2)
clangxx=(clang++-14 -std=c++17 -g -O2)

has g++ gcc && for v in 4 5; do
    built "gcc dwarf $v" "${gxx[@]}" -gdwarf-$v "$cxx" -o gcc$v && same "gcc dwarf $v" gcc$v
done
has clang++-14 clang && for v in 4 5; do
    built "clang dwarf $v" "${clangxx[@]}" -gdwarf-$v "$cxx" -o clang$v && same "clang dwarf $v" clang$v
done
if has rustc rust; then
    if rustc --version >/dev/null 2>&1; then
        built rust rustc -O -C debuginfo=2 "$programs/dwarf_oracle.rs" -o rust && same rust rust
    else
        skip rust "rustc has no toolchain"
    fi
fi
# Less of the same code, packed in other ways.
count=$((many < 5000 ? many : 5000))
gxx+=(-DSMALL)
clangxx+=(-DSMALL)
if has g++ "gcc packagings"; then
    built "gcc -O0" g++ -std=c++17 -g -O0 -DSMALL "$cxx" -o gcc-O0 && same "gcc -O0" gcc-O0
    built "gcc -g1" "${gxx[@]}" -g1 "$cxx" -o gcc-g1 && same "gcc -g1" gcc-g1
    built "gcc -gz=zlib" "${gxx[@]}" -gz=zlib "$cxx" -o gcc-z && same "gcc -gz=zlib" gcc-z
    built "gcc type units" "${gxx[@]}" -fdebug-types-section "$cxx" -o gcc-types &&
        same "gcc type units" gcc-types
    built "gcc dropped sections" "${gxx[@]}" -fno-inline -ffunction-sections -Wl,--gc-sections \
        "$cxx" -o gcc-gc && same "gcc dropped sections" gcc-gc
    built "gcc -flto" "${gxx[@]}" -flto "$programs/dwarf_oracle_main.cc" \
        "$programs/dwarf_oracle_lto.cc" -o gcc-lto && same "gcc -flto" gcc-lto
    for v in 4 5; do
        built "gcc split $v" "${gxx[@]}" -gdwarf-$v -gsplit-dwarf "$cxx" -o gcc-split$v || continue
        same "gcc split $v" gcc-split$v
        has llvm-dwp-14 "gcc package $v" || continue
        # It never ends on the DWARF 5 of gcc 12; else it takes half a second of processor time.
        if (ulimit -t 4 && exec llvm-dwp-14 -e gcc-split$v -o gcc$v.dwp) >dwp.log 2>&1; then
            same "gcc package $v" gcc-split$v --dwp gcc$v.dwp
        else
            skip "gcc package $v" "llvm-dwp 14 does not make one: $(tail -n 1 dwp.log)"
        fi
    done
fi
if has clang++-14 "clang packagings"; then
    built "clang split" "${clangxx[@]}" -gdwarf-5 -gsplit-dwarf "$cxx" -o clang-split &&
        same "clang split" clang-split
    built "clang type units" "${clangxx[@]}" -fdebug-types-section "$cxx" -o clang-types &&
        same "clang type units" clang-types
fi
if has dwz dwz && built "dwz's input" "${gxx[@]}" "$cxx" -o plain && [ -x gcc-gc ]; then
    cp plain dwz-alone && built "dwz" dwz dwz-alone && same "dwz" dwz-alone
    # llvm-symbolizer does not read the second file: it is asked about the original.
    cp plain dwz-a && cp gcc-gc dwz-b && built "dwz -m" dwz -m common dwz-a dwz-b &&
        same "dwz with a second file" dwz-a --reference plain --alt common
fi
finish
