#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay bench end to end: hyperfine's command lines, verdicts, exit statuses,
# exports, failures. Times are compared only where they differ severalfold.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
prints() { # TEXT COMMAND…
    local text=$1
    shift
    "$@" 2>&1 | tee all | grep -qF -- "$text" || { cat all; false; }
}
json() { # FILE EXPRESSION over d
    python3 -c "import json,sys; d=json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1"
}

check "times one command" prints "10 runs" assay bench -r 10 true
check "hyperfine's options are taken" assay bench -w 1 -m 2 -M 4 -p 'true' -C 'true' -s 'true' \
    -c 'true' -S sh -i --style basic --sort command -u ms -n one 'exit 3'
check "a scan fills in its variable" assay bench -r 2 -P x 1 3 'test {x} -lt 4' --export-json s.json
check "the scan ran three commands" json s.json \
    'len(d["results"])==3 and d["results"][2]["parameters"]=={"x":"3"}'
check "a parameter that the command does not show is in its name" prints "echo test (branch = two)" \
    assay bench -r 1 -L branch one,two 'echo test'
check "the version is printed" prints "assay " assay bench --version
check "lists multiply" assay bench -r 2 -L a 1,2 -L b x,y 'echo {a}{b}' --export-json l.json
check "in hyperfine's order" json l.json \
    '[r["command"] for r in d["results"]]==["echo 1x","echo 2x","echo 1y","echo 2y"]'
check "the reference comes first" assay bench -r 2 --reference 'sleep 0.002' --reference-name base \
    'sleep 0.001' --export-json r.json
check "and is what is compared with" json r.json \
    'd["assay"]["comparisons"][0]["reference"]=="base" and len(d["results"])==2'
check "a fivefold difference is found" assay bench -N -r 12 'sleep 0.04' 'sleep 0.2' --export-json f.json
check "with interval and verdict" json f.json \
    '(c:=d["assay"]["comparisons"][0])["verdict"]=="slower" and 2<c["ratio"]["low"]<=c["ratio"]["high"]<7'
check "results have hyperfine's fields" json f.json \
    'all(k in d["results"][0] for k in ("command","mean","stddev","median","user","system","min","max","times","memory_usage_byte","exit_codes")) and len(d["results"][0]["times"])==12'
check "runs are interleaved" json f.json \
    '(a:=d["results"][0]["assay"]["runs"])["round"]==list(range(12)) and 0 < sum(a["position"]) < 12'
check "grouped runs are not" assay bench --grouped -r 6 -N 'sleep 0.001' 'sleep 0.002' --export-json g.json
check "one follows the other" json g.json \
    'max(d["results"][0]["assay"]["runs"]["start_ns"]) < min(d["results"][1]["assay"]["runs"]["start_ns"])'
check "a slower command fails the gate with 3" status_is 3 \
    assay bench -N -r 12 'sleep 0.005' 'sleep 0.03' --fail-if-slower 5%
check "a faster one passes" status_is 0 \
    assay bench -N -r 12 'sleep 0.03' 'sleep 0.005' --fail-if-slower 5%
# One run is nine times as long, the next as short: three pairs of steady ones can decide by luck.
check "three runs of the same leave it open with 4" status_is 4 \
    assay bench -N -r 3 'bash -c "sleep 0.0$((HYPERFINE_ITERATION % 2 * 8 + 1))"' \
    'bash -c "sleep 0.0$((9 - HYPERFINE_ITERATION % 2 * 8))"' --fail-if-slower 0%
check "JUnit says so too" assay bench -N -r 12 'sleep 0.005' 'sleep 0.03' --export-junit j.xml
check "as a failed case" grep -q '<failure' j.xml
check "CSV has hyperfine's columns" prints "command,mean,stddev,median,user,system,min,max,parameter_x" \
    assay bench -r 2 -L x 1 'echo {x}' --export-csv -
check "a Markdown table" prints '| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |' \
    assay bench -r 2 'echo a|cat' --export-markdown -
