#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/programs/chain.{c,cc,rs}: their truths over compilers and flags.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
programs=$TOP/tests/programs

# record_and_check NAME PROGRAM SLICES TRUTH…
# Several samples a slice of work: with one in so many slices, how the two clocks beat
# against each other would decide the shares.
record_and_check() {
    local name=$1 program=$2 slices=$3
    shift 3
    if "$ASSAY" record --force -F 4999 -o run.assay -- "$program" "$slices" >record.log 2>&1 &&
        "$ASSAY" report --json --tree --percent-limit 0 run.assay >report.json 2>report.log; then
        check "$name" "$TOP/tests/e2e/lib/truth.py" report.json "$@"
    else
        cat report.log >>record.log 2>/dev/null
        not_ok "$name" record.log
    fi
}

for cc in gcc clang; do
    path=$(compiler $cc) || {
        skip "$cc" "no $cc here"
        continue
    }
    for optimise in -O0 -O2; do
        slices=150
        [ $optimise = -O2 ] && slices=250
        for frames in -fomit-frame-pointer -fno-omit-frame-pointer; do
            for link in '-fPIE -pie' '-fno-pie -no-pie -static'; do
                for dwarf in 4 5; do
                    name="$cc $optimise $frames $link -gdwarf-$dwarf"
                    # shellcheck disable=SC2086 # flags are words
                    if ! "$path" -gdwarf-$dwarf $optimise $frames $link -o chain "$programs/chain.c" 2>cc.log; then
                        not_ok "$name" cc.log
                        continue
                    fi
                    record_and_check "$name" ./chain $slices --share hot=80+-10 --share other=20+-10 \
                        --chain main,a,b,hot --inlined mix --source "$programs/chain.c"
                done
            done
        done
    done
done

# The same program as other linkers lay it out, and with its unwind tables elsewhere.
laid_out() { # NAME COMPILER FLAG...
    local name=$1 path
    path=$(compiler "$2") || {
        skip "$name" "no $2 here"
        return
    }
    shift 2
    if ! "$path" -O2 -fomit-frame-pointer "$@" -o chain "$programs/chain.c" 2>cc.log; then
        not_ok "$name" cc.log
        return
    fi
    record_and_check "$name" ./chain 250 --share hot=80+-10 --share other=20+-10 \
        --chain main,a,b,hot --inlined mix --source "$programs/chain.c"
}
for linker in gold lld mold; do
    if path=$(command -v ld.$linker || command -v ld.$linker-14); then
        laid_out "linked by $linker" clang -g -fuse-ld="$path"
        laid_out "linked by $linker, without a fixed address" clang -g -fPIE -pie -fuse-ld="$path"
    else
        skip "linked by $linker" "no $linker here"
    fi
done
laid_out 'no .eh_frame_hdr' gcc -g -Wl,--no-eh-frame-hdr
laid_out '.debug_frame only' gcc -g -fno-asynchronous-unwind-tables -fno-unwind-tables
laid_out '.debug_frame only, compressed' gcc -g -gz=zlib -fno-asynchronous-unwind-tables -fno-unwind-tables
laid_out 'debug sections compressed' clang -g -gz=zlib

for cxx in g++ clang++; do
    path=$(compiler $cxx) || {
        skip "$cxx" "no $cxx here"
        continue
    }
    for optimise in -O0 -O2; do
        name="$cxx $optimise, templates, a lambda and recursion without frame pointers"
        slices=200
        [ $optimise = -O2 ] && slices=600
        if ! "$path" -g $optimise -fomit-frame-pointer -fno-optimize-sibling-calls -o chain_cc \
            "$programs/chain.cc" 2>cc.log; then
            not_ok "$name" cc.log
            continue
        fi
        record_and_check "$name" ./chain_cc $slices --share hot=95+-5 --chain main,a,run,descend \
            --repeated shop::descend=50
    done
done

if command -v rustc >/dev/null; then
    for optimise in 0 2; do
        name="rustc -C opt-level=$optimise"
        slices=100
        [ $optimise = 2 ] && slices=300
        if rustc -g -C opt-level=$optimise -o chain_rs "$programs/chain.rs" 2>cc.log; then
            record_and_check "$name" ./chain_rs $slices --share hot=80+-10 --chain main,a,b,hot \
                --inlined mix --source "$programs/chain.rs"
        else
            not_ok "$name" cc.log
        fi
    done
else
    skip "rustc" "no rustc here"
fi
finish
