#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run --per-input: the lines of each input of a corpus are those of a run with it alone, and
# the smallest set runs them all.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
command -v python3 >/dev/null || skip_all "no python3"
cat >parse.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : 0;
    int c, depth = 0, sum = 0;
    if (!f)
        return 2;
    while ((c = getc(f)) != EOF) {
        if (c == '(')
            depth++;
        else if (c == ')')
            depth--;
        else if (c >= '0' && c <= '9')
            sum += c - '0';
        if (depth < 0)
            exit(3);
    }
    if (sum > 9)
        puts("large");
    return 0;
}
END
mkdir -p corpus/queue
printf '(' >corpus/a
printf '()' >'corpus/b {} c'
printf '' >corpus/empty
printf '55' >corpus/queue/id:000001
printf '(5)' >corpus/queue/id:000002
printf '(7(2))' >corpus/queue/id:000003
ln -s a corpus/link && mkfifo corpus/fifo && printf ')' >corpus/.hidden

per_input() { # per_input NAME: 'prog' against runs of it alone
    "$ASSAY" cover run -q -f -o all --per-input corpus -- ./prog {} >out 2>err
    check "$1: the corpus runs" test $? -eq 0
    check "$1: files alone are inputs" grep -q "6 of 6 inputs ran, 0 failed" err
    python3 - "$ASSAY" <<'END' >out 2>&1
import json, os, subprocess, sys
assay = sys.argv[1]


def hits(folder):
    rows = json.loads(subprocess.run([assay, "cover", "export", "--format", "json", folder], capture_output=True, check=True).stdout)
    return {line for f in rows["files"] for line, n in f["lines"] if n}


names = ["a", "b {} c", "empty"] + [f"queue/id:00000{n}" for n in (1, 2, 3)]
every = set()
for name in names:
    subprocess.run([assay, "cover", "run", "-q", "-f", "-o", "one", "--", "./prog", f"corpus/{name}"], check=True, capture_output=True)
    alone = hits("one")
    every |= alone
    for line in range(1, 23):
        found = subprocess.run([assay, "cover", "tests", "-d", "all", f"parse.c:{line}"], capture_output=True, text=True).stdout
        assert (name in found.splitlines()) == (line in alone), (name, line, found)
assert hits("all") == every
said = json.loads(subprocess.run([assay, "cover", "tests", "-d", "all", "--json", "--list", "--smallest-set"],
                                 capture_output=True, check=True).stdout)
assert [t["name"] for t in said["tests"]] == names, said["tests"]
chosen = said["smallest_set"]["tests"]
assert said["smallest_set"]["minimal"] and len(chosen) == 2, chosen
reached = set()
for test in chosen:
    name = test["name"] if isinstance(test, dict) else test
    subprocess.run([assay, "cover", "run", "-q", "-f", "-o", "one", "--", "./prog", f"corpus/{name}"], check=True, capture_output=True)
    reached |= hits("one")
assert reached == every
END
    verdict "$1: each input's lines are those of a run with it; a smallest set of two has all" $?
}
if clang-19 -w -fprofile-instr-generate -fcoverage-mapping parse.c -o prog 2>build.log; then
    per_input "clang 19"
else
    skip "clang 19" "no clang-19 with its profile runtime"
fi
if command -v gcc >/dev/null; then
    gcc -w --coverage parse.c -o prog && per_input gcc
    printf '))' >corpus/wrong
    "$ASSAY" cover run -f -o all --per-input corpus -- ./prog @@ >out 2>err
    check "an input that fails gives the status" test $? -eq 3
    check "and is named" grep -q "input 'wrong' failed with status 3" err
    "$ASSAY" cover run -f -o all --per-input corpus -- ./prog >out 2>err
    check "a command without a place for the input is refused" grep -q "no place for its input" err
    mkdir -p nothing && "$ASSAY" cover run -f -o all --per-input nothing -- ./prog {} >out 2>err
    check "so is a folder without files" grep -q "no file in 'nothing'" err
    "$ASSAY" cover run -f -o all --per-input absent -- ./prog {} >out 2>err
    check "and one that is not there" grep -q "cannot open folder 'absent'" err
    "$ASSAY" cover run --per-test --per-input corpus -- ./prog {} >out 2>err
    check "one way of tests at a time" test $? -eq 2
fi
finish
