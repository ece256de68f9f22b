#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay stat end to end, on software events, which every machine counts.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
if ! assay stat -e page-faults true 2>why; then
    cat why
    exit 77
fi
check "counts a command's page faults" bash -c \
    'assay stat -x, -e page-faults true 2>r; IFS=, read -r v unit event rest <r; [ "$event" = page-faults ] && [ "$v" -gt 10 ] && [ "$v" -lt 5000 ]'
check "children are counted too" bash -c '
    one=$(assay stat -x, -e page-faults sh -c "exit 0" 2>&1 | cut -d, -f1)
    ten=$(assay stat -x, -e page-faults sh -c "for i in 1 2 3 4 5; do /bin/true; done" 2>&1 | cut -d, -f1)
    [ "$ten" -gt $((one + 100)) ]'
check "unless -i leaves them out" bash -c '
    all=$(assay stat -x, -e page-faults sh -c "for i in 1 2 3 4 5; do /bin/true; done" 2>&1 | cut -d, -f1)
    own=$(assay stat -i -x, -e page-faults sh -c "for i in 1 2 3 4 5; do /bin/true; done" 2>&1 | cut -d, -f1)
    [ "$own" -lt "$all" ]'
check "the exit status is the command's" status_is 3 assay stat -e task-clock sh -c 'exit 3'
check "a signal too" status_is 143 assay stat -e task-clock sh -c 'kill $$'
check "the command's output is untouched" bash -c '[ "$(assay stat -e task-clock echo hello 2>/dev/null)" = hello ]'
check "repeats show the error and an interval" bash -c 'assay stat -r 4 -e page-faults true 2>&1 | grep -q "page-faults.*±.*\[.*…"'
check "a table of the runs" bash -c '[ "$(assay stat -r 4 --table -e task-clock true 2>&1 | grep -cE "^ +[1-4] +0\.")" = 4 ]'
check "CPUs utilised is derived" bash -c 'assay stat -e task-clock sh -c "i=0; while [ \$i -lt 20000 ]; do i=\$((i+1)); done" 2>&1 | grep -q "CPUs utilized"'
check "JSON is one object a line" bash -c \
    'assay stat -j -e task-clock,page-faults true 2>j; python3 -c "
