#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Places in programs as events: functions, returns, lines, markers, wildcards, arguments.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -o probes "$TOP/tests/programs/probes.c" || exit 1
gcc -g -O0 -o plain "$TOP/tests/programs/probes.c" || exit 1
PROGRAM=./probes
if [ "$(id -u)" != 0 ]; then skip_all 'probes need root'; fi
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip_all 'this kernel has no uprobe events'
N=800

# field EXPRESSION: of the report `r` in report.json
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); sys.exit(not eval(sys.argv[1]))' "$1"; }
probe() { # EVENT … [-- CMD …]: a recording and its report
    local options=()
    for event; do options+=(-e "$event"); done
    rm -f p.assay
    assay record -q -o p.assay "${options[@]}" -- $PROGRAM $N >/dev/null 2>err && assay report --json p.assay >report.json
}
count() { # NUMBER: so many hits, none lost, each with its whole stack
    field "r['metric']['total'] == $1 and r['truth']['samples_lost'] == 0 and r['truth']['complete_stacks'] == 1" ||
        { python3 -c 'import json; r = json.load(open("report.json")); print(r["metric"], r["truth"])'; return 1; }
}

check 'a function of a file' probe './probes:parse'
check 'is counted exactly' count $((N + N / 4 + N / 8))
# Both costs were measured when the recording began; a hit with cold caches is never the cheaper one.
costs() {
    assay report p.assay --wide | tr '\n' ' ' |
        sed -nE 's/.*a hit costs ([0-9.]+) µs in a loop, ([0-9.]+) µs or more with cold caches.*/\1 \2/p' >costs
    awk '$1 > 0 && $2 >= $1 { found = 1 } END { exit !found }' costs || { assay report p.assay; return 1; }
}
check 'and the report says what a hit costs' costs
check 'by its name alone, where no event has it' probe 'parse'
check 'is the same' count $((N + N / 4 + N / 8))
check 'beside an event' eval "probe 'page-faults,parse' && field \"any(m['name'] == 'parse' for m in r['metrics'])\""
no_such_name() { ! assay record -f -o x.assay -e parze -- ./probes 1 >/dev/null 2>err && grep -q "unknown event 'parze'" err; }
check 'a name that neither an event nor a function has' no_such_name
check 'a function of the program that runs' probe 'probes:parse len=%di'
histogram() { field "[(b['low'], b['count']) for b in r['arguments'][0]['histogram']][:2] == [(0, $N // 4 + 1), (1, $N // 4)]"; }
check 'with the values of an argument' histogram
check 'the smaller type of an argument' probe 'probes:parse len=%di:u8'
check 'is obeyed' field "r['arguments'][0]['most'] <= 255"
check 'the value that a function returns' probe 'parse%return $retval'
check 'at all its return instructions' count $((N + N / 4 + N / 8))
check 'which lie in the function itself' field "r['rows'][0]['name'] == 'parse' and r['rows'][0]['self_share'] > 0.999"
check 'a function that ends in a jump' probe 'tail%return'
check 'returns, too' count $((N / 8))
check 'and is in the stack' field "r['rows'][0]['name'] == 'tail'"
PROGRAM=./plain
check 'a line' probe "probes.c:$(grep -n 'line 32' "$TOP/tests/programs/probes.c" | cut -d: -f1)"
check 'of which each passage counts' count $((N / 2))
PROGRAM=./probes
gcc -g -O2 -o probe_texts "$TOP/tests/programs/probe_texts.c" || exit 1
PROGRAM=./probe_texts
check "the text that a function returns, in perf's words" probe 'answer%return +0($retval):string'
counted() { field "{t['text']: t['count'] for t in r['arguments'][0]['texts']} == {'no': 25, 'yes 0': 25, 'yes 1': 25, 'yes 2': 25}"; }
check 'is counted by text' counted
check 'the report shows them' eval 'assay report p.assay >t.txt && grep -q "25  25.0%  \"no\"" t.txt'
check 'and the export as perf script' eval 'assay export -f perf-script p.assay | grep -q "answer%return: +0(\$retval)=\"no\"$"'
check 'anonymous exports have none' eval 'assay export -f perf-script --anonymise p.assay >t.txt && grep -q "=\"\"$" t.txt && ! grep -q yes t.txt'
check 'exports of numbers have none' eval 'assay export -f pprof -o t.pb.gz --force p.assay && assay report --json t.pb.gz | python3 -c "import json, sys; sys.exit(any(\"retval\" in m[\"name\"] for m in json.load(sys.stdin)[\"metrics\"]))"'
cat >texts.py <<'PY'
import csv, sqlite3, sys
expected = {"no": 25, "yes 0": 25, "yes 1": 25, "yes 2": 25}
rows = list(csv.DictReader(open("t.csv", newline="")))
name = next(n for n in rows[0] if n.endswith("+0($retval)"))
assert {r[name]: 0 for r in rows}.keys() == expected.keys(), rows[0]
assert all(sum(int(r["value"]) for r in rows if r[name] == t) == n for t, n in expected.items())
db = sqlite3.connect("t.sqlite")
assert dict(db.execute("SELECT text, samples FROM frequent_texts WHERE metric = ?", (name,))) == expected
assert db.execute("SELECT unit, kind, total FROM metrics WHERE name = ?", (name,)).fetchall() == [("text", "text", 100)]
for table in "sample_values", "stack_values":
    assert db.execute(f"SELECT count(DISTINCT metric_id) FROM {table}").fetchone() == (1,), table
