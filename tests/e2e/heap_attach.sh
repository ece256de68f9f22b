#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap -p: attaching to a program that runs, and leaving it as it was.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
if [ "$(uname -m)" != x86_64 ]; then echo 'attaching is for x86-64 only'; exit 77; fi
gcc -g -O1 -fno-builtin -pthread -o prog "$TOP/tests/programs/heap_attach.c" 2>gcc.log || { cat gcc.log; exit 1; }
mkfifo to from
timeout 300 ./prog <to >from &
runner=$!
exec {to}>to {from}<from
answer() { local line; read -r -t 20 -u "$from" line && [ "$line" = "$1" ] || { echo "the program answers '$line', not '$1'"; return 1; }; }
do_it() { echo "$1" >&"$to" && answer 'done'; }
answer ready || exit 1
target=$(pgrep -P "$runner")
if ! "$ASSAY" heap -q -f -o first.assay -p "$target" --duration 0.01 2>err; then
    if grep -q 'ptrace is restricted' err; then cat err; exit 77; fi
    cat err
    exit 1
fi

# What the program has in memory, open, and as the first bytes of malloc.
state() {
    sed 's/ .*//' "/proc/$target/maps"
    ls "/proc/$target/fd"
    dd "if=/proc/$target/mem" bs=1 count=16 skip="$malloc" 2>/dev/null | od -An -tx1
}
libc=$(awk '/r-xp.*libc\.so/ || /r-xp.*libc-/ { print $6; exit }' "/proc/$target/maps")
base=$(awk -v libc="$libc" '$6 == libc { sub(/-.*/, "", $1); print $1; exit }' "/proc/$target/maps")
malloc=$((0x$base + 0x$(nm -D "$libc" | awk '$3 ~ /^malloc(@|$)/ { print $1; exit }')))

recorder=
attach() { # OPTION…
    "$ASSAY" heap -q -f -o heap.assay -p "$target" "$@" 2>err &
    recorder=$!
    for _ in $(seq 200); do
        [ "$(dd "if=/proc/$target/mem" bs=1 count=1 skip="$malloc" 2>/dev/null | od -An -tx1)" = ' e9' ] && return 0
        kill -0 "$recorder" 2>/dev/null || break
        sleep 0.02
    done
    cat err
    return 1
}
detach() {
    kill -INT "$recorder"
    wait "$recorder" || { cat err; return 1; }
    "$ASSAY" export -f json --force -o heap.json heap.assay
}
is() { # VALUE METRIC FUNCTION
    local got
    got=$("$TOP/tests/e2e/lib/heap_values.py" "$2" "$3" <heap.json)
    [ "$got" = "$1" ] || { echo "$2 of $3 is $got, not $1"; return 1; }
}
state >before.state
attached() { attach && do_it after && do_it old && do_it old+ && do_it fork && do_it after && detach; }
check 'attach, let the program work, detach' attached
counts() { is 2000 'blocks allocated' after && is 200000 'bytes allocated' after && is 800 'blocks at end' after && is 80000 'bytes at end' after; }
check 'each block is counted, and those of a child process are not' counts
before() { is 21 'blocks allocated' '[before attach]' && is 6552 'bytes allocated' '[before attach]' && is 0 'blocks at end' '[before attach]'; }
# 312 bytes each: what glibc keeps for 300.
check 'blocks from before have a row of their own' before
same_state() { state >after.state; cmp before.state after.state || { diff before.state after.state; return 1; }; }
check 'its memory, descriptors and code are as before' same_state
notes() { "$ASSAY" report --notes heap.assay | tr -s ' \n' ' ' | grep -q -- "$1"; }
check 'a note says how long it was stopped' notes "attached to process $target: [0-9]* functions hooked, its threads stopped for at most [0-9.]* ms"
sampled() { attach --sample 1k && do_it after && detach && notes 'estimates'; }
check 'a sample of the blocks, too' sampled
again() { timeout 20 "$ASSAY" heap -q -f -o other.assay -p "$target" --duration 0.1 2>err; [ $? -eq 1 ] && grep -q 'are not as in the file' err || { cat err; return 1; }; }
twice() { attach && again && do_it after && detach && is 1000 'blocks allocated' after; }
check 'a second recorder is refused, and the first goes on' twice
refused() { # STATUS TEXT OPTION…
    local status=$1 text=$2
    shift 2
    "$ASSAY" heap -q -f -o no.assay "$@" 2>err
    [ $? -eq "$status" ] && grep -q -- "$text" err || { cat err; return 1; }
}
check 'no such process' refused 1 'no process 999999999' -p 999999999
check 'a command beside it' refused 2 'cannot be combined with a command' -p "$target" -- true
kill -STOP "$target"
check 'a stopped process' refused 1 "kill -CONT $target" -p "$target"
kill -CONT "$target"