import json; rows=[json.loads(l) for l in open(\"j\")]; assert [r[\"event\"] for r in rows]==[\"task-clock\",\"page-faults\"] and float(rows[1][\"counter-value\"])>10"'
check "intervals add up to the whole" bash -c '
    assay stat -I 50 -x, -e page-faults sh -c "for i in 1 2 3 4 5 6; do /bin/true; sleep 0.1; done" 2>p
    python3 -c "
rows=[l.split(\",\") for l in open(\"p\")]
assert len(rows)>=3 and sum(float(r[1]) for r in rows if r[1][0]!=\"<\")>150"'
check "a delay leaves the start out" bash -c '
    v=$(assay stat -D 60000 -x, -e page-faults sh -c "/bin/true; sleep 0.1" 2>&1 | cut -d, -f1); [ "$v" = "<not counted>" ] || [ "$v" = 0 ]'
check "and counts what comes then" bash -c '
    v=$(assay stat -D 1 -x, -e page-faults sh -c "sleep 1; for i in 1 2 3 4 5; do /bin/true; done" 2>&1 | cut -d, -f1); [ "$v" -gt 100 ]'
check "a timeout ends it" bash -c 'SECONDS=0; assay stat --timeout 100 -e task-clock sleep 20 2>/dev/null; [ $SECONDS -lt 5 ]'
check "another process is counted while it runs" bash -c '
    (while :; do :; done) & pid=$!
    assay stat -x, -p $pid --timeout 1000 -e task-clock 2>r; kill $pid
    python3 -c "v=float(open(\"r\").read().split(\",\")[0]); assert v > 1, v"'
check "a process that is not there is an error" status_is 1 assay stat -p 999999999 -e task-clock
check "a missing command is an error" status_is 1 assay stat -e task-clock nonexistent-x
check "an unknown event is an error" bash -c 'assay stat -e no-such-event true 2>&1 | grep -q no-such-event'
check "nothing to count is a usage error" status_is 2 assay stat
check "-r and -I exclude each other" status_is 2 assay stat -r 3 -I 100 true
check "usual events that cannot be had give no rows" bash -c '! assay stat true 2>&1 | grep -q "not supported"'
check "those that were asked for have one, with the reason" bash -c '
    assay stat -e mem:0x0/8:rwx,task-clock true >r 2>&1; assay stat -e no-pmu-cycles true 2>/dev/null && exit 1
    assay stat -x, -e cycles,instructions,LLC-loads,task-clock true 2>c && assay stat -j -e cycles,instructions,LLC-loads,task-clock true 2>j && python3 -c "
import json
rows = [l.rstrip().split(\",\") for l in open(\"c\")]
objects = [json.loads(l) for l in open(\"j\")]
assert [r[2].removesuffix(\":u\") for r in rows] == [\"cycles\", \"instructions\", \"LLC-loads\", \"task-clock\"], rows
for row, o in zip(rows, objects):
    assert o[\"event\"] == row[2]
    if row[0] == \"<not supported>\":
        assert len(row[6]) > 10 and o[\"metric-unit\"] == row[6] and o[\"counter-value\"] == row[0], (row, o)
    else:
        assert float(row[0]) > 0"'
check "and what would help stands below, as assay list says it" bash -c '
    assay stat -e cycles true 2>r && { ! grep -q "not supported" r || grep -qF "$(assay list cycles | sed -n "s/^  -> //p" | head -n 1)" r; }'
check "nothing that can be counted is not a failure of the command" status_is 5 assay stat -e LLC-prefetch-misses sh -c "exit 5"
check "the last interval is always printed, with its length" bash -c '
    for i in 1 2 3 4; do assay stat -I 1000 -e task-clock sleep 0.02 2>r && grep -q "task-clock" r && grep -q "this interval: [0-9.]* ms instead of 1000 ms" r || { cat r; exit 1; }; done'
check "also of a job of a millisecond" bash -c '
    for i in 1 2 3 4; do assay stat -I 100 -x, -e page-faults true 2>r && [ "$(cut -d, -f2 r)" -gt 10 ] || { cat r; exit 1; }; done'
check "--interval-count stops there" bash -c '[ "$(assay stat -I 20 --interval-count 2 -x, -e task-clock sleep 5 2>&1 | wc -l)" = 2 ]'
check "--append goes on behind what the file has" bash -c '
    echo first >a && assay stat --append -o a -e task-clock true && assay stat --append -o a -e task-clock true && [ "$(head -n 1 a)" = first ] && [ "$(grep -c task-clock a)" = 2 ]'
check "--log-fd writes to a descriptor" bash -c 'assay stat --log-fd 7 -e task-clock true 7>fd 2>e && grep -q task-clock fd && [ ! -s e ]'
check "a closed one is an error" status_is 1 assay stat --log-fd 77 -e task-clock true
check "--quiet prints nothing" bash -c '[ -z "$(assay stat --quiet -e task-clock true 2>&1)" ]'
check "--no-big-num groups no digits" bash -c '
    assay stat --no-big-num -e page-faults sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done" 2>&1 | grep -qE "^ +[0-9]{4,}  "'
check "-v adds the raw counts" bash -c 'assay stat -v -e page-faults true 2>&1 | grep -qE "^page-faults: [0-9]+ [0-9]+ [0-9]+$"'
check "--pre and --post run around each run" bash -c '
    assay stat -r 2 --pre "echo pre >>l" --post "echo post >>l" -e task-clock sh -c "echo run >>l" 2>/dev/null && [ "$(tr "\n" " " <l)" = "pre run post pre run post " ]'
check "a failing --pre is an error" status_is 1 assay stat --pre "exit 3" -e task-clock true
check "--summary adds the whole" bash -c '
    assay stat -I 30 --summary -x, -e page-faults sh -c "/bin/true; sleep 0.1; /bin/true" 2>r && [ "$(grep -c summary r)" = 1 ] && python3 -c "
rows = [l.strip().split(\",\") for l in open(\"r\")]
parts = sum(int(r[1]) for r in rows if r[0] != \"summary\" and r[1].isdigit())
assert parts == int(rows[-1][1]) > 50, rows"'
check "times are events too" bash -c '
    assay stat -x, -e duration_time,user_time,system_time,page-faults sleep 0.05 2>r && python3 -c "
d, u, s, f = [l.strip().split(\",\") for l in open(\"r\")]
assert 5e7 < int(d[0]) < 5e9 and d[1:3] == [\"ns\", \"duration_time\"] and int(u[0]) + int(s[0]) < int(d[0]) and int(f[0]) > 10"'
check "-M counts what a figure needs" bash -c 'assay stat -M CPUs_utilized,page_faults_per_second -x, true 2>&1 | cut -d, -f3 | tr "\n" " " | grep -qx "task-clock page-faults "'
check "an unknown figure is a usage error that lists them" bash -c 'assay stat -M nonsense true 2>r; [ $? = 2 ] && grep -q insn_per_cycle r'
check "--metric-only prints only figures" bash -c '
    assay stat --metric-only -j -e task-clock,page-faults true 2>&1 | python3 -c "
import json, sys
d = json.load(sys.stdin); assert float(d[\"CPUs utilized\"]) > 0 and len(d) == 2, d"'
check "--topdown counts or says why not" bash -c 'assay stat --topdown true 2>r; s=$?; [ $s = 0 ] || { [ $s = 1 ] && grep -q "no top-down events" r && grep -q hint r; }'
check "--all-user leaves the kernel out" bash -c '
    all=$(assay stat -x, -e page-faults cat /proc/version 2>&1 >/dev/null | cut -d, -f1); user=$(assay stat -x, --all-user -e page-faults cat /proc/version 2>&1 >/dev/null | cut -d, -f1); [ "$user" -le "$all" ]'
check "-D -1 counts only when told to" bash -c '
    mkfifo ctl ack; exec 8<>ack
    assay stat -x, -D -1 --control fifo:ctl,ack -e page-faults sh -c "sleep 0.6; for i in 1 2 3; do /bin/true; done; echo disabled-soon; sleep 0.3; for i in 1 2 3 4 5 6; do /bin/true; done" 2>r >o & pid=$!
    sleep 0.2; echo enable >ctl; read -t 5 answer <&8; [ "$answer" = ack ] || exit 1
    while ! grep -q soon o; do sleep 0.02; done; echo disable >ctl; read -t 5 answer <&8; wait $pid
    n=$(cut -d, -f1 r); [ "$n" -gt 60 ] && [ "$n" -lt 500 ] || { cat r; exit 1; }'
check "--all-kernel leaves the program out" bash -c '
    all=$(assay stat -x, -e page-faults true 2>&1 | cut -d, -f1); kernel=$(assay stat -x, --all-kernel -e page-faults true 2>r; cut -d, -f1 r)
    [ "$(id -u)" != 0 ] || [ "$kernel" -lt "$all" ]'
check "-S writes files to disk before each run, and counts it not" bash -c '
    dd if=/dev/zero of=unwritten bs=64k count=8 2>/dev/null; assay stat -S -r 2 -x, -e page-faults true 2>r && [ "$(cut -d, -f1 r | cut -d. -f1)" -lt 5000 ]'
check "-B is the default" bash -c '
    for o in -B --big-num; do assay stat $o -e page-faults sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done" 2>&1 | grep -qE "^ +[0-9]+ [0-9]{3}  |^ +[0-9]+,[0-9]{3}  " || exit 1; done'
check "--interval-clear clears the screen before each interval" bash -c '
    assay stat -I 30 --interval-clear -e task-clock sleep 0.1 2>r && python3 -c "
text = open(\"r\").read()
assert text.startswith(chr(27) + \"[H\" + chr(27) + \"[2J\") and text.count(chr(27) + \"[2J\") >= 2, text"'
check "a thread is counted while it runs" bash -c '
    (while :; do :; done) & pid=$!
    assay stat -x, -t $pid --timeout 500 -e task-clock 2>r; assay stat --per-thread -x, -p $pid --timeout 500 -e task-clock 2>e; kill $pid
    python3 -c "
t, e = open(\"r\").read().split(\",\"), open(\"e\").read().split(\",\")
assert float(t[0]) > 1 and e[0].endswith(\"-$pid\") and float(e[1]) > 1, (t, e)"'
check "options of perf that mean nothing here are taken" bash -c 'assay stat --scale --metric-no-group --metric-no-merge -e task-clock true 2>/dev/null'
for option in -g --group -T --transaction --no-scale --hybrid-merge --percore-show-thread --smi-cost --iostat --cputype=core --td-level=1; do
    check "$option of perf is refused with what to type instead" bash -c 'assay stat $0 -e task-clock true 2>r; [ $? = 2 ] && grep -q "no option" r && grep -q "^hint: .*-" r && ! grep -q "see .assay stat --help" r' $option
done
check "nonsense for --control is a usage error" status_is 2 assay stat --control x true
if [ "$(id -u)" = 0 ]; then
    for part in core die socket node; do
        check "the machine by $part" bash -c '
            assay stat -a --per-$0 -x, -e cpu-clock sleep 0.05 2>r && assay stat -a -x, -e cpu-clock sleep 0.05 2>all && python3 -c "
rows = [l.split(\",\") for l in open(\"r\")]
cpus = sum(int(r[1]) for r in rows)
import os
assert cpus == len(os.sched_getaffinity(0)) or cpus >= 1, rows
assert all(float(r[2]) > 10 * int(r[1]) for r in rows) and len({r[0] for r in rows}) == len(rows), rows"' $part
    done
    check "one CPU of the machine" bash -c 'assay stat -C 0 -x, -e cpu-clock sleep 0.05 2>r && [ "$(cut -d, -f1 r | cut -d. -f1)" -ge 40 ]'
    if assay stat -a --for-each-cgroup / -e cpu-clock true 2>groups; then
        check "control groups, a row for each event" bash -c 'assay stat -a --for-each-cgroup / -x, -e cpu-clock,page-faults sleep 0.05 2>r && [ "$(cut -d, -f4 r | tr "\n" " ")" = "/ / " ]'
        # Kernels were seen that count nothing for a control group from some moment on; perf says so too then.
        if command -v perf >/dev/null && perf stat -a -e cpu-clock -G / -x, sleep 0.05 2>&1 | grep -q 'not counted'; then
            skip "-G counts one" 'the kernel counts nothing for control groups, not for perf either'
        else
            check "-G counts one" bash -c 'assay stat -a -G / -x, -e cpu-clock sleep 0.05 2>r && [ "$(cut -d, -f1 r | cut -d. -f1)" -ge 40 ]'
        fi
    else
        skip "control groups" "$(head -n 1 groups)"
    fi
    if assay stat -e sched:sched_switch true 2>t && grep -qE "[0-9] +sched" t; then
        check "a glob of tracepoints" bash -c '[ "$(assay stat -x, -e "sched:sched_wak*" true 2>&1 | grep -c "sched:sched_wak")" -ge 2 ]'
        check "a filter" bash -c '
            all=$(assay stat -x, -e raw_syscalls:sys_enter ls / 2>&1 >/dev/null | cut -d, -f1)
            none=$(assay stat -x, -e raw_syscalls:sys_enter --filter "id == 9999" ls / 2>&1 >/dev/null | cut -d, -f1); [ "$all" -gt 20 ] && [ "$none" = 0 ]'
        check "a filter that the kernel refuses is an error" status_is 2 assay stat -e sched:sched_switch --filter "nonsense > 1" true
    fi
    check "a filter without a tracepoint is a usage error" status_is 2 assay stat -e page-faults --filter "x > 1" true
    check "a control group of that name is missing" bash -c 'assay stat -a -G no-such-group -e cpu-clock true 2>r; [ $? = 1 ] && grep -q "no-such-group\|no control groups" r'
fi
# perf's own tests of what -x and -j print, with this program in perf's place.
tests=$(ls -d /usr/lib/perf-core/tests/shell /usr/libexec/perf-core/tests/shell 2>/dev/null | head -n 1)
if [ -n "$tests" ] && [ "$(id -u)" = 0 ]; then
    mkdir shim && printf '#!/bin/sh\nexec "%s" "$@"\n' "$ASSAY" >shim/perf && chmod +x shim/perf
    for script in stat+csv_output stat+json_output stat+csv_summary; do
        check "perf's $script reads what we print" env PATH="$PWD/shim:$PATH" bash "$tests/$script.sh"
    done
fi
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] && command -v setpriv >/dev/null; then
    cp "$ASSAY" ./unprivileged && chmod 755 . unprivileged
    check "what only the kernel raises is not shown as 0 without rights" bash -c '
        ! setpriv --reuid 65534 --clear-groups ./unprivileged stat true 2>&1 | grep -q "0 *context-switches:u"'
fi
check "each -d asks for more" bash -c '
    for d in -d -dd -ddd; do assay stat $d true 2>&1 | grep -oE "[A-Za-z0-9]+-[a-z]*-?(loads|misses|prefetches|prefetch-misses)" | sort -u | wc -l; done >n
    set -- $(cat n); [ "$1" -lt "$2" ] && [ "$2" -lt "$3" ]'
check "a page shows table and runs" bash -c '
    assay stat -r 5 -e page-faults,task-clock --html r.html sh -c "exit 0 # <&>" 2>r.txt && grep -q "page-faults" r.txt &&
    grep -q "<td><code>page-faults</code>" r.html && grep -q "&lt;&amp;&gt;" r.html && "$TOP/tests/tools/page_block.py" r.html runs >r.json && python3 -c "
import json; rows = {r[\"event\"]: r for r in json.load(open(\"r.json\"))[\"rows\"]}
assert all(rows[e][\"points\"] == 5 and rows[e][\"low\"] <= rows[e][\"mean\"] <= rows[e][\"high\"] for e in (\"page-faults\", \"task-clock\")), rows
assert abs(rows[\"page-faults\"][\"sum\"] / 5 - rows[\"page-faults\"][\"mean\"]) < 1e-9, rows"'
check "or intervals" bash -c '
    assay stat -I 20 -x, -e task-clock --html i.html sh -c "i=0; while [ \$i -lt 300000 ]; do i=\$((i+1)); done" 2>i.txt &&
    "$TOP/tests/tools/page_block.py" i.html runs | python3 -c "
import json, sys; about = json.load(sys.stdin); assert about[\"over_time\"] and about[\"rows\"][0][\"points\"] >= 2, about"'
check "the result goes to a file" bash -c 'assay stat -o o -e task-clock true 2>e && [ ! -s e ] && grep -q task-clock o'
check "each line of JSON has perf's members and no others" bash -c '
    assay stat -j -e task-clock,page-faults true 2>&1 | python3 -c "
import json, sys
members = [\"counter-value\", \"unit\", \"event\", \"event-runtime\", \"pcnt-running\", \"metric-value\", \"metric-unit\"]
assert [list(json.loads(l)) for l in sys.stdin] == [members] * 2"'
check "a report of a recording is what was printed" bash -c '
    assay stat -r 3 -e page-faults,task-clock --recording r.assay sh -c "exit 4" 2>printed; [ $? = 4 ] &&
    assay report r.assay >shown && tail -n +2 printed | cmp - shown'
check "also by intervals, and CPU by CPU" bash -c '
    assay stat -I 40 -e page-faults,task-clock --recording i.assay sleep 0.15 2>printed &&
    assay report i.assay | cmp - printed || exit 1
    assay stat -a -A -e cpu-clock --recording c.assay sleep 0.05 2>printed || exit 0 # needs rights
    assay report c.assay >shown && tail -n +2 printed | cmp - shown'
check "a recording of times alone has runs" bash -c '
    assay stat -n -r 2 --recording n.assay true 2>/dev/null && [ "$(assay export n.assay --format csv | wc -l)" = 3 ]'
check "its JSON has what each run counted" bash -c '
    assay report r.assay --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
assert (d[\"schema\"], d[\"version\"]) == (\"assay-runs\", 1)
values = [v[\"value\"] for r in d[\"runs\"] for v in r[\"values\"] if v[\"event\"] == \"page-faults\"]
event = d[\"counts\"][0][\"events\"][0]
assert len(values) == 3 and all(v > 10 for v in values), values
assert abs(event[\"value\"][\"mean\"] - sum(values) / 3) < 1e-6 and event[\"value\"][\"low\"] <= event[\"value\"][\"mean\"]
assert [r[\"status\"] for r in d[\"runs\"]] == [4] * 3 and all(r[\"wall_ns\"] > 0 for r in d[\"runs\"])"'
check "intervals add up to the run in a recording" bash -c '
    assay report i.assay --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
parts = sum(s[\"value\"] or 0 for s in d[\"series\"] if s[\"event\"] == \"page-faults\")
whole = d[\"counts\"][0][\"events\"][0][\"value\"][\"mean\"]
assert len(d[\"series\"]) >= 6 and 0 < parts <= whole, (parts, whole)"'
check "a database has the same values" bash -c '
    assay export r.assay --format sqlite -o r.db && python3 -c "
import sqlite3
c = sqlite3.connect(\"r.db\")
(runs, mean), = c.execute(\"SELECT runs, mean FROM counts WHERE event = \x27page-faults\x27\")
values = [v for v, in c.execute(\"SELECT value FROM run_values WHERE metric_id = 1\")]
assert runs == 3 and abs(mean - sum(values) / 3) < 1e-9, (runs, mean, values)"'
check "a format of samples says what the recording holds" bash -c '
    ! assay export r.assay --format pprof -o r.pb.gz 2>why && grep -q "3 runs of" why && [ ! -e r.pb.gz ]'
check "an older recording is kept" bash -c '
    cp r.assay old; ! assay stat --recording r.assay true 2>why && grep -q -- --force why && cmp r.assay old &&
    assay stat --recording r.assay --force true 2>/dev/null && ! cmp -s r.assay old'
check "a command that does not start leaves no recording" bash -c '
    ! assay stat --recording x.assay nonexistent-x 2>/dev/null && [ -z "$(ls x.assay* 2>/dev/null)" ]'
# A filter that refuses perf events, as containers have: the times are there, and the reason.
gcc -O1 -o no_perf "$TOP/tests/programs/no_perf.c" || exit 1
filtered() {
    ./no_perf "$ASSAY" stat -- sh -c 'exit 3' >out 2>&1
    [ $? = 3 ] && grep -q ' s   elapsed' out && grep -q 'Not available here: .*task-clock' out && grep -q 'sysctl\|seccomp=unconfined' out || { cat out; return 1; }
    [ "$(id -u)" = 0 ] || return 0
    ! grep -q paranoid out || { cat out; return 1; }
    ./no_perf "$ASSAY" stat -e libc.so.6:malloc -- true >out 2>&1 # a probe is refused by the filter, not for want of root
    [ $? = 1 ] && grep -q seccomp out && grep -q breakpoints out && ! grep -q 'need root' out || { cat out; return 1; }
}
if ./no_perf true; then check 'a filter that refuses perf events leaves the times' filtered; else skip 'a filter' 'no seccomp filters here'; fi
finish
