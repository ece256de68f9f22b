#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Generated code without names: the notes say which runtime made it, and what makes that runtime
# write the names. TAP. The programs here are stand-ins that have a runtime's name and generate code.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "runtimes are read on x86-64 alone"
need_perf
gcc -O2 -o stand-in "$TOP/tests/programs/jit.c" >build.log 2>&1 || { cat build.log; skip_all "no C compiler"; }

arguments="300000000 without-a-map"

# named PROGRAM NAME WORDS: the note of a program of that name.
named() {
    # shellcheck disable=SC2086
    cp stand-in "$1" && "$ASSAY" record -q -f -o r.assay -- "./$1" $arguments >out 2>err || { cat err; return 1; }
    "$ASSAY" report --notes r.assay 2>&1 | tr -d '\n' | tr -s ' ' >notes
    grep -q "runs $2, whose generated code has no names: .*$3" notes || { cat notes; return 1; }
}

check "Ruby" named ruby Ruby --yjit-perf
check "LuaJIT" named luajit-2.1 LuaJIT LUAJIT_USE_PERFTOOLS
check "BEAM" named beam.smp "Erlang's BEAM" '+JPperf true'
check ".NET" named libcoreclr.so '.NET' DOTNET_PerfMapEnabled=1
check "no other program gets such a note" eval '! named other Ruby .'

if command -v luajit >/dev/null; then
    "$ASSAY" record -q -f -o l.assay -- luajit -e 'local s = 0 for i = 1, 5e8 do s = s + i % 7 end' >out 2>err
    check "a real LuaJIT is named" eval '"$ASSAY" report --notes l.assay | grep -q LuaJIT'
    # Its traces state no rules; they run in the interpreter's frame.
    check "stacks lead out of the code that it generates" eval '"$ASSAY" report l.assay | tr "\\n" " " |
        grep -Eq "all stacks complete|9[89][.][0-9]% of stacks complete"'
else
    skip "a real LuaJIT is named" "no luajit"
    skip "stacks lead out of the code that it generates" "no luajit"
fi
# What YJIT generates states no rules; the interpreter called it.
yjit='def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; f(31)'
if ruby --yjit -e 1 >/dev/null 2>&1; then
    leaves_yjit() {
        "$ASSAY" record -q -f -o y.assay -- ruby --yjit -e "$yjit" >out 2>err || { cat err; return 1; }
        "$ASSAY" report y.assay | tr '\n' ' ' | grep -Eq 'all stacks complete|9[89][.][0-9]% of stacks complete' &&
            "$ASSAY" export --format folded y.assay >y.folded && grep -q '^ruby;_start;.*;rb_vm_exec;.*unknown in perf-' y.folded ||
            { "$ASSAY" report y.assay; return 1; }
    }
    check "stacks lead out of the code that YJIT generates" leaves_yjit
else
    skip "stacks lead out of the code that YJIT generates" "no ruby with YJIT"
fi
finish
