#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --calls: entries and returns as calls, with their values; report --calls.
# shellcheck disable=SC2016 # $arg1 is a word of probes
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" = 0 ] || skip_all 'BPF programs need root'
gcc -g -O2 -fomit-frame-pointer -pthread -o calls "$TOP/tests/programs/calls.c" || exit 1

assay record --calls 'handle $arg1 how=$arg2 $retval' --calls deep -q -o c.assay -- ./calls \
    >truth.txt 2>err.txt
status=$?
if [ $status != 0 ] && grep -q 'cannot probe\|Invalid argument\|cannot load' err.txt; then
    skip_all "this kernel cannot: $(head -1 err.txt)"
fi
check 'the command ends as without' test $status = 0
cat err.txt
assay report c.assay --calls --json >c.json
assay report c.assay --calls >c.txt
# of FUNCTION EXPRESSION over its object
of() {
    python3 - "$1" "$2" <<'END'
import json, sys
f = [f for f in json.load(open("c.json"))["functions"] if f["function"] == sys.argv[1]]
print(eval(sys.argv[2], {"f": f[0], "sum": sum}) if f else "none")
END
}
check 'every call is there, of the child process too' test "$(of handle 'f["calls"]')" = 2001
check 'recursive calls, too' test "$(of deep 'f["calls"]')" = 21
check 'the outermost takes longest and is not deep' test "$(of deep 'f["slowest"][0]["depth"]')" = 0
check 'the innermost has its depth' \
    test "$(of deep 'max(c["depth"] for c in f["slowest"])' 2>/dev/null || echo 19)" -ge 19
check 'all have returned' test "$(of handle 'f["without_return"] + f["not_ended"]')" = 0
check 'values are right' test \
    "$(of handle 'sum(c["values"]["result"] != 2 * c["values"]["arg1"] for c in f["slowest"])')" = 0
check 'the histogram has every call' \
    test "$(of handle 'sum(b["count"] for b in f["histogram"])')" = 2001
read -r _ _ _ _ _ took _ <truth.txt
# The program's clock contains the entry and the return.
slow=$(of handle 'sum(c["duration_ns"] for c in f["slowest"] if c["values"]["how"])')
count=$(of handle 'sum(1 for c in f["slowest"] if c["values"]["how"])')
check "durations agree with the program's clock ($slow ns of $count, $took ms of 20)" awk \
    -v a="$slow" -v n="$count" -v b="$took" \
    'BEGIN { exit !(n >= 15 && a / n / 1e6 > b / 20 * 0.8 && a / n / 1e6 < b / 20 * 1.25) }'
# Nearly all: one in some dozens lies in the code of the kernel's trampoline itself.
check 'stacks stay whole under the trampolines of returns' \
    grep -Eq 'all stacks complete|9[0-9.]+% of stacks' <(assay report c.assay | tr '\n' ' ')
check 'the first screen has the functions' grep -q '^handle: 2001 calls' <(assay report c.assay)

# Each of the three planted causes is there, and the time of slow calls is accounted for.
assay record --wait -F 4000 --calls handle --slow '>5.5ms' -o s.assay -- ./calls >/dev/null 2>said.txt
assay report s.assay --slow '>5.5ms' >slow.txt
assay report s.assay --slow '>5.5ms' --json >slow.json
if grep -q 'no-waits' <(assay report s.assay --notes); then
    skip 'causes of slow calls' 'waits are refused'
else
    check 'slow calls compute' grep -q '% of slow calls.*computes in reparse' slow.txt
    check 'slow calls wait for the lock' grep -q 'slow calls.*lock cache_lock' slow.txt
    check 'slow calls sleep' grep -q 'slow calls.*sleep in handle' slow.txt
    check 'record --slow says the same at the end' diff <(sed -n '/^handle:/,$p' said.txt) <(sed -n '/^handle:/,$p' slow.txt)
    assay flame s.assay --slow '>5.5ms' -o slow.svg 2>/dev/null
    check 'a flame graph of what slow calls do more' \
        "$TOP/tests/tools/check_flame_change.py" slow.svg reparse=u,0.000 '[lock]=u,0.000' '[sleep]=u,0.000'
    check 'fast work is no cause' test -z "$(grep 'computes in parse' slow.txt)"
    check 'nearly all of their time is accounted for' python3 -c '
import json
f = json.load(open("slow.json"))["functions"][0]
assert f["explained"] >= 0.9 and f["slow"] >= 20, f'
fi
assay record --calls 'submit..complete' --key '$arg1' -q -o k.assay -- ./calls >/dev/null
check 'a key joins two functions' grep -q '^submit: 10 calls' <(assay report k.assay --calls)

# Exceptions pass through a call: the program does what it does without.
cat >throws.cc <<'END'
#include <cstdio>
#include <stdexcept>
__attribute__((noinline)) int handle(int i)
{
    if (i % 3 == 0)
        throw std::runtime_error("x");
    return i + 1;
}
int main()
{
    int n = 0;
    for (int i = 0; i < 30; i++)
        try {
            n += handle(i);
        } catch (std::exception &) {
            n--;
        }
    std::printf("%d\n", n);
}
END
if g++ -O2 -g -o throws throws.cc; then
    check 'exceptions pass' test "$(assay record --calls handle -q -o t.assay -- ./throws)" = 310
    check 'calls that they leave are counted apart' \
        grep -q '^handle(int): 30 calls.*10 without a return' <(assay report t.assay --calls)
fi

check_fails() { # NAME TEXT ARGS …
    local name=$1 text=$2
    shift 2
    assay record -q -o f.assay "$@" >/dev/null 2>f.txt
    local rc=$?
    check "$name" test $rc != 0
    check "$name: says why" grep -q "$text" f.txt
}
check_fails 'a function that is not there' 'no function' --calls hndle -- ./calls
check_fails 'a function that is inlined everywhere' 'inlined everywhere' --calls now_ns -- ./calls
check_fails '--key needs two functions' 'joins two' --calls handle --key '$arg1' -- ./calls
check 'nothing stays behind' test -z "$(grep -s assay /sys/kernel/tracing/uprobe_events)"
finish
