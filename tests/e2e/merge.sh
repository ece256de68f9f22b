#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# beside others: 4 s
# assay merge: recordings of several machines and times become one; the grouping does not matter.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
cat >work.c <<'END'
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void inner(unsigned n) { while (n--) sink += n * n; }
__attribute__((noinline)) static void outer(unsigned n) { inner(n); inner(n / 2); }
int main(void)
{
    for (struct timespec t = {0}; t.tv_nsec < 60000000;
         clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
        outer(100000);
    return 0;
}
END
gcc -g -O2 -o work work.c || exit 1
for i in a b; do assay record -q -o $i.assay -- ./work || exit 1; done
if [ "$(id -u)" = 0 ] && unshare --uts true 2>/dev/null; then
    unshare --uts sh -c 'hostname web2; exec "$@"' sh assay record -q -o c.assay -- ./work
else
    assay record -q -o c.assay -- ./work
fi
check 'recordings are joined' assay merge a.assay b.assay -o ab.assay
assay merge ab.assay c.assay -o left.assay 2>left.txt
assay merge b.assay c.assay -o bc.assay 2>/dev/null
assay merge a.assay bc.assay -o right.assay 2>/dev/null
assay merge a.assay b.assay c.assay -o all.assay 2>/dev/null
for i in a b c left right all; do assay report $i.assay --json --limit 0 >$i.json; done
check '(A + B) + C is A + (B + C)' cmp left.json right.json
check '… and what one command joins' cmp left.json all.json
check 'samples add up, functions are one' python3 -c '
import json
parts = [json.load(open(f + ".json")) for f in "abc"]
whole = json.load(open("all.json"))
count = lambda r: sum(x["self_samples"] for x in r["rows"])
assert count(whole) == sum(map(count, parts)), [count(whole)] + list(map(count, parts))
names = [x["name"] for x in whole["rows"]]
assert names.count("inner") == 1, names'
if grep -q web2 <(assay report c.assay --notes; assay export -f json c.assay); then
    check 'processes have their machine behind their name' \
        grep -q '@web2' <(assay report all.assay --by process; assay export -f json all.assay)
fi
check 'an output that exists stays' test "$(assay merge a.assay b.assay -o ab.assay 2>&1 | grep -c exists)" = 1
assay merge a.assay >one.txt 2>&1
check 'one recording is refused' test $? = 2
printf 'no recording' >bad
assay merge a.assay bad -o bad.assay >bad.txt 2>&1
rc=$?
check 'what is no recording is refused, and nothing is written' test "$rc" = 1 -a ! -e bad.assay
finish
