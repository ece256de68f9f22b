#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of 32 bits: each command does what it can with them, or refuses them in words that are true.
# beside others: 3 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'programs of 32 bits are built on x86-64'
programs=$TOP/tests/programs
gcc -m32 -g -O1 -o spin "$programs/spin.c" 2>build.log && gcc -m32 --coverage -w -g -o counted "$programs/cover_life.c" 2>build.log &&
    gcc -m32 -w -g -o life "$programs/cover_life.c" 2>build.log || skip_all 'no compiler for 32 bits: tools/install-deps --dev'
./spin 1 || skip_all 'the kernel runs no programs of 32 bits'
refused() { # WORDS COMMAND…
    local words=$1
    shift
    "$@" >out 2>err
    [ $? = 1 ] && grep -q "$words" err || { cat err; return 1; }
}
check 'the heap is refused' refused "cannot record the heap of './spin': it is a 32-bit program" assay heap -f -o h.assay -- ./spin 1
check 'timers are refused' refused "by timers: it is a 32-bit program" assay record -f --engine timer -o t.assay -- ./spin 1
check 'lines by breakpoints are refused' refused "no lines of './life': it is a 32-bit program" assay cover run --engine ptrace -f -o lines ./life exit
check 'probes are refused' refused "'./spin' is a 32-bit program" assay record -f --engine ptrace -e ./spin:main -o p.assay -- ./spin 1
counts() { assay cover run -f -o res ./counted exit >out 2>err && assay cover report res | grep -q 'cover_life.c .*44.12%'; }
check 'a program that counts by itself is counted' counts
static() {
    gcc -m32 -static -o static "$programs/spin.c" 2>build.log || return 0
    refused "cannot record the heap of './static': it is a 32-bit program" assay heap -f -o h.assay -- ./static 1
}
check 'the heap of a static program is refused, too' static
sampled() { # OPTION…: of 300 ms at least half the samples, in the program's module
    assay record -q -f "$@" -o s.assay -- ./spin 300 >out 2>err && assay report --json s.assay >s.json || { cat err; return 1; }
    python3 -c '
import json
r = json.load(open("s.json"))
print(r["truth"], r["rows"][:3])
assert r["truth"]["samples"] >= 30 and any("spin" in f["name"] or "spin" in (f.get("module") or "") for f in r["rows"])'
}
if "$TOOLS/fault" read=EIO 0 count true 2>/dev/null; then
    check 'stops by ptrace sample it' sampled --engine ptrace
else
    skip 'stops by ptrace' 'one process may not trace another here'
fi
if "$TOP/tests/e2e/lib/perf_allowed.py" >/dev/null; then
    check 'perf events sample it' sampled
else
    skip 'perf events' 'refused here'
fi
finish
