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
check "by the program alone too" prints "removed the work" ./removed --time 0.01 --warm-up 0 --filter removed
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
import json; a,b=(json.load(open(f))[\"results\"][0][\"median\"] for f in (\"l.json\",\"w.json\")); assert a < b, (a, b)"; }; }'
kill "${pids[@]}" 2>/dev/null
wait 2>/dev/null

check "Google Benchmark's JSON has what its tools read" bash -c '
    assay bench ./clocks --filter computes --processes 3 --function-time 0.01 --format gbench >g.json && python3 -c "
import json; d=json.load(open(\"g.json\")); b=d[\"benchmarks\"]
assert len(b)==3 and all(x[\"cpu_time\"]>0 and x[\"real_time\"]>0 and x[\"iterations\"]>0 and x[\"run_type\"]==\"iteration\" for x in b), b"'
finish
