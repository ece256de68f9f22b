#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# <assay/bench.h>: every standard compiles it without a warning, its example keeps its work, work that the
# compiler removed is named, and times are without the wait for a CPU.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
prints() { # TEXT COMMAND…
    local text=$1
    shift
    "$@" 2>&1 | tee all | grep -qF -- "$text" || { cat all; false; }
}
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wformat=2 -Wundef -Werror"

# The first example of the header, as it stands there.
{
    printf '#define ASSAY_BENCH_MAIN\n#include <assay/bench.h>\n'
    sed -n '/^\/\/     ASSAY_BENCH(sum_squares)/,/^\/\/ *$/s,^//    ,,p' "$TOP/include/assay/bench.h"
} >example.c
compiles() { # COMPILER STANDARD… : each of them
    local compiler=$1 standard bad=0
    shift
    for standard in "$@"; do
        # shellcheck disable=SC2086
        $compiler -std="$standard" -fsyntax-only -O2 $warnings -I"$TOP/include" example.c || { echo "$compiler $standard"; bad=1; }
    done
    return $bad
}
for c in gcc clang-14 clang-19; do
    command -v $c >/dev/null || continue
    check "$c takes the header in C99 to C23" compiles $c c99 c11 c17 c2x gnu17
done
for c in g++ clang++-14 clang++-19; do
    command -v $c >/dev/null || continue
    check "$c takes it in C++11 to C++23" compiles "$c -x c++" c++11 c++17 c++20 c++2b
done

# Truth: 1000 elements take longer than 10 cycles, and no warning is due.
check "the header's example keeps its work" bash -c '
    gcc -O2 -I"$TOP/include" example.c -o example && assay bench ./example --processes 2 --function-time 0.02 >ex.txt &&
    grep -q "elements/s" ex.txt && ! grep -q "Warning: .*\(cycle\|so much\)" ex.txt'
for c in gcc clang-14 clang-19; do
    command -v $c >/dev/null || continue
    check "$c too" bash -c "$c -O3 -I\"\$TOP/include\" example.c -o example2 && ./example2 --time 0.05 --warm-up 0.01 >ex2.txt && ! grep Warning ex2.txt"
done
cat >removed.c <<'C'
#define ASSAY_BENCH_MAIN
#include <assay/bench.h>
ASSAY_BENCH(removed)
{
    int n = 1000;
    assay_bench_elements(bench, 1000);
    ASSAY_LOOP(bench) {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += (long)i * i;
        ASSAY_USE(sum);
    }
}
ASSAY_BENCH_ARGS(flat, 10, 100000)
{
    assay_bench_elements(bench, (uint64_t)assay_bench_arg(bench) / 10);
    ASSAY_LOOP(bench) {
        uint64_t x = 88172645463325252u; /* the same work for any argument */
        for (int i = 0; i < 2000; i++)
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        ASSAY_USE(x);
    }
}
C
gcc -O2 -I"$TOP/include" removed.c -o removed
check "work that the compiler removed is named" prints "removed the work" \
    assay bench ./removed --processes 4 --function-time 0.01 --filter removed
check "by the program alone too" prints "removed the work" ./removed --time 0.2 --filter removed
check "and what does not grow with its input" prints "16 times the work or more takes no longer" \
    assay bench ./removed --processes 2 --function-time 0.01 --filter flat

cat >clocks.c <<'C'
#define ASSAY_BENCH_MAIN
#include <assay/bench.h>
#include <time.h>
ASSAY_BENCH(sleeps) { ASSAY_LOOP(bench) { struct timespec t = {0, 5000000}; nanosleep(&t, 0); } }
ASSAY_BENCH(long_run) { ASSAY_LOOP(bench) { uint64_t n = 10000000, x = 1; ASSAY_HIDE(n); while (n--) { x += x << 3; ASSAY_HIDE(x); } } }
ASSAY_BENCH(computes) { ASSAY_LOOP(bench) { uint64_t n = 300000, x = 1; ASSAY_HIDE(n); while (n--) { x += x << 3; ASSAY_HIDE(x); } } }
C
gcc -O2 -I"$TOP/include" clocks.c -o clocks
# Truth: `sleeps` takes 5 ms or more and computes far less.
check "a function that sleeps takes its whole time" bash -c '
    assay bench ./clocks --filter sleeps --processes 3 --function-time 0.02 --export-json s.json >s.txt && python3 -c "