check "a failing command stops it with 1" status_is 1 assay bench -r 3 'exit 9'
check "and is named" prints "'exit 9' ended with status 9" assay bench -r 3 'exit 9'
check "its status can be accepted" assay bench -r 3 -i=9 'exit 9'
check "another one is not" status_is 1 assay bench -r 3 -i=8 'exit 9'
check "a signal is told" prints "signal 9" assay bench -r 3 'kill -9 $$'
check "a program that is not there" prints "there is no program 'nonexistent-x'" assay bench -N nonexistent-x
check "a file that may not be executed is none either" bash -c 'echo x >plain; assay bench -N ./plain 2>&1 | grep -q "is not a program"'
check "a weighed command says what it is" bash -c '
    assay bench -N -w 1 -r 2 true --export-json w.json >w.txt && assay bench -N -r 2 true >n.txt && grep -Eq "at most|perhaps" n.txt && python3 -c "
import json; a=json.load(open(\"w.json\"))[\"results\"][0][\"assay\"]; assert not a[\"peak_rss_exact\"] or a[\"peak_rss_bytes\"] < 2e6, a"'
check "whole times can be asked for" bash -c '
    assay bench -N --with-waiting -r 6 true true --export-json ww.json >ww.txt && ! grep -q "left out: the wait" ww.txt && python3 -c "
import json; c=json.load(open(\"ww.json\"))[\"assay\"][\"comparisons\"][0]; assert not c[\"without_waiting\"]"'
check "a hanging one is killed" prints "was killed after" assay bench -r 2 --timeout 100ms 'sleep 20'
check "no command is a usage error" status_is 2 assay bench
echo 'int main(void) { return 0; }' >late.c
check "a program that --setup makes is found when it runs" assay bench -N -r 3 --setup 'gcc late.c -o late' --cleanup 'rm late' ./late
check "and one that --prepare makes" assay bench -N -r 3 --prepare 'gcc late.c -o late' --conclude 'rm late' ./late
check "by the shell's rules too" assay bench -r 3 --setup 'gcc late.c -o late' --cleanup 'rm late' './late'
check "what they do not make is told" prints "there is no program './never'" assay bench -N -r 2 --prepare true ./never
check "an export that cannot be written is told before the runs" bash -c '
    ! assay bench -N -r 2 --export-csv ./nowhere/x "touch ran" 2>err.txt && [ ! -e ran ] && grep -q nowhere err.txt'
check "the CPU time of a short program is not that of its start" bash -c '
    assay bench -N -r 20 true --export-json cpu.json >cpu.txt && python3 -c "
import json; d=json.load(open(\"cpu.json\")); r=d[\"results\"][0]
assert d[\"assay\"][\"clock\"]!=\"kernel\" or \"task-clock\" not in r[\"assay\"][\"runs\"][\"counters\"] or r[\"user\"]+r[\"system\"] <= 1.02*r[\"mean\"], r"'
cat >sleepy.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(void) // every eighth run sleeps 0.3 s
{
    const char *i = getenv("HYPERFINE_ITERATION");
    struct timespec t = {0, i && atoi(i) % 8 == 7 ? 300000000 : 1000000};
    return nanosleep(&t, NULL);
}
C
gcc -O1 sleepy.c -o sleepy && check "why slow runs were slow is named" prints "slept, or waited" \
    assay bench -N -r 24 --details ./sleepy
check "--runs and --until contradict each other" status_is 2 assay bench -r 5 --until 1% true true
check "so do --cpu-clock and --with-waiting" status_is 2 assay bench -r 5 --cpu-clock --with-waiting true true
check "an unwritable export is an error" status_is 1 assay bench -r 2 true --export-json /nonexistent/x
check "iterations are numbered" bash -c \
    'assay bench -N -r 3 -w 1 "sh -c \"echo \$HYPERFINE_ITERATION >> it\"" && [ "$(tr "\n" " " <it)" = "warmup-0 0 1 2 " ]'
check "input comes from a file" bash -c 'echo 42 >in; assay bench -r 2 --input ./in "grep -q 42"'
check "output goes to a file" bash -c 'assay bench -r 2 --output ./o "echo text" && [ "$(cat o)" = text ]'
check "prepare runs before each run" bash -c \
    'assay bench -r 4 -w 1 -p "echo x >> prep" true && [ "$(wc -l <prep)" = 5 ]'
check "a failing prepare is an error" status_is 1 assay bench -r 2 -p 'exit 1' true
check "Ctrl-C keeps what was measured" bash -c \
    'timeout -s INT 3 assay bench -N -r 1000 "sleep 0.05" --export-json c.json; [ $? != 0 ] && python3 -c "
import json; d=json.load(open(\"c.json\")); assert d[\"assay\"][\"interrupted\"] and 2 < len(d[\"results\"][0][\"times\"]) < 100"'
check "stops when it knows" bash -c \
    'assay bench -N --until 10% --max-time 30 "sleep 0.02" "sleep 0.1" --export-json u.json && python3 -c "
import json; d=json.load(open(\"u.json\")); c=d[\"assay\"][\"comparisons\"][0]; assert c[\"verdict\"]==\"slower\" and c[\"pairs\"] <= 60"'
cat >modes.c <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) // modes PERCENT: so many of the runs sleep 40 ms and not 4
{
    unsigned char byte = 0;
    int fd = open("/dev/urandom", O_RDONLY);
    if (read(fd, &byte, 1) != 1 || argc < 2)
        return 2;
    struct timespec t = {0, byte * 100 < atoi(argv[1]) * 256 ? 40000000 : 4000000};
    return nanosleep(&t, NULL);
}
C
gcc -O1 modes.c -o modes && check "modes are found with their shares" bash -c '
    assay bench -N -r 60 "./modes 50" --export-json mo.json >mo.txt && python3 -c "
import json; m=json.load(open(\"mo.json\"))[\"results\"][0][\"assay\"][\"modes\"]
assert len(m) >= 2 and abs(sum(x[\"share\"] for x in m) - 1) < 1e-9 and m[0][\"time\"] < 0.02 < m[-1][\"time\"], m"'
check "a report tells the modes" prints "' has 2 modes: " assay bench -N -r 60 "./modes 50"
check "and what the mean says beside a typical run" prints "by the mean './modes 50' takes " \
    assay bench -N -r 60 "./modes 10" "./modes 50"
check "two pairs promise nothing" prints "too few runs to say anything" assay bench -N --until 5% -M 2 'sleep 0.001' 'sleep 0.002'
check "stops at the time limit" bash -c \
    'SECONDS=0; assay bench -N --until 0.01% --max-time 1 "sleep 0.01" "sleep 0.01" | grep -q "stopped by --max-time" && [ $SECONDS -lt 6 ]'
check "peak memory is each run's own" bash -c \
    'assay bench -r 3 "head -c 60000000 /dev/zero | tail -c 60000000" true --export-json m.json && python3 -c "
import json; r=json.load(open(\"m.json\"))[\"results\"]; assert max(r[1][\"memory_usage_byte\"]) < 2e7 < 5e7 < min(r[0][\"memory_usage_byte\"])"'
check "events are counted in each run" bash -c \
    'assay bench -N -r 6 --details -e page-faults:u true "sh -c \"/bin/true; /bin/true; /bin/true\"" --export-json e.json >e.txt &&
    grep -q "Counted (median):.*page-faults:u" e.txt && grep -Eq "counted: page-faults:u [0-9.]+ times" e.txt && python3 -c "
import json; r=json.load(open(\"e.json\"))[\"results\"]; c=[x[\"assay\"][\"runs\"][\"counters\"][\"page-faults:u\"] for x in r]
assert len(c[0])==6 and min(c[0])>0 and min(c[1])>2*max(c[0]), c"'
check "unless none are wanted" bash -c '! assay bench -N -r 3 -e none true | grep -q Counted'
check "an unknown event is a usage error" status_is 2 assay bench -N -r 3 -e no-such-event true
head -c 3000000 /dev/zero >cold
check "cold files are dropped before each run, or it is said" bash -c '
    assay bench -N -r 4 --cold cold "cat cold" --export-json cold.json >o.txt && { grep -q "page cache" o.txt || python3 -c "
import json; r=json.load(open(\"cold.json\"))[\"results\"][0]; assert len(r[\"times\"])==4"; }'
check "a cold file that is not there is an error" status_is 1 assay bench -N -r 2 --cold nonexistent true
check "by the CPU's clock sleeping takes no time" bash -c '
    assay bench --cpu-clock -N -r 12 "sleep 0.01" "sleep 0.1" --export-json k.json >k.txt && grep -q "Clock: CPU time" k.txt && python3 -c "
import json; d=json.load(open(\"k.json\")); r=d[\"results\"]; assert d[\"assay\"][\"clock\"]==\"cpu\" and r[1][\"median\"] < 0.02 and d[\"assay\"][\"comparisons\"][0][\"ratio\"][\"point\"] < 3"'
check "and computing does" bash -c '
    assay bench --cpu-clock -r 6 "i=0; while [ \$i -lt 2000 ]; do i=\$((i+1)); done" "i=0; while [ \$i -lt 40000 ]; do i=\$((i+1)); done" | grep -q "slower"'
cat >heap.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    size_t n = (size_t)atoi(argv[1]) << 20;
    char *p = malloc(n);
    memset(p, argc, n);
    return p[n / 2] != argc;
}
C
gcc -O1 heap.c -o heap && check "the kernel's time holds the freeing of memory" bash -c '
    assay bench -N -r 5 "./heap 200" --export-json h.json >h.txt && python3 -c "
import json; a=json.load(open(\"h.json\"))[\"results\"][0][\"assay\"]; r=a[\"runs\"]
assert all(w > 0.97*(u+s) or a[\"runs_by_kernel_clock\"] < 5 for w, u, s in zip(r[\"wall_ns\"], r[\"user_ns\"], r[\"system_ns\"])), r"'
check "the wait clock is named" prints "Clock: assay's own, from start to wait (asked for by --wait-clock)" assay bench --wait-clock -r 2 true
check "names are shown without control codes" bash -c \
    'assay bench -r 2 -n "$(printf "a\033[31mb")" true | grep -c "$(printf "\033")" | grep -qx 0'
echo '{"results":[{"command":"x","times":[1,1.01,1.02,1.0,1.01,1.03,1.02,1.01]}]}' >first.json
echo '{"results":[{"command":"x","times":[2,2.01,2.02,2.0,2.01,2.03,2.02,2.01]}]}' >second.json
echo '{"iters":[1,2,3,4],"times":[10,20,30,41]}' >crit.json
check "pictures are well-formed" bash -c '
    assay bench -N -r 8 -n "<a> & \"b\"" "sleep 0.001" --svg p.svg && python3 -c "
import xml.dom.minidom; xml.dom.minidom.parse(\"p.svg\")"'
check "long names are cut between characters" bash -c '
    assay bench -N -r 6 -n "$(printf "\303\244%.0s" {1..60})" true --svg n.svg && python3 -c "
import xml.dom.minidom; xml.dom.minidom.parse(\"n.svg\")"'
check "growth over a parameter is fitted" bash -c '
    assay bench -N -r 6 -L s 0.05,0.1,0.2,0.4 "sleep {s}" --html p.html --svg g.svg && grep -q "grows with its power" g.svg &&
    "$TOP/tests/tools/page_block.py" p.html runs | python3 -c "
import json, sys; g = json.load(sys.stdin)[\"growths\"][0]; assert 0.6 < g[\"slope\"] < 1.1 and len(g[\"points\"]) == 4, g"'
check "a bench is saved" assay bench -N -r 10 --save first 'sleep 0.002'
check "and listed" prints "median" assay bench history first
check "a later one is compared with it" prints "Compared with 'first', saved" assay bench -N -r 10 --baseline first 'sleep 0.002'
check "a slower one fails the gate" status_is 3 \
    assay bench -N -r 12 --baseline first --fail-if-slower 20% 'sleep 0.03'
for s in 0.03 0.03 0.03 0.03 0.03 0.3 0.3 0.3 0.3 0.3; do
    assay bench -N -r 2 -n job --save series --style none "sleep $s"
done
check "history says where the level changed" prints "the level changed at" assay bench history series
check "once" bash -c '[ "$(assay bench history series | grep -c "level changed")" = 1 ]'
check "a trend is drawn" prints "▁▁▁▁▁████" assay bench history series
check "and exported" bash -c '
    assay bench history series --export-json hist.json --export-github gh.json --export-bencher bmf.json >/dev/null && python3 -c "
import json
h, g, b = (json.load(open(f)) for f in (\"hist.json\", \"gh.json\", \"bmf.json\"))
assert (h[\"schema\"], h[\"version\"]) == (\"assay-history\", 1)
s = h[\"series\"][0]
assert s[\"name\"] == \"job\" and len(s[\"points\"]) == 10 and len(s[\"changes\"]) == 1, s
last = s[\"points\"][-1]
assert g == [{\"name\": \"job\", \"unit\": \"ms\", \"value\": g[0][\"value\"], \"extra\": \"median of 2 runs\"}], g
assert abs(g[0][\"value\"] - last[\"median_s\"] * 1e3) < 1e-6 * g[0][\"value\"]
assert abs(b[\"job\"][\"latency\"][\"value\"] - last[\"median_s\"] * 1e9) < 1e-6 * b[\"job\"][\"latency\"][\"value\"]"'
check "a run is exported to the services, too" bash -c '
    assay bench -N -r 8 "sleep 0.002" true --export-github gh.json --export-bencher bmf.json >/dev/null && python3 -c "
import json
g, b = json.load(open(\"gh.json\")), json.load(open(\"bmf.json\"))
assert [r[\"name\"] for r in g] == list(b) == [\"sleep 0.002\", \"true\"] and g[0][\"range\"]
l = b[\"sleep 0.002\"][\"latency\"]
assert 2e6 < l[\"lower_value\"] <= l[\"value\"] <= l[\"upper_value\"]"'
check "a baseline that is not there is an error" status_is 1 assay bench -r 2 --baseline none true
cp /bin/true ./prog
check "the program is kept" assay bench -N -r 6 --save kept ./prog
cp /bin/sleep ./prog
check "and run against its successor" prints "Compared with kept: ./prog" \
    assay bench -N -r 6 --baseline kept --rerun-baseline -n ./prog './prog 0.001'
cp /bin/touch ./toucher
check "a command is saved with its arguments" assay bench -N -r 6 --save words -n words './toucher one'
rm one
check "and runs again with them" bash -c '
    assay bench -N -r 6 --baseline words --rerun-baseline -n words "./toucher two" && [ -e one ] && [ -e two ]'
check "two savers at once lose nothing" bash -c \
    'for i in 1 2 3 4; do assay bench -N -r 3 --save many true & done; wait; [ "$(assay bench history many | grep -c median)" = 4 ]'
check "a damaged database is left alone" bash -c \
    'head -c 3000 /dev/zero | tr "\0" x >bad.db; cp bad.db copy.db; assay bench --db bad.db --save x -r 2 true; [ $? = 1 ] && cmp bad.db copy.db'
check "a newer database is left alone" bash -c \
    'assay bench --db new.db --save x -r 2 true && python3 -c "
import sqlite3; d=sqlite3.connect(\"new.db\"); d.execute(\"pragma user_version=99\"); d.commit()" && cp new.db copy.db && assay bench --db new.db --save y -r 2 true; [ $? = 1 ] && cmp new.db copy.db'
check "saved files are compared" prints "slower" assay bench --compare first.json second.json
check "with the gate's status" status_is 3 assay bench --fail-if-slower 5% --compare first.json second.json
check "a Criterion sample can be compared" prints "Criterion" \
    assay bench --compare crit.json crit.json
if gcc -O2 -Wall -Wextra -Werror -I"$TOP/include" "$TOP/tests/programs/benches.c" -o fb &&
    gcc -O2 -DWORK_FACTOR=30 -I"$TOP/include" "$TOP/tests/programs/benches.c" -o fb6; then
    check "function benchmarks list themselves" bash -c '[ "$(./fb --list | tr "\n" " ")" = "empty work work_slow scan/10 scan/1000 batch " ]'
    check "function benchmarks run" prints "5 processes" assay bench --functions ./fb --processes 5 --function-time 0.01 --filter work_slow
    check "a build ten times as slow has regressed" prints "Performance has regressed." \
        assay bench --functions ./fb6 --against ./fb --processes 10 --function-time 0.01 --filter work_slow
    check "and fails the gate" status_is 3 assay bench --functions ./fb6 --against ./fb --processes 10 \
        --function-time 0.01 --filter work_slow --fail-if-slower 20%
    check "libtest's line" prints "test work ... bench: " assay bench --functions ./fb --format libtest \
        --processes 2 --function-time 0.01 --filter work
    check "Google Benchmark's JSON can be compared" bash -c '
        assay bench --functions ./fb --format gbench --processes 6 --function-time 0.01 --filter scan/1000 >g1.json &&
        assay bench --compare g1.json g1.json | grep -q "scan/1000"'
    check "batches do not time their set-up" bash -c '
        assay bench --functions ./fb --processes 3 --function-time 0.01 --filter batch --export-json b.json >/dev/null && python3 -c "
import json; t=json.load(open(\"b.json\"))[\"results\"][0][\"median\"]; assert t < 5e-6, t"'
    check "such a program is known by its note" prints "3 processes" assay bench ./fb --processes 3 --function-time 0.01 --filter work_slow
    check "-N does not make it a command" prints "-N is for commands, not for function benchmarks" assay bench -N -r 1 ./fb
    check "with arguments it is a command too" prints "Benchmark 1: ./fb --list" assay bench -r 2 './fb --list'
    check "two are commands" prints "Benchmark 2: ./fb6 --list" assay bench --details -r 2 './fb --list' './fb6 --list'
    check "functions are saved" assay bench ./fb --processes 6 --function-time 0.01 --filter work_slow --save functions
    check "and compared with later" prints "Performance has regressed." \
        assay bench ./fb6 --processes 6 --function-time 0.01 --filter work_slow --baseline functions
    check "as the gate says" status_is 3 assay bench ./fb6 --processes 6 --function-time 0.01 --filter work_slow \
        --baseline functions --fail-if-slower 20%
    check "functions that were not saved leave the gate open" status_is 4 assay bench ./fb6 --processes 6 \
        --function-time 0.01 --filter scan --baseline functions --fail-if-slower 20%
    check "the saved program runs again beside it" prints "6 pairs of processes" assay bench ./fb6 --processes 6 \
        --function-time 0.01 --filter work_slow --baseline functions --rerun-baseline
    check "history lists functions" prints "'work_slow'" assay bench history functions
    check "their JSON has the change" bash -c '
        assay bench ./fb6 --processes 6 --function-time 0.01 --filter work_slow --baseline functions --style none --export-json fj.json >fj.out &&
        [ ! -s fj.out ] && python3 -c "
import json; r=json.load(open(\"fj.json\"))[\"results\"][0][\"assay\"]; assert r[\"change\"][\"verdict\"]==\"slower\" and r[\"time\"][\"low\"]<=r[\"time\"][\"high\"]"'
    check "a process that hangs is killed" prints "was killed after" assay bench ./fb --function-time 30 --timeout 100ms
    check "no option for commands goes with it" prints "--prepare is for commands" assay bench --functions -p true ./fb
    check "an empty body is left with no more than 1 ns" bash -c '
        for i in 1 2 3 4 5; do ./fb --json --time 0.02 --warm-up 0.005 --samples 20 --filter empty; done >empty && python3 -c "
import json; print(best := min(t/n for l in open(\"empty\") for d in [json.loads(l)] for t, n in zip(d[\"times\"], d[\"iters\"]))); assert best <= 1"'
    cat >range.c <<'C'
#define ASSAY_BENCH_MAIN
#include <assay/bench.h>
ASSAY_BENCH_RANGE(r, 8, 1000, 8) { ASSAY_LOOP(bench) { ASSAY_USE(ASSAY_BLACK_BOX(3) + ASSAY_BLACK_BOX(1.5)); } }
ASSAY_BENCH_RANGE(one, 5, 5, 2) { ASSAY_LOOP(bench) {} }
ASSAY_BENCH_RANGE(stuck, 0, 4, 2) { ASSAY_LOOP(bench) {} }
C
    check "ranges and the black box" bash -c '
        gcc -O2 -Wall -Wextra -Werror -I"$TOP/include" range.c -o range && g++ -x c++ -O2 -Wall -Wextra -Werror -I"$TOP/include" range.c -o rangecc &&
        [ "$(./range --list | tr "\n" " ")" = "r/8 r/64 r/512 r/1000 one/5 stuck/0 stuck/4 " ] && ./range --time 0.001 --warm-up 0 --samples 2'
    check "C++ takes the header" g++ -O2 -Wall -Wextra -Werror -x c++ -I"$TOP/include" "$TOP/tests/programs/benches.c" -o fbcc
    check "two files share one implementation" bash -c '
        printf "#include <assay/bench.h>\nASSAY_BENCH(other) { ASSAY_LOOP(bench) { ASSAY_USE(1); } }\n" >other.c
        gcc -O2 -I"$TOP/include" "$TOP/tests/programs/benches.c" other.c -o two && [ "$(./two --list | grep -c .)" = 7 ]'
fi
if command -v rustc >/dev/null && rustc --version >rustc.out 2>&1; then
    check "Rust takes it through the C ABI" bash -c '
        gcc -O2 -I"$TOP/include" -c "$TOP/examples/rust-bench/driver.c" -o driver.o &&
        rustc -O -D warnings -C link-arg=driver.o "$TOP/examples/rust-bench/benches.rs" -o rb &&
        [ "$(./rb --list | tr "\n" " ")" = "sum_indexed/100 sum_indexed/10000 sum_iterated/100 sum_iterated/10000 sort " ] &&
        assay bench ./rb --processes 2 --function-time 0.01 --filter sort | grep -q "2 processes"'
fi
cat >two.c <<'C'
#include <stdlib.h>
#define STEPS(x, n) for (long i = 0; i < (n); i++) x ^= x << 13, x ^= x >> 7, x ^= x << 17
__attribute__((noinline)) static unsigned long common(unsigned long x) { STEPS(x, 4000000); return x; }
__attribute__((noinline)) static unsigned long extra(unsigned long x) { STEPS(x, 12000000); return x; }
int main(int argc, char **argv)
{
    unsigned long x = common((unsigned long)argc);
    return (argc > 1 && atoi(argv[1]) ? extra(x) : x) == 0;
}
C
if gcc -g -O1 two.c -o two && assay record -o try.assay true >try.out 2>&1; then
    # Truth: `extra` takes 3 times what `common` does, and is all of the difference.
    check "what makes the difference is named" bash -c '
        assay bench -N -r 6 "./two 0" "./two 1" --profile=kept --export-json p.json >p.txt && grep -q "What makes the difference" p.txt &&
        [ -s kept/1.assay ] && [ -s kept/2.assay ] && python3 -c "
import json; p=json.load(open(\"p.json\"))[\"assay\"][\"profile\"][0]; f=p[\"functions\"][0]
assert f[\"function\"]==\"extra\" and f[\"file\"].endswith(\"two.c\") and 0.7 < f[\"share\"] < 1.3, f
assert p[\"lines\"][0][\"function\"]==\"extra\" and abs(sum(x[\"change_s\"] for x in p[\"functions\"])-p[\"cpu_change_s\"]) < 1e-6"'
    check "and its output is kept away" bash -c '
        assay bench -r 3 "echo loud; ./two 0" "echo loud; ./two 1" --profile >p.txt && ! grep -qx loud p.txt'
fi
check "--profile needs something to compare with" status_is 2 assay bench -r 2 --profile true
check "a program without benchmarks is an error" status_is 1 assay bench --functions /bin/true
check "another program is an error" status_is 1 assay bench --functions /bin/echo
finish