page = open("t.html").read()
assert all(f"<tr><td>{n}</td><td><code>{t}</code></td></tr>" in page for t, n in expected.items())
if len(sys.argv) > 1:
    import duckdb
    assert dict(duckdb.sql("SELECT text, count(*) FROM 't.parquet/texts.parquet' GROUP BY 1").fetchall()) == expected
    assert duckdb.sql("SELECT count(DISTINCT metric) FROM 't.parquet/samples.parquet'").fetchall() == [(1,)]
PY
exported() {
    for format in csv sqlite parquet; do assay export -f $format -o t.$format --force p.assay || return; done
    assay view p.assay --no-open --html t.html && python3 texts.py
}
check 'tables and the page hold the texts, not their numbers' exported
tables=$TOP/build/readers/tables/bin/python # tools/foreign-readers installs DuckDB
if [ -x "$tables" ]; then
    check 'DuckDB too' "$tables" texts.py parquet
else
    skip 'DuckDB too' 'no DuckDB: tools/foreign-readers'
fi
check 'texts behind a pointer, of a register and of a variable' probe './probe_texts:look inner=+0(+8(%di)):string second=%si:ustring name:string'
check 'a long one is cut' field "'x' * 247 + '…' in [t['text'] for t in r['arguments'][0]['texts']]"
check 'an escape sequence does not reach a terminal' eval 'assay report p.assay >t.txt && grep -q "31mred" t.txt && ! grep -q "$(printf "\033")" t.txt'
check 'what cannot be read is said' field "all(('(fault)', 10) in [(t['text'], t['count']) for t in a['texts']] for a in r['arguments'][1:])"
check 'at most four' status_is 1 assay record -q -f -o f.assay -e './probe_texts:look a=%di:string b=%di:string c=%di:string d=%di:string e=%di:string' -- ./probe_texts
check 'a text of nothing is refused' status_is 2 assay record -q -f -o f.assay -e './probe_texts:look +0(%nothing):string' -- ./probe_texts
cat >lines.py <<'PY'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
try:
    for line in ("echo one", "true", "true", "exit"):
        while not said.endswith(b"$ ") and not said.endswith(b"# "):
            said += os.read(fd, 1000)
        said = b""
        os.write(fd, line.encode() + b"\n")
    while os.read(fd, 1000):
        pass
