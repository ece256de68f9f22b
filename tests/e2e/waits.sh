#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --wait: classes, locks, those who held them, stacks, and what comes where it is refused.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" = 0 ] || skip_all 'BPF programs need root'
gcc -g -O2 -fomit-frame-pointer -pthread -o waits "$TOP/tests/programs/waits.c" || exit 1

# The time of a row in microseconds: time_of FILE NAME.
time_of() {
    awk -v name="$2" '
        index($0, name) && $2 ~ /^(ns|µs|ms|s)$/ {
            unit = $2 == "ns" ? 0.001 : $2 == "µs" ? 1 : $2 == "ms" ? 1000 : 1000000
            sum += $1 * unit
        }
        END { printf "%d", sum }' "$1"
}
# What the program measured contains the time until a processor was free, the row does not.
agrees() { # ROW TRUTH RUNNABLE
    local slack=$((truth / 50 + 2000))
    [ "$1" -le $(($2 + slack)) ] && [ $(($1 + $3)) -ge $(($2 - slack)) ]
}

if ! assay record --wait -q -o w.assay -- ./waits >truth.txt 2>err.txt; then
    cat err.txt
    exit 1
fi
assay report w.assay >first.txt
assay report w.assay --by class >class.txt
assay report w.assay --locks >locks.txt
assay report w.assay --by file >file.txt
assay report w.assay --by waker >waker.txt
read -r _ lock _ pipe _ sleep <truth.txt

