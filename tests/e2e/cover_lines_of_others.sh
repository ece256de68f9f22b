#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counts of lines that gcov and Go wrote: held to what is read of the same runs another way, or to what
# their own tools say.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
command -v python3 >/dev/null || skip_all "no python3"

# Rows in one order: functions come in another one.
rows() { "$ASSAY" cover export "$@" 2>err | LC_ALL=C sort; }
same_rows() { # same_rows WANT GOT, lists of inputs
    # shellcheck disable=SC2086 # lists
    rows $1 >want && rows $2 >got && [ -s want ] && diff want got
}

if command -v g++ gcov >/dev/null; then
    cat >shared.h <<'END'
template <typename T> T scale(T x, int n)
{
    if (n > 3 || x > 8)
        x *= 2;
    return x;
}
END
    cat >one.cc <<'END'
#include "shared.h"
#include <vector>
template <typename T> T same(T x) { return x > 2 ? x : 2; }
int main(int argc, char **)
{
    std::vector<int> seen;
    for (int i = 0; i < argc + 2; i++)
        seen.push_back(scale(i, i) + (int)scale((double)i, 9) + same(i) + (int)same((long)i));
    auto a = [](int x) { return x ? 1 : 2; }; auto b = [](int x) { return x > 1; };
    return a((int)seen.size()) + b(argc) - 2;
}
END
    printf '#include "shared.h"\nint main(int argc, char **) { return scale(2L, argc) > 9; }\n' >two.cc
    mkdir -p src && cp one.cc two.cc shared.h src && cd src || exit 1
    g++ -w --coverage one.cc -o one && g++ -w --coverage two.cc -o two && ./one a && ./two && ./two a b c d || exit 1
    gcov --json-format --branch-probabilities ./*.gcda >/dev/null 2>&1
    cd .. || exit 1
    written=$(find src -name '*.gcov.json.gz' | sort | tr '\n' ' ')
    check "gcov wrote its files" test -n "$written"
    check "gcov's packed JSON has the rows of the data" same_rows "src" "$written"
    # Documents one behind the other, as --stdout has them.
    # shellcheck disable=SC2086 # a list
    zcat $written >all.json
    check "and documents one behind the other" same_rows "src" "all.json"
    check "beside the data it is left out" same_rows src src
    check "by name" grep -q "gcov.json.gz', found beside data of runs, is left out" err
    "$ASSAY" cover export --format gcov-json src -o ours.json
    check "our own gcov JSON comes back" same_rows src ours.json
    "$ASSAY" cover export --format gcov-json all.json -o again.json
    check "and the one of rows" same_rows all.json again.json
    gzip -c ours.json >packed && check "a packed tracefile under any name" same_rows ours.json packed
    # The totals that gcov itself states for a file.
    (cd src && gcov ./*.gcda 2>/dev/null) >said
    python3 - "$ASSAY" all.json said <<'END' >out 2>&1
import json, re, subprocess, sys
rows = subprocess.run([sys.argv[1], "cover", "export", "--format", "json", sys.argv[2]], capture_output=True, check=True).stdout
main = next(f for f in json.loads(rows)["files"] if f["path"].endswith("one.cc"))
said = re.search(r"File 'one\.cc'\nLines executed:([\d.]+)% of (\d+)", open(sys.argv[3]).read())
assert main["line_count"] == int(said[2]), (main, said)
assert abs(100 * main["lines_covered"] / main["line_count"] - float(said[1])) < 0.01, (main, said)
END
    verdict "lines as gcov states them" $?
else
    skip "gcov's JSON" "no g++ with gcov"
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if "$go" version >/dev/null 2>&1; then
    export GOFLAGS=-mod=mod GOPROXY=off GOCACHE=${GOCACHE:-$HOME/.cache/go-build} GOTOOLCHAIN=local
    mkdir -p go/deep && cd go || exit 1
    printf 'module example.com/tool // of a test\n\ngo 1.18\n' >go.mod
    cat >a.go <<'END'
package tool

import "example.com/tool/deep"

func Grade(x int) int {
	if x > 3 {
		return 1
	} else if x > 1 {
		x++
	}
	for i := 0; i < x; i++ {
		x += deep.Twice(i)
		if x > 9 { break }
	}
	return x
}

func empty() {}
END
    cat >deep/d.go <<'END'
package deep

func Twice(x int) int {
	return 2 * x
}

func Never(x int) int {
	return x
}
END
    printf 'package tool\n\nimport "testing"\n\nfunc TestGrade(t *testing.T) { Grade(1); Grade(2); Grade(2) }\n' >a_test.go
    printf 'package deep\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) { Twice(1) }\n' >deep/d_test.go
    for mode in set count; do
        if ! "$go" test -covermode=$mode -coverpkg=./... -coverprofile=$mode.out ./... >test.log 2>&1; then
            skip "Go, $mode" "$(tail -n 1 test.log)"
            continue
        fi
        # Blocks by the rules of Go's own reader, lines by the largest of their blocks. 'go tool cover
        # -func' has 100 % for a function exactly if none of its lines was missed.
        "$ASSAY" cover export --format json $mode.out >$mode.json 2>err
        "$go" tool cover -func $mode.out >func.txt
        python3 - $mode <<'END' >out 2>&1
import json, re, sys
mode = sys.argv[1]
blocks = {}
for row in open(f"{mode}.out").read().splitlines()[1:]:
    path, l0, c0, l1, c1, n, count = re.match(r"(.*):(\d+)\.(\d+),(\d+)\.(\d+) (\d+) (\d+)$", row).groups()
    key = (path.replace("example.com/tool", ""), int(l0), int(c0), int(l1), int(c1))
    if int(n):
        old = blocks.get(key, 0)
        blocks[key] = old | int(count) if mode == "set" else old + int(count)
want = {}
for (path, l0, _, l1, _), count in blocks.items():
    for line in range(l0, l1 + 1):
        want[path, line] = max(want.get((path, line), 0), count)
import os
here = os.getcwd()
got = {(f["path"][len(here):], line): n for f in json.load(open(f"{mode}.json"))["files"] for line, n in f["lines"]}
assert got == want and want, (got, want)
for row in open("func.txt").read().splitlines():
    m = re.match(r"example\.com/tool(/\S+):(\d+):\s+(\S+)\s+([\d.]+)%", row)
    if not m or m[3] == "empty":
        continue
    text = open(here + m[1]).read().splitlines()
    end = next(i for i in range(int(m[2]), len(text)) if text[i] == "}") + 1
    missed = [n for (path, line), n in got.items() if path == m[1] and int(m[2]) <= line <= end and n == 0]
    assert (float(m[4]) == 100) == (not missed), (row, missed)
END
        verdict "Go, $mode: each line as its blocks say, functions as go tool cover has them" $?
    done
    "$ASSAY" cover show count.out >out 2>err
    check "go.mod leads to the sources" grep -q 'return 2 \* x' out
    cd "$SCRATCH" && "$ASSAY" cover show go/count.out >out 2>err
    check "from another folder, too" grep -q 'return 2 \* x' out
    { cat go/count.out go/count.out; } >twice.out
    "$ASSAY" cover export --format json twice.out >twice.json 2>err
    "$ASSAY" cover export --format json go/count.out go/count.out >sum.json 2>err
    python3 - <<'END' >out 2>&1
import json
once, twice, both = ({(f["path"].split("/tool")[-1].split("/go")[-1], line): n for f in json.load(open(name))["files"]
                      for line, n in f["lines"]} for name in ("go/count.json", "twice.json", "sum.json"))
assert twice == both == {k: 2 * n for k, n in once.items()}, (once, twice, both)
END
    verdict "two profiles are summed, and so is one that was made of two" $?
else
    skip "Go's profiles" "no go"
fi
printf 'mode: share\na.go:1.1,2.2 1 1\n' >bad.out
"$ASSAY" cover report bad.out >out 2>err
check "another mode is refused by its line" grep -q "line 1, 'mode: share': its mode is not set, count or atomic" err
printf 'x' | gzip -c >plain.gz
"$ASSAY" cover report plain.gz >out 2>err
check "what else is packed is refused" grep -q "compressed by gzip" err
finish
