#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --wait recognises stacks by their return addresses and copies each once: they are equal to full copies of the stack at
# every switch, which perf makes of the same process at the same time.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" = 0 ] || skip_all 'BPF programs and tracepoints need root'
command -v perf >/dev/null || skip_all 'no perf'
g++ -O2 -fomit-frame-pointer -pthread -o pool "$TOP/tests/programs/wait_pool.cc" || exit 1

# compared NAME PID: whether its stacks are equal. The kinds of waits are few and repeat: one in a hundred may not have been
# in the time that both recorded.
compared() {
    timeout 60 perf record -q -e sched:sched_switch --call-graph dwarf,65528 -m 8M -o "$1.data" -p "$2" -- sleep 2 >perf.log 2>&1 &
    local perf=$!
    timeout 60 "$ASSAY" record --wait --no-runtimes -q --duration 2 -o "$1.assay" -p "$2" 2>err.txt
    wait "$perf"
    "$ASSAY" import "$1.data" -o "$1-full.assay" 2>err.txt || return 1
    rm -f "$1.data"
    read -r total equal cut < <(python3 "$TOP/tests/tools/compare_wait_stacks.py" "$ASSAY" "$1.assay" "$1-full.assay")
    echo "# $1: $total waits, $equal have the stack of a full copy, $cut are cut"
    [ "$total" -ge 100 ] && [ "$cut" = 0 ] && [ $((100 * equal)) -ge $((99 * total)) ]
}
./pool 8 &
pid=$!
sleep 0.5
check 'stacks of a pool of threads are those of full copies' compared pool $pid
kill $pid
cat >jobs.py <<'END'
import queue, threading, time
q, lock = queue.Queue(10), threading.Lock()
def work():
    while True:
        q.get()
        with lock:
            time.sleep(0.0005)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
end = time.time() + 8
while time.time() < end:
    q.put(1)
END
if [ -x /usr/bin/python3 ]; then
    /usr/bin/python3 jobs.py &
    pid=$!
    sleep 0.5
    check "stacks of Python's threads, too" compared python $pid
    kill $pid
else
    skip "stacks of Python's threads" 'no /usr/bin/python3'
fi
cat >serve.js <<'END'
const http = require('http'), fs = require('fs');
const server = http.createServer((q, r) => fs.readFile(__filename, (e, d) => setTimeout(() => r.end(d.toString().slice(0, 100)), 2)));
const end = Date.now() + 60000;
server.listen(0, () => {
    const port = server.address().port;
    const go = () => Date.now() > end ? process.exit(0)
        : http.get({port, agent: false}, r => { r.resume(); r.on('end', go); }).on('error', go);
    for (let i = 0; i < 4; i++)
        go();
});
END
if command -v node >/dev/null; then
    node serve.js &
    pid=$!
    sleep 1
    check 'those of Node, whose code is generated' compared node $pid
    kill $pid
else
    skip 'stacks of Node' 'no node'
fi
finish