# other PROGRAM: what a program that loads no library, or another C library, allocates meanwhile.
other() {
    local pid rc=0 feeder
    rm -f others out && mkfifo others
    timeout 30 "$1" <others >out &
    feeder=$!
    exec {others}>others
    for _ in $(seq 200); do pid=$(pgrep -P "$feeder") && break; sleep 0.02; done
    for _ in $(seq 200); do grep -qs ready out && break; sleep 0.02; done
    "$ASSAY" heap -q -f -o heap.assay -p "$pid" 2>err &
    recorder=$!
    for _ in $(seq 200); do find /proc/"$pid"/fd -name '[3-9]*' 2>/dev/null | grep -q . && break; sleep 0.02; done
    sleep 0.3
    printf 'after\nold\n' >&"$others"
    for _ in $(seq 200); do [ "$(grep -c 'done' out)" = 2 ] && break; sleep 0.02; done
    detach || rc=1
    exec {others}>&-
    wait "$feeder" || rc=1
    [ $rc = 0 ] && is 1000 'blocks allocated' after && is 20 'blocks allocated' '[before attach]'
}
gcc -static -g -O1 -fno-builtin -pthread -o static "$TOP/tests/programs/heap_attach.c" 2>gcc.log &&
    check 'a static program' other ./static
if command -v musl-gcc >/dev/null; then
    musl-gcc -g -O1 -fno-builtin -pthread -o musl "$TOP/tests/programs/heap_attach.c" 2>gcc.log &&
        check "a program of musl's" other ./musl
    no_size() { is 0 'bytes allocated' '[before attach]'; }
    check '… whose old blocks have no size' no_size
    musl-gcc -static -g -O1 -fno-builtin -pthread -o musl-static "$TOP/tests/programs/heap_attach.c" 2>gcc.log &&
        check "a static program of musl's" other ./musl-static
fi

killed() {
    attach || return 1
    kill -KILL "$recorder"
    wait "$recorder"
    for _ in $(seq 250); do [ "$(dd "if=/proc/$target/mem" bs=1 count=1 skip="$malloc" 2>/dev/null | od -An -tx1)" != ' e9' ] && ! grep -q /dev/shm/assay "/proc/$target/maps" && break; sleep 0.02; done
    do_it after && same_code && ! grep -q /dev/shm/assay "/proc/$target/maps"
}
same_code() { dd "if=/proc/$target/mem" bs=1 count=16 skip="$malloc" 2>/dev/null | od -An -tx1 | cmp - <(tail -1 before.state); }
check 'the recorder is killed: the program goes on, and its code is as before' killed
attach_again() { attach && do_it after && detach && is 1000 'blocks allocated' after; }
check '… and another one attaches' attach_again