import json; r=json.load(open(\"s.json\"))[\"results\"][0]; assert r[\"median\"] >= 0.005, r"'
check "and by --cpu-clock next to none" bash -c '
    assay bench ./clocks --filter sleeps --processes 3 --function-time 0.02 --cpu-clock --export-json c.json >c.txt && python3 -c "
import json; r=json.load(open(\"c.json\"))[\"results\"][0]; assert r[\"median\"] < 0.0025, r"'
check "a clock of commands is refused" prints "--wait-clock is for commands" assay bench --functions --wait-clock ./clocks
check "two clocks are refused" prints "--cpu-clock excludes --with-waiting" assay bench --cpu-clock --with-waiting ./clocks

# Three more processes want every CPU: without the wait the time is less than with it. A call
# lasts for longer than the scheduler lets a process run, so that every call waits.
for _ in $(seq $((3 * $(nproc)))); do
    timeout 100 sh -c 'while :; do :; done' &
    pids+=($!)
done
check "the wait for a CPU is left out" bash -c '
    assay bench ./clocks --filter long_run --processes 3 --function-time 0.03 --export-json l.json >l.txt &&
    assay bench ./clocks --filter long_run --processes 3 --function-time 0.03 --with-waiting --export-json w.json >w.txt &&
    { grep -q "the wait for a CPU is in these times" l.txt || { grep -q "Left out: the wait for a CPU" l.txt && python3 -c "
import json; a,b=(json.load(open(f))[\"results\"][0][\"assay\"][\"mean\"][\"point\"] for f in (\"l.json\",\"w.json\")); assert a < b, (a, b)"; }; }'
kill "${pids[@]}" 2>/dev/null
wait 2>/dev/null

check "Google Benchmark's JSON has what its tools read" bash -c '
    assay bench ./clocks --filter computes --processes 3 --function-time 0.01 --format gbench >g.json && python3 -c "
import json; d=json.load(open(\"g.json\")); b=d[\"benchmarks\"]
assert len(b)==3 and all(x[\"cpu_time\"]>0 and x[\"real_time\"]>0 and x[\"iterations\"]>0 and x[\"run_type\"]==\"iteration\" for x in b), b"'

# Every option works for functions, or is refused. Truth: `slower` does three times the work in the newer build.
cat >builds.c <<'C'
#define ASSAY_BENCH_MAIN
#include <assay/bench.h>
#ifndef WORK
#define WORK 10000
#endif
static void spin(uint64_t n) { uint64_t x = 1; ASSAY_HIDE(n); while (n--) { x += x << 3; ASSAY_HIDE(x); } }
ASSAY_BENCH(slower) { ASSAY_LOOP(bench) { spin(WORK); } }
ASSAY_BENCH_ARGS(grows, 100, 1000, 10000) { ASSAY_LOOP(bench) { spin((uint64_t)assay_bench_arg(bench)); } }
C
gcc -O2 -I"$TOP/include" builds.c -o old && gcc -O2 -DWORK=30000 -I"$TOP/include" builds.c -o new
short=(--function-time 0.004)
check "every file that commands have" assay bench ./new --against ./old "${short[@]}" -r 8 -n mine -n theirs \
    --export-json a.json --export-csv a.csv --export-markdown a.md --export-asciidoc a.adoc --export-orgmode a.org \
    --export-junit a.xml --export-github a.github --export-bencher a.bencher --svg a.svg --html a.html --recording a.assay
check "CSV with a row for each function and build, and no user time" python3 -c '
import csv
rows = list(csv.DictReader(open("a.csv")))
names = [r["command"] for r in rows]
assert len(rows) == 8 and names[:2] == ["theirs: slower", "mine: slower"] and "mine: grows/1000" in names, names
mean = {r["command"]: float(r["mean"]) for r in rows}
assert mean["mine: slower"] > 2 * mean["theirs: slower"] and all(r["user"] == "" for r in rows), rows'
check "tables with the ratio of the builds" eval '
    grep -Eq "^\| .mine: slower. \|.*\| [23]\.[0-9]+ \[[0-9.]+ … [0-9.]+\] \|$" a.md && [ "$(grep -c "^| ." a.md)" -eq 9 ] &&
    [ "$(grep -c "mine: " a.adoc)" -eq 4 ] && [ "$(grep -c "mine: " a.org)" -eq 4 ]'
check "JUnit: what is slower fails" python3 -c '
import xml.etree.ElementTree as e
s = e.parse("a.xml").getroot()
cases = {c.get("name"): c for c in s}
assert s.get("tests") == "4" and cases["mine: slower"].find("failure") is not None, e.tostring(s)'
check "services get this build" python3 -c '
import json
g, b = json.load(open("a.github")), json.load(open("a.bencher"))
assert [r["name"] for r in g] == list(b) and len(g) == 4 and all(n.startswith("mine: ") for n in b), (g, b)'
check "a picture with each function, its pairs and its growth" python3 -c '
import xml.etree.ElementTree as e
text = "".join(e.parse("a.svg").getroot().itertext())
assert text.count("Distribution of") == 4 and text.count("Pairs: mine: ") == 4 and "Time over grows" in text, text
page = open("a.html").read()
assert "mine: grows/10000</code>" in page'
check "and a page with the same, each run of each build" eval '"$TOP/tests/tools/page_block.py" a.html runs | python3 -c "
import json, sys
about = json.load(sys.stdin)
assert [len(s[\"commands\"]) for s in about[\"sets\"]] == [2] * 4 and all(c[\"runs\"] == 8 for s in about[\"sets\"] for c in s[\"commands\"]), about
assert [g[\"parameter\"] for g in about[\"growths\"]][:1] == [\"grows\"] and about[\"sets\"][0][\"commands\"][1][\"comparison\"][\"ratio\"] > 2, about"'
check "the recording knows the names of the builds" prints "mine: slower" assay report a.assay
check "and gives CSV as the bench" eval 'assay report a.assay --csv | cmp - a.csv'
check "a function without another build passes JUnit" eval '
    assay bench ./old "${short[@]}" --processes 2 --filter slower --export-junit b.xml >b.txt && grep -q "testcase name=\"slower\" time=\"0.0000[0-9]*\"></testcase>" b.xml'
check "-u and --sort" eval '
    assay bench ./new "${short[@]}" --processes 3 -u us --sort mean-time --export-markdown u.md >u.txt && grep -q "Mean \[µs\]" u.md &&
    [ "$(grep -o "^| .[a-z/0-9]*" u.md | tail -n 4 | tr -d "|\`\n ")" = grows/100grows/1000grows/10000slower ] && ! grep -q " ns" u.txt'
check "--until goes on until the change is decided" eval '
    assay bench ./new --against ./old "${short[@]}" --filter slower --until 50% --export-json d.json >d.txt && python3 -c "
import json
r = json.load(open(\"d.json\"))[\"results\"][0]
c = r[\"assay\"][\"change\"]
assert c[\"verdict\"] == \"slower\" and c[\"method\"] == \"paired, stopped when known\" and len(r[\"times\"]) >= 8, r"'
check "--max-time ends it" prints "stopped by --max-time" \
    assay bench ./old "${short[@]}" --filter slower --until 0.0001% --max-time 300ms
check "--max-runs too" eval '
    assay bench ./old "${short[@]}" --filter slower --until 0.0001% -M 11 --export-json e.json >e.txt && python3 -c "
import json
assert len(json.load(open(\"e.json\"))[\"results\"][0][\"times\"]) == 11"'
check "warm-up processes are not kept" eval '
    assay bench ./old "${short[@]}" --filter slower -r 2 -w 2 --export-json f.json >f.txt && python3 -c "
import json
assert len(json.load(open(\"f.json\"))[\"results\"][0][\"times\"]) == 2"'
for option in -N "--shell=bash" "--prepare=true" "--setup=true" "-e cycles" "--output=null" --grouped "--cold=old" "-i" "--bisect=A..B"; do
    # shellcheck disable=SC2086
    check "$option is refused" prints "is for commands, not for function benchmarks" assay bench --functions ./new $option
done
check "never silently a command" eval 'assay bench -N ./new 2>&1 | grep -q "is for commands"'
check "not among others either" prints "assay bench ./old --against ./new" assay bench ./old ./new
check "with arguments it is one, and told" prints "its functions are timed by: assay bench ./new" assay bench -r 1 './new --time 0.001 --warm-up 0'
check "two counts are refused" prints "exclude --until" assay bench ./new --until 1% -r 5
check "limits without --until" prints "need --until" assay bench ./new -M 5
check "a file that cannot be written is told before the runs" eval \
    '! assay bench ./new --export-github ./nowhere/x >g.out 2>g.err && [ ! -s g.out ] && grep -q nowhere g.err'

# Google Benchmark's own compare.py, as its users run it on two results, and on two functions of one.
compare=$TOP/build/readers/gbench # tools/foreign-readers installs it
if [ -x "$compare/python/bin/python" ] && [ -e "$compare/usr/share/benchmark/compare.py" ]; then
    compare=("$compare/python/bin/python" "$compare/usr/share/benchmark/compare.py")
    for build in old new; do assay bench ./$build "${short[@]}" --processes 9 --format gbench >$build.gbench.json; done
    check "compare.py reads two results" "${compare[@]}" -d compared.json benchmarks old.gbench.json new.gbench.json
    # Truth: three times the work in each of 9 processes.
    check "and finds what is slower, by the clock and by CPU time" python3 -c '
import json
rows = {r["name"]: r for r in json.load(open("compared.json"))}
slower = rows["slower"]
assert {"slower", "grows/100", "grows/1000", "grows/10000"} <= set(rows) and len(slower["measurements"]) == 9, rows
assert all(m["time"] > 0.5 and m["cpu"] > 0.5 for m in slower["measurements"]), slower
u = slower["utest"]
assert u["have_optimal_repetitions"] and u["time_pvalue"] < 0.05 and u["cpu_pvalue"] < 0.05, u'
    check "and two functions of one" "${compare[@]}" -d filtered.json filters old.gbench.json grows/100$ grows/10000$
    check "with their ratio" python3 -c '
import json
r = json.load(open("filtered.json"))[0]
assert len(r["measurements"]) == 9 and all(m["time"] > 10 for m in r["measurements"]), r'
else
    skip "Google Benchmark's compare.py reads the result" "not installed: tools/foreign-readers"
fi

# Functions of two revisions.
if command -v git >/dev/null; then
    mkdir repo && (
        cd repo && export GIT_CONFIG_GLOBAL=/dev/null && git init -q . && git config user.name n && git config user.email e@x &&
            cp ../builds.c . && git add . && git commit -qm one && sed -i 's/WORK 10000/WORK 30000/' builds.c && git commit -qam two
    )
    check "--revisions compares functions" eval '(cd repo && XDG_CACHE_HOME=$PWD/../cache assay bench --revisions HEAD~1 HEAD \
        --build "gcc -O2 -I$TOP/include builds.c -o benches" --filter slower -r 8 "${short[@]}" --export-json r.json -- ./benches) && python3 -c "
import json
r = json.load(open(\"repo/r.json\"))[\"results\"][0]
assert r[\"assay\"][\"change\"][\"verdict\"] == \"slower\" and r[\"command\"].endswith(\"): slower\"), r"'
fi
finish
