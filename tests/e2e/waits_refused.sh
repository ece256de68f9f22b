#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --wait where BPF, or perf events as a whole, are refused: threads are looked at from outside.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v python3 >/dev/null || skip_all 'no python3'
gcc -g -O2 -fomit-frame-pointer -pthread -o waits "$TOP/tests/programs/waits.c" || exit 1
gcc -g -O2 -fno-omit-frame-pointer -pthread -o waits_fp "$TOP/tests/programs/waits.c" || exit 1
gcc -O1 -o no_perf "$TOP/tests/programs/no_perf.c" || exit 1
./no_perf true || skip_all 'no seccomp filters here'
chmod 777 .

# Each class of the recording differs from the program's own figure by five points at most: looks 100 times a second are a
# sample, and a stopped machine adds to one class (bench/results.md has what a quiet one gives). The figure that it
# measured contains the time until a processor was free.
cat >judge.py <<'END'
import json, sys
classes = json.load(open(sys.argv[1]))
words = open(sys.argv[2]).read().split()
truth = {k: int(v) * 1000 for k, v in zip(words[::2], words[1::2])}
truth = {"lock": truth["lock"], "network": truth["pipe"], "sleep": truth["sleep"] + 160e6, "child": 160e6}
point = classes["all_ns"] / 100
got = {row["class"]: row["total_ns"] for row in classes["rows"]}
runnable = got.get("runnable", 0)
for name, ns in truth.items():
    # main also waits, unmeasured, for flush to begin its turn: as long as flush has no processor.
    more = runnable if name == "network" else 0
    assert got.get(name, 0) <= ns + more + 5 * point, (name, got, truth)
    assert got.get(name, 0) + runnable >= ns - 5 * point, (name, got, truth)
assert classes["threads"] == 4, classes["threads"]
missed = abs(sum(got.values()) - classes["all_ns"])
assert missed < point, missed
END
judge() { # NAME HOW WAY [COMMAND ...]: records by the command, and looks at what comes out
    local name=$1 how=$2 way=$3
    shift 3
    # New processes are looked for 25 times a second: a machine that stands still for as long as the child lives hides
    # it. That does not happen three times.
    for _ in 1 2 3; do
        if ! "$@" "$ASSAY" record --wait -q --force -o "$name.assay" -- "./$program" >"$name.truth" 2>err.txt; then
            cat err.txt
            check "$how: records" false
            return
        fi
        assay report "$name.assay" --by class --json >"$name.json"
        ! grep -q '"threads": *4\b' "$name.json" || break
    done
    assay report "$name.assay" >"$name.txt"
    check "$how: classes are right to five points" python3 judge.py "$name.json" "$name.truth"
    check "$how: the way is named, with what lifts it" \
        grep -Eq "waits by $way, 100 Hz.*\\(.*(root|sudo assay record --wait)" \
        <(tr -s '\n ' '  ' <"$name.txt")
    # A wait while the program is loaded may be seen before its mappings are.
    check "$how: stacks of 98 % of the time are complete" \
        awk '/\[stack cut/ {cut += $1} END {exit cut > 2}' <(assay report "$name.assay" --tree -e 'wall time')
    check "$how: a critical path says that it lacks the wakers" \
        grep -q 'which thread ended a wait was not recorded' <(assay report "$name.assay" --critical)
    check "$how: the lock has its name and its line" \
        grep -q 'cache_lock, waited for in lookup (waits.c:[0-9]*)' <(assay report "$name.assay" --locks)
}
program=waits
other=()
switches='switch records and looks at /proc'
stacks='switch records with stacks, and looks at /proc'
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || switches='looks at /proc'
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] || switches=$stacks
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    other=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
    judge user 'another user' "$switches" "${other[@]}"
    judge filter 'another user, perf refused' 'looks at /proc' "${other[@]}" ./no_perf
    program=waits_fp
    judge pointers 'another user, code with frame pointers' "$switches" "${other[@]}"
    program=waits
elif [ "$(id -u)" != 0 ]; then
    judge user 'this user' '.*looks at /proc'
