#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Probes in programs of other kinds (static, musl), probes of others that come and go meanwhile, and
# a recorder that is killed: the code of the program is as it was, and nothing is left.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
if [ "$(id -u)" != 0 ]; then skip_all 'probes need root'; fi
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip_all 'this kernel has no uprobe events'
programs=$TOP/tests/programs
gcc -g -O0 -pthread -no-pie -o late_calls "$programs/late_calls.c" || exit 1
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); sys.exit(not eval(sys.argv[1]))' "$1"; }
counted() { # HITS PROGRAM EVENT …: each hit of the event is counted, and all stacks are complete
    local hits=$1 program=$2
    shift 2
    assay record -q -f -o p.assay "$@" -- "$program" 2 2 50 >/dev/null 2>err && assay report --json p.assay >report.json &&
        field "r['metric']['total'] == $hits and r['truth']['samples_lost'] == 0 and r['truth']['complete_stacks'] >= 0.99" ||
        { cat err; python3 -c 'import json; r = json.load(open("report.json")); print(r["metric"], r["truth"])'; return 1; }
}
all=$(((1 + 2 + 2 * 2) * 50))
if gcc -g -O0 -static -pthread -o static "$programs/late_calls.c" 2>/dev/null; then
    check 'a static program' counted $all ./static -e ./static:called
    check 'returns in it' counted $all ./static -e './static:called%return'
else
    skip 'a static program' 'no static libc here'
fi
if command -v musl-gcc >/dev/null; then
    musl-gcc -g -O0 -fasynchronous-unwind-tables -pthread -o musl "$programs/late_calls.c" && musl-gcc -g -O0 -static -pthread -o musl_static "$programs/late_calls.c" || exit 1
    # musl itself has no unwind tables: stacks end in it.
    musl_counted() {
        assay record -q -f -o p.assay -e "$1:called" -- "$1" 2 2 50 >/dev/null 2>err && assay report --json p.assay >report.json &&
            field "r['metric']['total'] == $all and r['truth']['samples_lost'] == 0 and [x for x in r['rows'] if x['name'] == 'called' and x['self'] == $all]"
    }
    check 'a program of musl' musl_counted ./musl
    check 'a static one of musl' musl_counted ./musl_static
else
    skip 'a program of musl' 'no musl-gcc here'
fi
# Functions of the kernel, in all spellings.
if [ -e /sys/bus/event_source/devices/kprobe/type ]; then
    kernel_counted() { # EVENT
        assay record -q -f -o p.assay -e "$1" -- cat /dev/null 2>err && assay report --json p.assay >report.json &&
            field "r['metric']['total'] >= 1 and r['truth']['samples_lost'] == 0" || { cat err report.json; return 1; }
    }
    for event in kernel:vfs_read kprobe:vfs_read probe:vfs_read kernel:vfs_read%return kretprobe:vfs_read; do
        check "the kernel's function as $event" kernel_counted $event
    done
    check 'one that it does not have' eval "! assay record -o n.assay -e kernel:no_such_function -- true 2>err && grep -q 'no function .no_such_function. in the kernel' err"
else
    kernel_refused() {
        local event
        for event in kernel:vfs_read kprobe:vfs_read probe:vfs_read kretprobe:vfs_read; do
            ! assay record -o n.assay -e $event -- true 2>err && grep -q "cannot probe 'vfs_read': this kernel has no probes of its functions" err || { cat err; return 1; }
        done
    }
    check "functions of a kernel without kprobes are refused with the reason" kernel_refused
fi
if command -v perf >/dev/null && perf probe -q -x ./late_calls called 2>/dev/null; then
    named=$(perf probe --list 2>/dev/null | awk '/late_calls/ { print $1; exit }')
    removed_meanwhile() { # a probe of perf at the same place is removed while we record
        ./late_calls 0 0 30 1500 & local pid=$!
        eventually grep -q late_calls /proc/$pid/comm
        assay record -q -f -o r.assay -e ./late_calls:called -p $pid 2>err & local recorder=$!
        sleep 0.3
        perf probe -q --del "$named" || { kill $pid; return 1; }
        wait $recorder
        local status=$?
        wait $pid
        [ $status = 0 ] && assay report --json r.assay >report.json && field "r['metric']['total'] == 30"
    }
    check "a probe of perf at the same place that is removed while we record" removed_meanwhile
    check 'leaves none of ours' eval '[ -z "$(perf probe --list 2>/dev/null | grep late_calls)" ]'