# Programs are loaded into the kernel before, which takes 0.1 s. The quickest of several starts is judged.
begins_with_the_command() {
    local ms least=1000000
    for _ in 1 2 3 4 5 6 7 8; do
        assay record --wait -q -f -o begin.assay -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' || return 1
        ms=$(assay export -f perf-script begin.assay -o - 2>/dev/null | sed -n 's/.* \([0-9]*\)\.\([0-9]\{3\}\)[0-9]*:.*cpu-clock.*/\1\2/p' | head -n 1)
        ms=$((10#${ms:-1000000}))
        [ "$ms" -ge "$least" ] || least=$ms
        [ "$least" -ge 60 ] || return 0
    done
    echo "the first sample comes after $least ms"
    return 1
}
check 'times count from the start of the command' begins_with_the_command

# Three threads of Python want one lock. Whichever Python this is: its functions may have no names.
if command -v python3 >/dev/null; then
    cat >gil.py <<'END'
import threading, time
def spin(until):
    n = 0
    while time.monotonic() < until:
        for i in range(2000):
            n += i * i % 7
ends = time.monotonic() + 0.7
threads = [threading.Thread(target=spin, args=(ends,)) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
END
    assay record --wait -q -o gil.assay -- python3 gil.py
    assay report gil.assay >gil.txt
    assay report gil.assay --locks >gil-locks.txt
    # Two of the three wait at any time: 1.4 s, less what they wait for a processor.
    check "waits for Python's lock are told apart ($(time_of gil-locks.txt "Python's GIL") µs)" \
        test "$(time_of gil-locks.txt "Python's GIL")" -ge 200000
    check 'the first screen says so' grep -q "Python's GIL [0-9]" <(tr -s ' \n' ' ' <gil.txt)
else
    skip "Python's lock" 'no python3'
fi
runnable=$(time_of class.txt runnable)
truth=$lock
check 'the lock took as long as the program measured' \
    agrees "$(time_of locks.txt 'cache_lock, waited for in lookup')" "$lock" "$runnable"
truth=$pipe
check 'so did the pipe' agrees "$(time_of file.txt 'waited for in reader')" "$pipe" "$runnable"
truth=$sleep
check 'and the sleep' agrees "$(time_of class.txt sleep)" "$((sleep + 160000))" "$((runnable + 160000))"
check 'a child is waited for' test "$(time_of class.txt child)" -ge 40000
check 'the holder is named' grep -q 'cache_lock, waited for in lookup (waits.c:[0-9]*); held by flush' locks.txt
check 'the writer wakes the reader' grep -q ' main (waits.c:' waker.txt
check 'classes add up to the threads and their time' \
    eval "tr -s '\n ' '  ' <first.txt | grep -Eq 'the classes miss 0\.[0-4]'"
check 'all stacks are complete' eval "tr -d '\n' <first.txt | grep -Eo '[0-9]+/[0-9]+ +stacks' | awk -F'[/ ]' '{exit \$1 != \$2}'"
check 'the first screen has the lock and its holder' \
    eval "tr -s '\n ' '  ' <first.txt | grep -Eq \"of main's time waits for cache_lock, held by flush\""
# A sample or two may fall into a function that waits: its first columns are "-" or a share.
# Processor time and waits side by side: function, line, thread, annotated source, data.
check 'a function that only waits is in the table, with what it waits for' \
    grep -Eq '^ +(-|[0-9.]+%) +(-|[0-9.]+%) +[0-9.]+% +[0-9.]+% lock +lookup +waits.c' first.txt
check 'so is its line' grep -q 'lock .*waits.c:[0-9]* .*pthread_mutex_lock' <(assay report w.assay --by line -w)
check 'and its thread' grep -Eq '[0-9.]+% network +waits [0-9]+$' <(assay report w.assay --by thread)
check 'annotate has the wait on its line' \
    grep -Eq '^ +[0-9.]+% +[0-9.]+% .*> +pthread_mutex_lock' <(assay annotate w.assay lookup -w)
assay report w.assay --json >w.json
check 'JSON has all classes of a row' python3 - "$lock" <<'END'
import json, sys
d = json.load(open("w.json"))
row = next(r for r in d["rows"] if r["name"] == "lookup")
waits = row["waits"]
assert waits["self_ns"] == sum(c["self_ns"] for c in waits["classes"].values())
measured = int(sys.argv[1]) * 1000 # with the time until a processor was free
assert waits["classes"]["lock"]["self_ns"] <= 1.02 * measured + 2e6
# Between its clock and the call it may have had no processor, which is not in the row.
assert waits["self_ns"] + d["waits"]["classes"].get("runnable", 0) >= 0.98 * measured - 2e6
assert d["waits"]["all_ns"] == d["waits"]["idle_ns"] + sum(d["waits"]["classes"].values())
line = next(l for l in d["lines"] if "waits" in l and "lock" in l["waits"]["classes"])
assert "pthread_mutex_lock" in line["text"]
END
check 'CSV has them, too' grep -Eq '^[0-9.]+,.*,lookup,.*,[1-9][0-9]*,[1-9][0-9]*,lock' <(assay report w.assay --csv)
check 'a flame graph of both, coloured by class' \
    eval "assay flame --wait w.assay -o both.svg && grep -q 'class=\"l3\"' both.svg && grep -q '\[lock\]' both.svg"
check 'without waits there is none' \
    eval "assay record -q -o plain.assay -- true && ! assay flame --wait plain.assay -o none.svg 2>err.txt && grep -q 'no waits' err.txt"
check 'a flame graph of waits' eval "assay flame w.assay -e 'wall time' -o w.svg && grep -q lookup w.svg"

# Exports have the states of threads, and who ended which wait.
assay export w.assay --format chrome -o w.trace
check 'a Chrome trace has slices that do not overlap, and arrows between them' python3 - "$lock" <<'END'
import collections, json, sys
events = json.load(open("w.trace"))["traceEvents"]
slices, ends, named = collections.defaultdict(list), collections.defaultdict(dict), 0
for e in events:
    if e.get("cat") != "state":
        continue
    if e["ph"] == "X":
        slices[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"], e["args"]))
    else:
        assert e["ph"] in "sf" and (e["ph"] == "s" or e["bp"] == "e"), e
        assert e["ph"] not in ends[e["id"]], e
        ends[e["id"]][e["ph"]] = e
for rows in slices.values():
    assert all(a[1] <= b[0] + 0.01 for a, b in zip(rows, rows[1:])), rows
def at(e):  # the slice that encloses an end
    return next((s for s in slices[e["pid"], e["tid"]] if s[0] - 0.01 <= e["ts"] <= s[1] + 0.01), None)
for two in ends.values():
    assert two["s"]["ts"] == two["f"]["ts"] and two["s"]["tid"] != two["f"]["tid"], two
    assert at(two["s"]) and at(two["f"]), two
locks = [s for rows in slices.values() for s in rows if s[2] == "lock cache_lock"]
assert locks and all(s[3]["at"].startswith("lookup (waits.c:") for s in locks)
assert any(s[3].get("waker at", "").startswith("flush (waits.c:") for s in locks)
total = sum(s[1] - s[0] for s in locks)
assert total <= int(sys.argv[1]) * 1.02 + 2000, total
assert {"running", "lock", "network", "sleep", "child"} <= {s[3]["class"] for rows in slices.values() for s in rows}
END
assay export w.assay --format firefox -o w.firefox
check "Firefox's profile has states as markers with their stack" python3 - <<'END'
import json
d = json.load(open("w.firefox"))
strings, tables = d["shared"]["stringArray"], d["shared"]
def frames(stack):
    while stack is not None:
        function = tables["frameTable"]["func"][tables["stackTable"]["frame"][stack]]
        yield strings[tables["funcTable"]["name"][function]]
        stack = tables["stackTable"]["prefix"][stack]
found = 0
for t in d["threads"]:
    m = t["markers"]
    assert len({m["length"], *(len(m[k]) for k in ("category", "data", "endTime", "name", "phase", "startTime"))}) == 1
    for data, name, category in zip(m["data"], m["name"], m["category"]):
        if data["type"] == "assay-state":
            assert d["meta"]["categories"][category]["name"] == data["class"]
            if data.get("object") == "cache_lock" and strings[name] == "lock cache_lock":
                found += "lookup" in list(frames(data["cause"]["stack"]))
schemas = {s["name"] for s in d["meta"]["markerSchema"]}
assert found and "assay-state" in schemas
END
assay export w.assay --format pprof -o w.pprof
if go tool pprof -h >/dev/null 2>&1; then
    HOME=$PWD go tool pprof -sample_index=lock -tags w.pprof >tags.txt 2>/dev/null
    check 'pprof reads the class and the lock of waits' grep -Eq '[1-9][0-9.]*ms \( *[0-9.]+%\): cache_lock' tags.txt
    HOME=$PWD go tool pprof -sample_index=lock -tagfocus='waits for=cache_lock' -top -cum w.pprof >top.txt 2>/dev/null
    check 'and finds their functions' grep -q ' lookup$' top.txt
else
    skip 'pprof reads the class and the lock of waits' 'no go'
fi
# So has the page: waits as spans of threads, wakings as arrows.
assay view --no-open w.assay --html w.html 2>err.txt
check 'the page has the waits of each thread, and who ended them' python3 - <<'END'
import base64, gzip, json, re, struct
for packed in re.findall(r'<template class="assay">([^<]*)</template>', open("w.html", encoding="utf-8").read()):
    data = gzip.decompress(base64.b64decode(packed))
    size = struct.unpack("<I", data[:4])[0]
    head, at, columns = json.loads(data[4:4 + size]), 4 + size, {}
    for name, kind, count, length in head["columns"]:
        raw, values, value, shift = data[at:at + length], [], 0, 0
        at += length
        for byte in raw if kind in "ud" else b"":
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                if kind == "d":
                    value = (value >> 1 ^ -(value & 1)) + (values[-1] if values else 0)
                values.append(value)
                value = shift = 0
        columns[name] = raw if kind == "t" else values
    if head["about"]["kind"] == "overview":
        break
texts, at = [], 0
for length in columns["str.len"]:
    texts.append(columns["str.text"][at:at + length].decode())
    at += length
first = head["about"]["states"]
rows = list(zip(*(columns["span." + c][first:] for c in ("thread", "start", "end", "name", "detail"))))
assert {"lock", "sleep", "network", "child"} <= {texts[r[3]] for r in rows} and "running" not in {texts[r[3]] for r in rows}
assert any(texts[r[3]] == "lock" and texts[r[4]] == "cache_lock" for r in rows)
wakes = list(zip(columns["wake.from"], columns["wake.to"], columns["wake.time"]))
assert wakes and all(a != b for a, b, _ in wakes)
# An arrow ends where a wait of its thread does; a thread that begins had none.
ends = {(r[0], r[2]) for r in rows}
assert sum((to, time) in ends for _, to, time in wakes) >= len(wakes) / 2
END
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -n "$browser" ] && command -v chromedriver >/dev/null; then
    check 'a browser draws them' "$TOP/tests/tools/screenshots.py" "$(command -v chromedriver)" "$browser" . "time:light:900x600:w.html#tab=timeline"
else
    skip 'a browser draws them' 'no chromium with chromedriver'
fi
# A thread that waits until the recording ends is no running thread.
sleep 3 &
pid=$!
assay record --wait -q --duration 0.2 -o open.assay -p $pid
check 'a wait that goes on has its slice' eval \
    "assay export open.assay --format chrome | python3 -c 'import json, sys; assert any(e[\"name\"].startswith(\"sleep\") and e[\"dur\"] > 100000 for e in json.load(sys.stdin)[\"traceEvents\"] if e.get(\"cat\") == \"state\")'"
kill $pid

# A program that never gets a processor while the machine is recorded has its time, too.
if command -v python3 >/dev/null; then
    sleep 60 &
    pid=$!
    eventually grep -q '^[0-9]* (sleep) S' /proc/$pid/stat # it has got that far
    assay record --wait -q -a --duration 0.3 -o all.assay 2>err.txt
    check 'of all programs of the machine, those that sleep all the time, too' test "$(classes_of_thread all.assay $pid)" = sleep
    kill $pid
fi

# Locks that are no variable of their own have the name that the program's source gives them.
cat >heap.cc <<'END'
#include <chrono>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
struct queue { long head; pthread_mutex_t mutex; };
class Pool {
  public:
    void add() {
        std::lock_guard<std::mutex> guard(mutex_);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  private:
    long pad_[9];
    std::mutex mutex_;
};
static void take(pthread_mutex_t *m) {
    pthread_mutex_lock(m);
    usleep(2000);
    pthread_mutex_unlock(m);
}
int main() {
    auto pool = std::make_unique<Pool>();
    queue *q = new queue{0, PTHREAD_MUTEX_INITIALIZER};
    auto run = [&] { for (int i = 0; i < 20; i++) { pool->add(); take(&q->mutex); } };
    std::thread a(run), b(run), c(run);
    a.join(), b.join(), c.join();
}
END
if g++ -g -O2 -pthread -o heap heap.cc && assay record --wait -q -o heap.assay -- ./heap; then
    assay report heap.assay --locks >heap.txt
    check 'a lock in a C++ object is named by the line that takes it, in the program, not in a header' \
        grep -Eq 'mutex_ \(0x[0-9a-f]+\), waited for in .*heap.cc:[0-9]+' heap.txt
    check 'a lock that a function is given is named by its caller' grep -Eq 'q->mutex \(0x[0-9a-f]+\), waited for in take ' heap.txt
fi

# A running process.
sh -c "for i in 1 2 3 4 5; do ./waits; done" >/dev/null &
pid=$!
check 'a running process' eval "assay record --wait -q --duration 0.4 -o p.assay -p $pid && assay report p.assay --by class | grep -q lock"
wait $pid

# A named pipe is no disk, and a socket has the name of its other end.
mkfifo channel
if timeout 20 "$ASSAY" record --wait -q -o fifo.assay -- sh -c '(sleep 0.15; echo x >channel) & read -r x <channel'; then
    check 'a named pipe is a network, not a disk' \
        awk '$NF == "network" {net = $1 * ($2 == "ms")} $NF == "disk" {disk = $1 * ($2 == "ms")} END {exit !(net > 50 && disk < 50)}' \
        <(assay report fifo.assay --by class)
fi
if command -v python3 >/dev/null; then
    cat >sock.py <<'END'
import socket, threading, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(1)
def serve():
    c, _ = s.accept()
    for _ in range(3):
        time.sleep(0.05)
        c.send(b"x")
    time.sleep(0.1)
threading.Thread(target=serve).start()
c = socket.create_connection(s.getsockname())
for _ in range(3):
    c.recv(1)
print(s.getsockname()[1])
END
    port=$(timeout 20 "$ASSAY" record --wait -q -o sock.assay -- python3 sock.py)
    check 'a socket has the name of its other end' grep -q "tcp 127.0.0.1:$port" <(assay report sock.assay --by file)
fi


# A thread that slept before it was watched, and goes on: its stack is read from its memory.
asleep_before() {
    sleep 60 &
    local pid=$! status=0
    eventually grep -q '^[0-9]* (sleep) S' "/proc/$pid/stat"
    "$ASSAY" record --wait -q -f --duration 0.2 -o asleep.assay -p $pid && grep -q 'clock_nanosleep' <(assay report asleep.assay --tree -e 'wall time') || status=1
    kill $pid
    return $status
}
check 'the stack of a thread that sleeps all the time is known' asleep_before

# A wait of a program in Python is at its own line, not at one of the interpreter or of Python's library.
python_line() {
    cat >lock.py <<'END'
import threading, time
lock = threading.Lock()
def take():
    with lock:
        pass
def hold():
    lock.acquire()
    time.sleep(0.3)
    lock.release()
a, b = threading.Thread(target=hold), threading.Thread(target=take)
a.start()
time.sleep(0.1)
b.start()
a.join()
b.join()
END
    "$ASSAY" record --wait -q -f -o python.assay -- python3 lock.py && assay report python.assay --locks | tr -s '\n ' '  ' >python.txt &&
        grep -q 'waited for in take (lock.py:4)' python.txt
}
if command -v python3 >/dev/null; then
    check 'a wait of Python has the line of the program' python_line
fi

finish