# lives COMMAND…: recorded for a while in its work, which it does again and again, it lives.
lives() {
    "$@" >out &
    local pid runs=$! rc=0
    for _ in $(seq 200); do [ -s out ] && break; sleep 0.02; done
    pid=$(pgrep -P $runs) || pid=$runs
    timeout 30 "$ASSAY" heap -q -f -o heap.assay -p "$pid" --duration 0.2 2>err && kill -0 "$pid" && "$ASSAY" report heap.assay | grep -q '[0-9]  .*work.* v\.' || { cat err; "$ASSAY" report heap.assay; rc=1; }
    kill -KILL "$pid"
    wait $runs
    return $rc
}
if command -v g++ >/dev/null; then
    printf '#include <cstdio>\n#include <map>\n#include <string>\n#include <unistd.h>\n__attribute__((noinline)) static size_t work() { std::map<int, std::string> m; for (int i = 0; i < 100; i++) m[i] = std::string(100, 120); return m.size(); }\nint main() { puts("ready"); fflush(stdout); for (;;) { work(); usleep(2000); } }\n' >v.cc
    g++ -g -O2 -o cplusplus v.cc 2>gcc.log || cat gcc.log
    check 'C++' lives ./cplusplus
    if unshare --pid --mount --fork true 2>/dev/null; then
        check 'a program in a container' lives unshare --pid --mount --fork --mount-proc ./cplusplus
    fi
fi
if command -v rustc >/dev/null; then
    printf 'use std::collections::HashMap;\n#[inline(never)]\nfn work() -> usize { let mut m = HashMap::new(); for i in 0..100 { m.insert(i, format!("value {i}")); } m.len() }\nfn main() { println!("ready"); loop { std::hint::black_box(work()); std::thread::sleep(std::time::Duration::from_millis(2)); } }\n' >v.rs
    rustc -g -O -o rust v.rs 2>rustc.log || cat rustc.log
    check 'Rust' lives ./rust
fi

# A storm of 16 threads on top of which the recorder comes and goes.
echo 'storm 16 3' >&"$to"
storm() {
    local n=0
    while ((SECONDS < 2)); do
        timeout 20 "$ASSAY" heap -q -f -o storm.assay -p "$target" --duration 0.01 2>err || { cat err; return 1; }
        kill -0 "$target" || return 1
        n=$((n + 1))
    done
    echo "attached $n times"
    ((n > 1))
}
SECONDS=0
check 'attached and detached again and again while 16 threads allocate' storm
check '… the program ends its work' answer 'done'
ends() {
    exec {to}>&-
    wait "$runner"
}
code() { dd "if=/proc/$target/mem" bs=1 count=16 skip="$malloc" 2>/dev/null | od -An -tx1 | cmp - <(tail -1 before.state); }
check '… and its code is as before' code
check '… and ends as without' ends
# kill -9 at moments of the attaching, the recording and the detaching: the program goes on, with its own code.
cat >allocates.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (;;) {
        free(malloc(64));
        if (write(1, ".", 1) != 1)
            return 1;
        usleep(2000);
    }
}
C
killed() {
    local calls part status=0 from
    gcc -g -O1 -fno-builtin -o allocates allocates.c || return 1
    ./allocates >alive &
    from=$!
    eventually [ -s alive ] || return 1
    "$TOOLS/fault" any=KILL 0 calls "$ASSAY" heap -q -f -o killed.assay -p "$from" --duration 0.02 || status=1
    calls=$(cat calls)
    for part in 40 50 60 70 80 90 95; do
        "$TOOLS/fault" any=KILL $((calls * part / 100)) fired "$ASSAY" heap -q -f -o killed.assay -p "$from" --duration 0.02 >/dev/null 2>&1
        goes_on || { echo "it ended or hangs by a kill at $part % of the calls"; return 1; }
    done
    eventually "$ASSAY" heap -q -f -o after.assay -p "$from" --duration 0.01 || { echo 'its code is not as before'; status=1; }
    kill "$from"
    return $status
}
goes_on() { local turn; turn=$(stat -c %s alive) && eventually eval '[ "$(stat -c %s alive)" -gt '"$turn"' ]'; }
if "$TOOLS/fault" read=EIO 0 count true 2>/dev/null; then
    check 'a kill of the recorder leaves the program as it was' killed
else
    skip 'a kill of the recorder' 'no system calls can be watched here'
fi
finish