else
    skip 'a probe of perf that is removed' 'perf probe does not work here'
fi

# Names as users write them first.
says() { status_is 1 assay record -f -o f.assay "${@:2}" 2>err && tr '\n' ' ' <err | grep -q -- "$1" || { cat err; return 1; }; }
if command -v ldd >/dev/null && ldd ./late_calls | grep -q libc.so.6; then
    check 'a function of a library is not in the program, but its library is named' says '-e libc.so.6:malloc' -e late_calls:malloc -- ./late_calls
fi
if g++ -g -O1 -o named -x c++ - 2>/dev/null <<<'namespace shop { struct Cart { __attribute__((noinline)) int add(int n) { __asm__ volatile(""); return n + 1; } }; }
int main() { shop::Cart c; int s = 0; for (int i = 0; i < 30; i++) s += c.add(i); return s == 0; }'; then
    check 'a method of the program by its name alone' eval "assay record -q -f -o p.assay -e shop::Cart::add -- ./named 2>err && assay report --json p.assay >report.json && field \"r['metric']['total'] == 30\""
    check 'one of another namespace, with the nearest' says "'shop::Cart::add" -e ./named:store::Cart::add -- ./named
fi

# The byte at the function in the memory of the process: 0xcc where a probe is.
at=$((16#$(nm late_calls | awk '$3 == "called" { print $1 }')))
byte() { dd if="/proc/$1/mem" bs=1 skip=$at count=1 2>/dev/null | od -An -tx1 | tr -d ' '; }
is_byte() { [ "$(byte "$1")" = "$2" ]; }
is_not_byte() { [ "$(byte "$1")" != "$2" ]; }
files() { { find /dev/shm /tmp "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay*' ! -name 'assay-test-*' -user "$(id -u)"; cat /sys/kernel/tracing/uprobe_events; } 2>/dev/null | sort -u; }
killed() {
    ./late_calls 0 0 30 6000 >/dev/null & local pid=$!
    eventually grep -q late_calls /proc/$pid/comm
    local before after
    before=$(byte $pid)
    [ -n "$before" ] && [ "$before" != cc ] || return 1
    assay record -q -f -o k.assay -e ./late_calls:called -p $pid 2>err & local recorder=$!
    eventually is_byte $pid cc || return 1
    kill -9 $recorder
    wait $recorder 2>/dev/null
    eventually is_byte $pid "$before" || return 1
    kill -0 $pid || return 1
    after=$(tr '\0' '\n' <"/proc/$pid/environ" | grep -c -i assay)
    wait $pid
    [ $? = 0 ] && [ "$after" = "$(env | grep -c -i assay)" ]
}
if [ "$(uname -m)" = x86_64 ]; then
    there=$(files)
    check 'a recorder that is killed leaves the code of a process as it was' killed
    same_files() { [ -z "$(comm -13 <(echo "$there") <(files))" ]; }
    check 'and no file, probe or variable' eventually same_files
    killed_with_command() { # of a command of ours: it runs on to its end
        assay record -q -f -o k.assay -e ./late_calls:called -- ./late_calls 0 0 30 3000 >/dev/null 2>err & local recorder=$!
        runs() { pgrep -P $recorder -x late_calls >pid.txt; }
        eventually runs || return 1
        local pid
        pid=$(cat pid.txt)
        eventually is_byte "$pid" cc || return 1
        kill -9 $recorder
        wait $recorder 2>/dev/null
        eventually is_not_byte "$pid" cc && eventually gone "$pid"
    }
    check 'so does one that is killed beside its command' killed_with_command
fi
finish
