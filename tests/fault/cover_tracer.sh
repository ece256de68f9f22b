#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run --engine ptrace is killed: the program goes on without breakpoints, and its threads
# and its forked child end by themselves, with their own output and status.
#   FAULT_ALL=1 kills the command before each of its system calls; else before every fifth.
# beside others: 6 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'breakpoints at lines are for x86-64'
[ -x "$TOOLS/fault" ] || skip_all "no $TOOLS/fault: run make dev"
"$TOOLS/fault" read=EIO 0 count true || skip_all 'one process may not trace another here'
"$(compiler gcc)" -g -O0 -pthread -o stages "$TOP/tests/programs/cover_stages.c" || exit 1
every=${FAULT_ALL:+1}
every=${every:-5}
lines() { grep -c "^$1 " log 2>/dev/null; }
# In a subshell, whose number is the command's then.
cover() { exec "$ASSAY" cover run --engine ptrace -q -f -o res "$@" >out 2>err; }

# The fault tool waits for what the command leaves behind: status 125 when something hangs.
before_each_call() {
    local n=1 status begun=0 fired=0
    while :; do
        rm -rf log res
        timeout -k 5 60 "$TOOLS/fault" any=KILL $n result "$ASSAY" cover run --engine ptrace -q -f -o res ./stages log >out 2>err </dev/null
        status=$?
        [ "$(cat result)" = fired ] || break
        fired=$((fired + 1))
        [ $status -eq 137 ] || { echo "killed before call $n: status $status"; cat err; return 1; }
        [ -e log ] || { n=$((n + every)); continue; }
        begun=$((begun + 1))
        [ "$(lines begin)" = 3 ] && [ "$(lines end)" = 3 ] || { echo "killed before call $n:"; cat log; return 1; }
        n=$((n + every))
    done
    echo "$fired kills, the program had begun in $begun"
    [ $begun -ge 3 ] && [ $status -eq 5 ] && [ "$(lines end)" = 3 ]
}
check 'the command is killed before each of its calls' before_each_call

# Threads are at breakpoints then: their signals must not end the program.
tracer_before_calls() {
    local calls n=1 status begun=0 kills=${FAULT_ALL:+400}
    rm -rf log res
    "$TOOLS/fault" child:any=KILL 0 result "$ASSAY" cover run --engine ptrace -q -f -o res ./stages log >out 2>err </dev/null
    calls=$(cat result)
    [ "$calls" -gt 500 ] || { echo "$calls calls"; cat err; return 1; }
    while [ "$n" -le "$calls" ]; do
        rm -rf log res
        timeout -k 5 60 "$TOOLS/fault" child:any=KILL "$n" result "$ASSAY" cover run --engine ptrace -q -f -o res ./stages log >out 2>err </dev/null
        status=$?
        n=$((n + 1 + calls / ${kills:-25}))
        [ "$(cat result)" = fired ] && [ -e log ] || continue
        begun=$((begun + 1))
        # The program's status is 5, which the command passes on.
        [ $status = 5 ] && [ "$(lines begin)" = 3 ] && [ "$(lines end)" = 3 ] || { echo "killed before call $n of $calls: status $status"; cat log err; return 1; }
    done
    echo "the program had begun in $begun"
    [ $begun -ge 5 ]
}
check 'the process that traces is killed before its calls: all threads go on' tracer_before_calls

# The handler that makes this possible changes nothing for breakpoints of the program's own.
printf '#include <signal.h>\nint main(int c, char **v) { if (c > 1) __asm__ volatile("int3"); else raise(SIGTRAP); return 0; }\n' >own_trap.c
"$(compiler gcc)" -g -O0 -w -o own_trap own_trap.c || exit 1
dies_of_trap() { cover ./own_trap "$@"; }
check 'a breakpoint of its own ends a program' status_is $((128 + 5)) eval '(dies_of_trap own)'
check 'and so does a signal that it sends' status_is $((128 + 5)) eval '(dies_of_trap)'

# All three wait at a stage, so that every later stage has its breakpoints; then WHO is killed.
waits() { [ "$(lines wait)" = 3 ]; }
at_stage() { # WHO STAGE
    local command tracer program
    rm -rf log res fifo status && mkfifo fifo
    cover sh -c './stages log fifo "$1"; echo $? >status; exit 0' sh "$2" &
    command=$!
    eventually waits || { cat err; return 1; }
    program=$(pgrep -f "^./stages log fifo $2\$" | head -n 1)
    tracer=$(awk '$1 == "TracerPid:" { print $2 }' "/proc/$program/status")
    [ "$tracer" != 0 ] && [ "$tracer" != $command ] || { echo "tracer $tracer of $program"; return 1; }
    if [ "$1" = command ]; then kill -KILL $command; else kill -KILL "$tracer"; fi
    eventually gone "$tracer" || { echo 'the tracer stays'; return 1; }
    : >fifo
    wait $command
    command_status=$?
    eventually test -s status || { echo 'the program does not end'; cat log; return 1; }
    [ "$(cat status)" = 5 ] && [ "$(lines end)" = 3 ] || { cat status log err; return 1; }
}
for stage in 0 13 39; do
    check "the command is killed at stage $stage: the program ends with its own status" at_stage command $stage
done
killed_tracer() {
    at_stage tracer "$1" || return 1
    # The program's own status is 0.
    [ "$command_status" = 1 ] && grep -q 'went on without breakpoints.*was killed' err || { echo "status $command_status"; cat err; return 1; }
}
for stage in 0 13 39; do
    check "the process that traces is killed at stage $stage: the program ends, the command says it" killed_tracer $stage
done

own_status() {
    local tracer
    rm -rf log res fifo && mkfifo fifo
    cover ./stages log fifo 20 & local command=$!
    eventually waits && tracer=$(awk '$1 == "TracerPid:" { print $2 }' "/proc/$(pgrep -f '^./stages log fifo 20$' | head -n 1)/status") &&
        kill -KILL "$tracer" && eventually gone "$tracer" || return 1
    : >fifo
    wait $command
    [ $? = 5 ]
}
check 'and passes on a status of the program that is not 0' own_status
finish