except OSError:
    pass
os.waitpid(pid, 0)
PY
if assay list /bin/bash readline 2>/dev/null | grep -q 'function .*readline$\|function *readline'; then
    lines() {
        rm -f p.assay
        python3 lines.py "$ASSAY" record -q -o p.assay -e '/bin/bash:readline%return +0($retval):string' -- bash --norc --noprofile -i &&
            assay report --json p.assay >report.json && field "{t['text']: t['count'] for t in r['arguments'][0]['texts']} == {'true': 2, 'echo one': 1, 'exit': 1}"
    }
    check 'the lines that bash reads' lines
else
    skip 'the lines that bash reads' 'bash has no function readline here'
fi
PROGRAM=./probes
check 'wildcards' probe './probes:handle_*'
check 'stand for all that fit' count $((N + N / 4))
check 'and the report tells them apart' field "{f['name']: f['self'] for f in r['rows'] if f['self']} == {'handle_one': $N, 'handle_two': $N // 4}"
check 'a function that is inlined' probe './probes:twice'
check 'has a probe at each place' count $((N + N / 4))
check 'which is said' grep -q 'inlined at 2 places' err
check 'a marker with a semaphore' probe 'sdt_probes:step'
check 'fires' count $N
check 'with its arguments' field "[(a['least'], a['most']) for a in r['arguments']] == [(0, $N - 1), (7, 7)]"
if readelf -n /usr/lib/x86_64-linux-gnu/libstdc++.so.6 2>/dev/null | grep -q stapsdt; then
    printf 'int main() { for (int i = 0; i < 40; i++) try { throw i; } catch (int) {} }\n' >throws.cc
    g++ -O1 -o throws throws.cc || exit 1
    PROGRAM=./throws
    check 'a marker of a library, by its name alone' probe 'sdt_libstdcxx:throw'
    check 'counts what the library does' count 40
    PROGRAM=./probes
