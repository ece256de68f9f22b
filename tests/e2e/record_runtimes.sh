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
    grep -q -- "runs $2, whose generated code has no names: .*$3" notes || { cat notes; return 1; }
}

check "Ruby" named ruby Ruby --yjit-perf
check "LuaJIT" named luajit-2.1 LuaJIT LUAJIT_USE_PERFTOOLS
check "BEAM" named beam.smp "Erlang's BEAM" '+JPperf true'
check "SBCL" named sbcl SBCL '-g fp'
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
# Code whose compiler says nothing of callers, from the first function on.
cat >bare.c <<'C'
static volatile long n;
__attribute__((noinline)) static void spin(void) { for (long i = 0; i < 400000000; i++) n++; }
__attribute__((noinline)) static void run(void) { spin(); n++; }
__attribute__((noreturn)) void _start(void) { run(); __asm__ volatile("syscall" : : "a"(60), "D"(0)); __builtin_unreachable(); }
C
without_tables() {
    gcc -O1 -nostdlib -static -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -o bare bare.c || return 1
    "$ASSAY" record -q -f -o b.assay -- ./bare 2>err && "$ASSAY" report --wide --notes b.assay >notes || { cat err; return 1; }
    grep -q 'of stacks are cut in code without unwind tables and frame pointers: compile it with .*Free Pascal with -OoNOSTACKFRAME' notes ||
        { cat notes; return 1; }
}
check "stacks that end in code without tables: what helps" without_tables
if command -v fpc >/dev/null; then
    printf 'program p;\nvar t: longint;\nfunction inner(n: longint): longint; var i, x: longint; begin x := 0; for i := 1 to n do x := (x*31+i) mod 1000003; inner := x; end;\nfunction outer: longint; begin outer := inner(30000000) + 1; end;\nbegin t := outer; writeln(t); end.\n' >p.pas
    free_pascal() {
        fpc -O2 -OoNOSTACKFRAME -g -gl p.pas >build.log 2>&1 && "$ASSAY" record -q -f -o p.assay -- ./p >out 2>err || { cat build.log err; return 1; }
        "$ASSAY" report p.assay | tr '\n' ' ' | grep -Eq 'all stacks complete|9[89][.][0-9]% of stacks complete' &&
            "$ASSAY" export --format folded p.assay >p.folded && grep -q ';main;.*OUTER.*;.*INNER' p.folded || { "$ASSAY" report --notes p.assay; return 1; }
    }
    check "Free Pascal with that option has complete stacks" free_pascal
else
    skip "Free Pascal with that option has complete stacks" "no fpc"
fi
if command -v erl >/dev/null && command -v erlc >/dev/null; then
    printf -- '-module(s).\n-export([main/0]).\ninner(0, S) -> S;\ninner(N, S) -> inner(N - 1, (S * 31 + N) rem 1000003).\nouter(0) -> ok;\nouter(N) -> true = is_integer(inner(300000, 0)), outer(N - 1).\nmain() -> outer(100), halt().\n' >s.erl
    beam() {
        erlc s.erl >build.log 2>&1 && "$ASSAY" record -q -f -g fp -o e.assay -- erl +JPperf true -noshell -s s main >out 2>err || { cat build.log err; return 1; }
        "$ASSAY" export --format folded e.assay >e.folded
        awk '/s:inner\/2/ { all += $NF; below += /;s:main\/0;s:outer\/1;s:inner\/2/ * $NF } END { print 100 * below / all "% below main"; exit !(all && below >= all * 0.97) }' e.folded
    }
    check "BEAM with +JPperf true and -g fp has its callers" beam
else
    skip "BEAM with +JPperf true and -g fp has its callers" "no erl"
fi
finish