fi
# Who may sample the kernel gets a copy of the stack at each switch: each wait counts, however short it is.
cat >short_waits.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
static int there[2], back[2];
__attribute__((noinline)) static void answer(void)
{
    char c;
    if (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
        __asm__ volatile("");
}
__attribute__((noinline)) static void ask(void)
{
    char c = 1;
    if (write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1)
        __asm__ volatile("");
}
static void *work(void *arg)
{
    for (int i = 0; i < 2000; i++)
        answer();
    return arg;
}
int main(void)
{
    struct rusage u;
    pthread_t t;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pthread_create(&t, NULL, work, NULL);
    for (int i = 0; i < 2000; i++) {
        ask();
        if (i % 4 == 0)
            usleep(100);
    }
    pthread_join(t, NULL);
    getrusage(RUSAGE_SELF, &u);
    printf("%ld\n", u.ru_nvcsw);
    return 0;
}
END
each_wait() { # COMMAND ...: the recorder, of a user who may have stacks
    gcc -O2 -fomit-frame-pointer -pthread -o short_waits short_waits.c &&
        "$@" "$ASSAY" record --wait -q --force -o each.assay -- ./short_waits >each.truth && "$ASSAY" export each.assay -f sqlite --force -o each.sqlite &&
        "$ASSAY" report each.assay --by class --json >each.json && python3 - <<'END'
import json, sqlite3
truth = int(open("each.truth").read())
rows = sqlite3.connect("each.sqlite").execute("SELECT class, sum(count), sum(blocked_ns) FROM waits GROUP BY 1").fetchall()
print(truth, rows)
count = {c: n for c, n, _ in rows}
lost = count.get("other", 0) # without a stack: a machine that stands still fills the rings
waits = sum(n for c, n in count.items() if c not in ("running", "runnable"))
# The program counts from before the recording to its last line.
assert truth - 20 <= waits <= truth + 20, (truth, waits)
assert lost <= truth / 2, count
assert count["sleep"] + lost >= 480 and count["sleep"] <= 510, count
assert count["network"] + lost >= truth - 520, count
END
}
if [ "$(id -u)" = 0 ]; then
    judge stacks 'BPF refused, perf allowed' "$stacks" ./no_perf --bpf
    check 'each short wait is there, with its reason' each_wait ./no_perf --bpf
    check 'a note says that they are all there' grep -q 'with a copy of the stack' <(assay report each.assay --notes | tr -s '\n ' '  ')
    # Of a few different ones; those without room in a ring are counted apart.
    check 'their stacks are complete' awk -F'[ /]' '{seen = 1; bad = $2 - $1 > 2} END {exit !seen || bad}' <(assay report each.assay | tr -s '\n ' '  ' | grep -o '[0-9]*/[0-9]* stacks complete')
fi
judge own 'this user, perf refused' 'looks at /proc' ./no_perf

# Children that share the memory of their parent, and the parent that waits in vfork, whose return address is in a register.
gcc -g -O2 -fomit-frame-pointer -o vforks "$TOP/tests/programs/vforks.c" || exit 1
stacks_of_vfork() { # NAME COMMAND ...
    local name=$1
    shift
    for _ in 1 2 3; do # as above
        "$@" "$ASSAY" record --wait -q --force -o "$name.assay" -- ./vforks 5 2>err.txt || return 1
        assay report "$name.assay" --tree -e 'wall time' --percent-limit 0.1 -w >"$name-tree.txt"
        cat "$name-tree.txt"
        ! python3 - "$name-tree.txt" <<'END' || return 0
import sys
path, found = [], set()
for line in open(sys.argv[1]):
    words = line.rstrip().split(None, 2)
    if len(words) < 3 or "%" not in words[0]:
        continue
    name = words[2].strip()
    depth = line.index(name, len(words[0]) + len(words[1]))
    path = [p for p in path if p[0] < depth] + [(depth, name)]
    chain = " ".join(n for _, n in path)
    for caller, call in (("main start_one", "vfork"), ("main start_one early_child", "nanosleep")):
        if caller in chain and chain.split(caller, 1)[1].strip().startswith(call):
            found.add(call)
sys.exit(found != {"vfork", "nanosleep"})
END
    done
    return 1
}
if [ ${#other[@]} -gt 0 ]; then
    check 'stacks of vfork and of its children are complete, another user' stacks_of_vfork vf "${other[@]}"
    if [ "$switches" != 'looks at /proc' ]; then
        # Records tell of each child, however short its life is.
        "${other[@]}" "$ASSAY" record --wait -q --force -o short.assay -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
        check 'children that no look saw count, too' python3 - <(assay report short.assay --by class --json) <<'END'
import json, sys
classes = json.load(open(sys.argv[1]))
assert classes["threads"] == 11, classes["threads"]
assert abs(sum(r["total_ns"] for r in classes["rows"]) - classes["all_ns"]) <= classes["all_ns"] / 200, classes
END
    fi
fi
# Threads of 3 ms, one after the other, less than the time between two looks: each counts, and how many no look saw is said.
cat >short_threads.c <<'END'
#include <pthread.h>
#include <time.h>
static void *nap(void *arg)
{
    struct timespec t = {0, 3000000};
    nanosleep(&t, 0);
    return arg;
}
int main(void)
{
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        pthread_create(&t, 0, nap, 0);
        pthread_join(t, 0);
    }
}
END
short_threads() { # COMMAND ...
    gcc -O2 -pthread -o short_threads short_threads.c && "$@" "$ASSAY" record --wait -q --force -o threads.assay -- ./short_threads &&
        grep -Eq '"threads": *101\b' <(assay report threads.assay --by class --json) &&
        grep -Eq '[0-9]+ threads? ended before a look' <(assay report threads.assay --notes | tr -s '\n ' '  ')
}
check 'short threads are counted, perf refused' short_threads ./no_perf
check 'stacks of vfork and of its children are complete, perf refused' stacks_of_vfork vfn ./no_perf

# With switch records the length of each wait that was looked at is known: there were 25 for the
# lock, of 12 ms and what the machine adds.
if [ -s user.assay ] && [ "$(id -u)" = 0 ] && [ "${switches#switch}" != "$switches" ]; then
    check 'switch records tell how long single waits take' python3 - <(assay report user.assay --locks --json) user.truth <<'END'
import json, sys
row = next(r for r in json.load(open(sys.argv[1]))["rows"] if r.get("object") == "cache_lock")
mean = int(open(sys.argv[2]).read().split()[1]) * 1000 / 25
assert 12 <= row["count"] <= 40, row
assert mean / 2.5 <= row["p50_ns"] <= mean * 2, (row, mean)
assert row["longest_ns"] < mean * 25 / 2, (row, mean) # not all of them as one
END
fi

# A running process of the same user.
if [ "$(id -u)" = 0 ] && [ ${#other[@]} -gt 0 ]; then
    "${other[@]}" sh -c 'for i in 1 2 3; do ./waits; done' >/dev/null &
    pid=$!
    sleep 0.1 # it becomes the other user's
    check 'a running process' eval "${other[*]} '$ASSAY' record --wait -q --force \
        --duration 0.4 -o p.assay -p $pid && assay report p.assay --by class | grep -q 'child\|lock'"
    wait $pid
fi

# The whole machine without BPF: by looks at all of its programs.
if [ "$(id -u)" = 0 ]; then
    sleep 60 &
    pid=$!
    eventually grep -q '^[0-9]* (sleep) S' /proc/$pid/stat
    if setpriv --bounding-set=-bpf,-sys_admin --inh-caps=-bpf,-sys_admin "$ASSAY" record --wait -q -a --duration 0.3 -o all.assay 2>err.txt; then
        check 'the machine is looked at where BPF is refused' test "$(classes_of_thread all.assay $pid)" = sleep
        check 'that is said' grep -q 'looks at /proc' <(assay report all.assay | tr -s '\n ' '  ')
    else
        skip 'the machine is looked at where BPF is refused' "$(head -n 1 err.txt)"
    fi
    kill $pid
fi

# Numbers of processes of its own, as in a container: the kernel's programs see others.
if [ "$(id -u)" = 0 ] && unshare --pid --fork --mount-proc true 2>/dev/null; then
    unshare --pid --fork --mount-proc "$ASSAY" record --wait -q -o n.assay -- ./waits >/dev/null
    check 'in a namespace of processes waits are recorded by looks' grep -q cache_lock <(assay report n.assay --locks)
    check 'the reason is named' grep -q 'other process numbers' <(assay report n.assay --notes | tr -s '\n ' '  ')
    check 'calls are refused there' test "$(unshare --pid --fork --mount-proc "$ASSAY" record --calls lookup -o m.assay -- ./waits 2>&1 |
        grep -c 'process numbers of its own')" = 1
fi
finish