fi
check 'two probes in one recording' probe './probes:tail' './probes:handle_two'
check 'each with a metric of its own' field "[m['name'] for m in r['metrics']] == ['probes:tail', 'probes:handle_two']"
check 'the same place twice' probe './probes:parse' './probes:parse'
check 'is one probe' count $((N + N / 4 + N / 8))
check 'a library by its name' probe 'libc.so.6:malloc size=%di'
mallocs() { field "r['arguments'][0]['count'] >= $N and r['arguments'][0]['count'] < $N + 40"; }
check 'counts calls from everywhere' mallocs
check "perf's spelling of a probe" probe 'probe_libc:malloc'
check 'means the same' field "r['metric']['total'] >= $N"
every_tenth() {
    assay record -q -o tenth.assay -e 'libc.so.6:malloc' -c 10 -- ./probes 8000 >/dev/null 2>err &&
        assay report --json tenth.assay >report.json && field "790 <= r['truth']['samples'] + r['truth']['samples_lost'] <= 810 and r['metric']['total'] == r['truth']['samples'] * 10"
}
check 'every tenth hit stands for ten' every_tenth
gcc -g -O1 -fno-builtin -o mallocs "$TOP/tests/programs/mallocs.c" && gcc -g -O0 --coverage -o counted "$TOP/tests/programs/mallocs.c" || exit 1
same_shares() { # SOURCE WORD LINES: shares of lines with the word in report.json and counts.json
    python3 -c 'import json, re, sys
source, word, lines = sys.argv[1], sys.argv[2], int(sys.argv[3])
counts = {l["line_number"]: l["count"] for l in json.load(open("counts.json"))["files"][0]["lines"]}
want = {n: counts[n] for n, text in enumerate(open(source), 1) if re.search(word, text) and counts.get(n)}
name = source.rsplit("/", 1)[-1] + ":"
rows = {r["name"]: r["total"] for r in json.load(open("report.json"))["rows"] if name in r["name"]}
got = {n: sum(v for k, v in rows.items() if k.endswith(f":{n}")) for n in want}
share = lambda d, n: 100 * d[n] / sum(d.values())
print({n: (share(want, n), share(got, n)) for n in want})
sys.exit(len(want) != lines or any(abs(share(want, n) - share(got, n)) > 1 for n in want))' "$@"
}
tenth_malloc() { # CMD …: a report by line
    rm -f p.assay
    assay record -q -m 64M -o p.assay -e libc.so.6:malloc -c 10 -- "$@" >/dev/null 2>err &&
        assay report --json --by line --limit 0 p.assay >report.json
}
lines() { # shares of lines by every tenth malloc are those of a coverage build
    ./counted 50000 && gcov --json-format --stdout counted-mallocs.gcda >counts.json &&
        tenth_malloc ./mallocs 50000 && same_shares "$TOP/tests/programs/mallocs.c" 'malloc\(' 4
}
check 'each line has the share of a coverage build, by one point' lines
csv=$TOP/examples/csv/csv.c
gcc -g -O1 -fno-builtin -o csv "$csv" && gcc -g -O0 --coverage -o csv_counted "$csv" || exit 1
for i in {1..900}; do echo "$i;NAME $i;L$((i % 5));0;L;;;;;N;;;;00$i;"; done >table.txt
csv_lines() {
    ./csv_counted table.txt 3 >/dev/null && gcov --json-format --stdout csv_counted-csv.gcda >counts.json &&
        tenth_malloc ./csv table.txt 3 && same_shares "$csv" '(malloc|strdup|strndup)\(' 5
}
check 'so has each of the CSV program' csv_lines
nothing_stays() {
    [ -z "$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null)" ] || { cat /sys/kernel/tracing/uprobe_events; return 1; }
}
check 'nothing stays behind' nothing_stays
# hint WORD …: the command that "perf probe WORD …" is here
hint() { assay probe "$@" 2>&1 | sed -n 's/^hint: .*in one step: assay //p'; }
habit() { # the hint for perf's two steps, run as it stands: then the second step's options
    local words
    words=$(hint -x /lib/x86_64-linux-gnu/libc.so.6 --add malloc) && [ "$words" = "record -e /lib/x86_64-linux-gnu/libc.so.6:malloc -- CMD" ] || { echo "$words"; return 1; }
    rm -f p.assay
    # shellcheck disable=SC2086 # the words of a command
    assay ${words% -- CMD} -F 999 -q -o p.assay -- ./probes 8000 >/dev/null 2>err && assay report p.assay >habit.txt && grep -q main habit.txt
}
if [ -e /lib/x86_64-linux-gnu/libc.so.6 ]; then check 'perf probe says the one step, which works' habit; fi
check 'also for a line with variables' eval '[ "$(hint -x ./plain -a "probes.c:32 len")" = "record -e '"'./plain:probes.c:32 len'"' -- CMD" ]'
check 'for its lists' eval '[ "$(hint -x ./plain -F)" = "list ./plain" ]'
check 'and for what is to be removed' eval 'assay probe --del malloc 2>&1 | grep -q "is removed when its recording ends"'
in_place() { # a program with a probe is the same file as before
    local before
    before=$(sha256sum probes)
    probe './probes:parse' && [ "$(sha256sum probes)" = "$before" ]
}
check 'the file is not changed' in_place

gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1
check 'a program that starts threads runs on' status_is 7 assay record -q -o t.assay -e ./spin:main -- ./spin 10 exit 7
gcc -g -O0 --coverage -fprofile-update=atomic -pthread -o late_calls "$TOP/tests/programs/late_calls.c" || exit 1
late() { # THREADS PROCESSES CALLS: calls by the probe are those that the coverage build counts
    rm -f ./*.gcda p.assay
    assay record -q -m 32M -g none -o p.assay -e ./late_calls:called -- ./late_calls "$@" 2>err &&
        assay report --json p.assay >report.json && gcov --json-format --stdout late_calls*.gcda >counts.json &&
        python3 -c 'import json, sys
counted = [f["execution_count"] for f in json.load(open("counts.json"))["files"][0]["functions"] if f["name"] == "called"][0]
probed, want = json.load(open("report.json"))["metric"]["total"], (1 + int(sys.argv[1]) + 2 * int(sys.argv[2])) * int(sys.argv[3])
sys.exit(0 if probed == counted == want else f"probed {probed}, counted {counted}, of {want}")' "$@"
}
check 'threads that start later are probed from their first call' late 6 0 50
check 'processes, too, with their threads' late 0 5 50
check 'both' late 3 3 100
attached() { # what starts after a recorder has attached
    ./late_calls 4 2 50 1500 &
    local pid=$!
    rm -f p.assay
    assay record -q -o p.assay -e ./late_calls:called -p $pid 2>err; wait $pid
    assay report --json p.assay >report.json && field "r['metric']['total'] == (1 + 4 + 2 * 2) * 50"
}
check 'also of a process that runs' attached
others() { # the same program, started by somebody else while it is recorded
    (sleep 0.5; ./late_calls 2 0 40) &
    rm -f p.assay
    assay record -q -o p.assay -e ./late_calls:called -- ./late_calls 1 0 30 1500 2>err; wait $!
    assay report --json p.assay >report.json && field "r['metric']['total'] == 2 * 30"
}
check 'but no process of somebody else' others
./late_calls 1 0 1 4000 & other=$!
threads() { assay record -f -o t2.assay -e ./late_calls:called -- ./late_calls 4 0 10 2>err && grep -q 'other processes use the file' err; }
check 'where others use the file, threads that are not probed are said' threads
kill $other
check 'every probe of a file that is ours alone' eval "assay record -f -q -o t2.assay -e ./spin:main -e ./spin:cpu_ns -- ./spin 10 threads 4 2>err && ! grep -q 'hands no probe' err"
check 'list names the functions' eval 'assay list ./probes handle_ >l.txt && grep -q "function .*handle_two" l.txt && ! grep -q parse l.txt'
check 'and the markers' eval 'assay list ./probes >l.txt && grep -q "marker .*sdt_probes:step.*-8@" l.txt'
check 'as JSON, too' eval 'assay list --json ./probes parse | python3 -c "import json, sys; d = json.load(sys.stdin); sys.exit([f[\"name\"] for f in d[\"functions\"]] != [\"parse\"])"'
fails() { # STATUS EVENT WORD: refused before anything runs, with a reason that has the word
    status_is "$1" assay record -o f.assay -e "$2" -- touch ran 2>err && grep -q -- "$3" err && [ ! -e ran ] ||
        { cat err; return 1; }
}
check 'a name that no function has is refused, with the nearest' fails 1 "$PWD/probes:parze" "'parse'"
check 'a line without code, with the nearest' fails 1 "$PWD/probes:probes.c:1" 'nearest lines'
check 'a source file that is not there' fails 1 "$PWD/probes:other.c:3" 'no source file'
check 'an address inside an instruction' fails 2 "$PWD/probes:parse+1" 'inside an instruction'
check 'a library that is not there' fails 1 'libnothing.so.9:f' 'is found'
check 'an argument that cannot be' fails 2 "$PWD/probes:parse a=%nothing" 'not an argument'
check 'a returned value at an entry' fails 2 "$PWD/probes:parse \$retval" 'FUNCTION%return'
check 'a marker that neither the program nor its library has' fails 1 'sdt_libc:no_such_marker' 'libc.so.6'
check 'a marker that is not there, with those that are' fails 1 "$PWD/probes:sdt_probes:other" 'sdt_probes:step'
strip -o stripped probes
check 'a stripped program' fails 1 "$PWD/stripped:parse" 'stripped'
gcc -g -c -o probes.o "$TOP/tests/programs/probes.c" || exit 1
check 'an object file' fails 1 "$PWD/probes.o:parse" 'is not linked'
printf '#!/bin/sh\n' >script.sh
check 'a script' fails 1 "$PWD/script.sh:main" 'is a script'
narrow() { # recorded by time, it says why it has no names
    printf 'int main(void) { for (volatile long i = 0; i < 300000000; i++) ; return 0; }\n' >narrow.c
    gcc -m32 -O1 -o narrow narrow.c && assay record -f -o n.assay -- ./narrow 2>err && assay report n.assay >n.txt &&
        grep -q '32-bit programs or libraries' err && ! grep -q 'replaced on disk' err
}
if gcc -m32 -o probes32 -x c - <<<'int main(void) { return 0; }' 2>/dev/null; then
    check 'a program of 32 bits' fails 1 "$PWD/probes32:main" '32-bit'
    check 'which can be recorded by time' narrow
fi
for how in deleted replaced; do # while a process runs it
    cp late_calls going && cp probes later
    ./going 0 0 30 2500 & pid=$!
    eventually grep -q going /proc/$pid/comm
    rm going; if [ $how = replaced ]; then mv later going; fi
    check "a program that was $how while it runs" eval "assay record -f -q -o d.assay -e ./going:called -p $pid 2>err && assay report --json d.assay >report.json && field \"r['metric']['total'] == 30\""
    check 'is probed where it runs, which is said' grep -q "was $how while process $pid runs it" err
    wait $pid
done
python3 - stripped packed <<'PY' # as UPX leaves a program: no section headers, its mark in the head
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
b[40:48] = bytes(8)
b[58:64] = struct.pack("<HHH", 64, 0, 0)
open("headless", "wb").write(b)
at = 64 + 56 * struct.unpack_from("<H", b, 56)[0]
b[at + 4:at + 8] = b"UPX!"
open(sys.argv[2], "wb").write(b)
PY
check 'a program without section headers' fails 1 "$PWD/headless:parse" 'no section headers'
check 'a packed program' fails 1 "$PWD/packed:parse" 'packed by UPX'
if command -v upx >/dev/null && gcc -static -O1 -o big "$TOP/tests/programs/probes.c" 2>/dev/null && upx -q big >/dev/null 2>&1; then
    check 'one that UPX has packed' fails 1 "$PWD/big:parse" 'packed by UPX'
fi
gcc -g -O1 -o deep_calls "$TOP/tests/programs/deep_calls.c" || exit 1
# The first copies have 16 KB, and the stacks 23: without larger ones few are whole.
check 'stacks that are deeper than the first copies' eval 'ASSAY_DEBUG=record:1 assay record -f -q -o d.assay -e ./deep_calls:called -- ./deep_calls 60 50 80 2>err && assay report --json d.assay >report.json'
check 'get larger copies' grep -q "copies of stacks at 'deep_calls:called' have 32768 bytes now" err
check 'and are whole from then on' field "r['truth']['complete_stacks'] > 0.5"
check 'with each hit counted once' field "r['metric']['total'] == 3000 and r['truth']['samples_lost'] == 0"
check 'where deep stacks do not come any more' eval 'ASSAY_DEBUG=record:1 assay record -f -q -o d.assay --copy-stacks -e ./deep_calls:called -- ./deep_calls 60 50 80 60 2>err && assay report --json d.assay >report.json'
again() { [ "$(sed -n 's/.*copies of stacks at .* have \([0-9]*\) bytes now/\1/p' err | tail -n 1)" -le 8192 ] || { cat err; return 1; }; }
check 'copies get smaller again' again
check 'and each hit is counted once, too' field "r['metric']['total'] + r['truth']['samples_lost'] == 63000"
check 'stacks at a probe that is hit often' eval 'ASSAY_DEBUG=record:1 assay record -f -q -o d.assay -e libc.so.6:malloc -- ./mallocs 40000 2>err && assay report --json d.assay >report.json'
smaller() { [ "$(sed -n "s/.*copies of stacks at .* have \([0-9]*\) bytes now/\1/p" err | sort -n | head -n 1)" -le 8192 ] || { cat err; return 1; }; }
check 'get smaller copies' smaller
check 'and are whole all the same' field "r['truth']['complete_stacks'] > 0.99"
many() { for i in $(seq 300); do echo "void many_$i(void) {}"; done; echo 'int main(void) { return 0; }'; }
many | gcc -x c -o many - && check 'more functions than the limit' fails 1 "$PWD/many:many_*" '300 functions'
chmod 755 . && cp "$ASSAY" ./assay.bin && chmod 755 assay.bin probes && mkdir -m 777 theirs
refused() { # what needs rights in any case: a process that runs
    setpriv --reuid 65534 --regid 65534 --clear-groups ./late_calls 0 0 1 20000 & local pid=$!
    eventually grep -q late_calls /proc/$pid/comm
    setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/dev/null ./assay.bin record -o theirs/p.assay -e ./late_calls:called -p $pid >out 2>err
    local status=$?
    kill $pid
    [ $status = 1 ] && grep -q CAP_PERFMON err && grep -q 'by breakpoints: record -e PROBE -- CMD' err && [ ! -s out ]
}
check 'without rights it says so before anything runs' refused
not_counted() {
    setpriv --reuid 65534 --regid 65534 --clear-groups ./assay.bin stat --pre 'touch theirs/ran' -e ./probes:parse -- ./probes $N 2>err
    [ $? = 1 ] && grep -q 'probes need root' err && grep -q 'assay record -e' err && [ ! -e theirs/ran ]
}
check 'stat says so, too' not_counted

# hits OPTION …: "NAME COUNT" of each row that stat counts
hits() { assay stat -j -o rows "$@" >/dev/null 2>err && python3 -c 'import json; [print(r["event"], int(float(r["counter-value"]))) for r in map(json.loads, open("rows"))]'; }
is() { local lines=$1; shift; diff <(echo -e "$lines") <(hits "$@") || { cat rows err; return 1; }; }
ALL=$((N + N / 4 + N / 8))
check 'stat counts a function, a return and a marker' is "probes:parse $ALL\nprobes:tail%return $((N / 8))\nsdt_probes:step $N" \
    -e probes:parse,probes:tail%return -e sdt_probes:step -- ./probes $N
check 'by the names of the functions of a pattern' is "probes:handle_one $N\nprobes:handle_two $((N / 4))" -e './probes:handle_*' -- ./probes $N
inlined() { hits -e './probes:twi*' -- ./probes $N >names && [ "$(wc -l <names)" = 1 ] && grep -q '^probes:twice [1-9]' names; }
check 'and of inlined ones, in one row' inlined
check 'in threads and children' is "late_calls:called 450" -e ./late_calls:called -- sh -c './late_calls 4 2 50'
check 'not in others' is "probes:parse $ALL" -e ./probes:parse --pre "(./probes $N >/dev/null &) " -- ./probes $N
check 'in each run, beside a clock' eval 'is "probes:parse $ALL" -r 2 -e ./probes:parse -- ./probes $N && assay stat -r 2 -e task-clock,./probes:parse -- ./probes $N >/dev/null 2>t && grep -q "± 0.00 %" t'
check 'on all CPUs' is "probes:parse $ALL" -a -e ./probes:parse -- ./probes $N
check 'of the first thread alone' is "probes:parse $ALL" -i -e ./probes:parse -- ./probes $N
late() { # -p: until the process ends, with the threads that start later
    ./late_calls 4 2 50 3000 & local pid=$!
    eventually grep -q late_calls /proc/$pid/comm
    is "$1" "${@:2}" -e ./late_calls:called -p $pid
}
check 'of a process, with its later threads and children' late 'late_calls:called 450'
check 'of its first threads' late 'late_calls:called 50' --per-thread
finish
