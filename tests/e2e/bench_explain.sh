#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay bench --explain: planted causes of slow runs are named, with the stack and the program that did it.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
# Truth: every fourth run is slow by 250 ms: `pause` sleeps, `lock` waits for a mutex that another thread
# holds, `disk` writes to a file, `burn` computes far more in burn_more, `child` waits for a child that sleeps.
cat >slow.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void pause_a_while(long ms) { struct timespec t = {0, ms * 1000000}; nanosleep(&t, 0); __asm__ volatile(""); }
__attribute__((noinline)) static unsigned long burn(long n) { unsigned long x = 1; for (long i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } return x; }
__attribute__((noinline)) static unsigned long burn_more(void) { unsigned long x = burn(60000000); __asm__ volatile("" : "+r"(x)); return x; }
static void *holder(void *p) { pthread_mutex_lock(&mutex); pause_a_while(250); pthread_mutex_unlock(&mutex); return p; }
__attribute__((noinline)) static void take_lock(void) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
int main(int argc, char **argv)
{
    const char *i = getenv("HYPERFINE_ITERATION");
    const char *digits = i && strrchr(i, '-') ? strrchr(i, '-') + 1 : i;
    int slow = argc > 1 && digits && atoi(digits) % 4 == 3;
    pthread_t thread;
    if (slow && strcmp(argv[1], "pause") == 0)
        pause_a_while(250);
    if (slow && strcmp(argv[1], "lock") == 0) {
        pthread_create(&thread, 0, holder, 0);
        pause_a_while(20);
        take_lock();
    }
    if (slow && strcmp(argv[1], "child") == 0) {
        pid_t pid = fork();
        if (pid == 0) { pause_a_while(250); _exit(0); }
        waitpid(pid, 0, 0);
    }
    if (slow && strcmp(argv[1], "disk") == 0) {
        static char bytes[1 << 18];
        int fd = open("written", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || fsync(fd) != 0)
            return 2;
        close(fd);
        pause_a_while(250);
    }
    if (slow && strcmp(argv[1], "burn") == 0)
        return burn_more() == 0;
    return burn(argc > 2 ? atol(argv[2]) : 400000) == 0;
}
C
gcc -g -O1 -fno-omit-frame-pointer slow.c -o slow -lpthread || exit 1
explained() { # NAME EXPRESSION over e (the command's explanation), part(KEY) and stacks(TEXT): what differs there
    python3 - "$1" "$2" <<'P'
import json, sys

e = json.load(open(sys.argv[1] + ".json"))["assay"]["explain"][0]
part = lambda key: e[key]["slow_s"] - e[key]["usual_s"]
stacks = lambda text: [s for s in e["stacks"] if text in s["stack"] and s["slow_s"] - s["usual_s"] > 0.02]
assert e["slow_runs"] >= 3 and e["slow_runs"] < e["runs"] and eval(sys.argv[2]), str({k: v for k, v in e.items() if k != "stacks"}) + str(e["stacks"][:4])
P
}
explain() { # CAUSE [ARGUMENT…]
    assay bench -N -r 4 --explain "./slow $*" --export-json "$1.json" >"$1.txt" 2>&1 || { cat "$1.txt"; false; }
}
check "runs that sleep now and then" explain pause
if grep -q "this user may not see" pause.txt; then skip_all "this user may not see who waits where (kernel.perf_event_paranoid)"; fi
check "waited, and did not compute" explained pause 'part("waited") > 0.7 * part("time") and part("computed") < 0.1'
check "in a sleep, at that stack" explained pause 'any(s["waits"] and s["waits_for"] == "sleep" for s in stacks("pause_a_while"))'
check "the report says it" grep -Eq '\+[0-9.]+ ms  waits in .*pause_a_while < main .*\(for sleep\)' pause.txt
check "runs that wait for a lock" explain lock
check "in the function that takes it" explained lock 'any(s["waits"] and s["waits_for"] == "a lock" for s in stacks("take_lock"))'
check "runs that wait for a child" explain child
check "are told from sleep" explained child 'any(s["waits"] and s["waits_for"] == "a child process" for s in e["stacks"] if s["slow_s"] > 0.1)'
check "runs that compute more" explain burn
check "computed" explained burn 'part("computed") > 0.03 and part("waited") < part("computed")'
check "in the function that does" explained burn 'any(not s["waits"] for s in stacks("burn_more"))'

# Truth: every fourth run writes 256 KiB and waits until they are on a disk. A file system in memory has none.
if [ "$(stat -f -c %T .)" != tmpfs ]; then
    check "runs that write to a disk" explain disk
    check "the blocks are those of the slow runs" python3 -c '
import json
e = json.load(open("disk.json"))["assay"]["explain"][0]
b = e["disk_blocks"]
assert e["slow_runs"] == e["runs"] or b["slow"] + b["usual"] >= 64, e'
    if [ "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null)" = 1 ]; then
        check "with the wait for it" eval 'grep -q "\"disk\"" disk.json && ! grep -q task_delayacct disk.txt'
    else
        check "what counts the wait for it is named" grep -q "run: sysctl kernel.task_delayacct=1" disk.txt
    fi
else
    skip "runs that write to a disk" "this file system is in memory"
fi

# A program on the same CPU: it is named among those that had the CPU, with a good part of the time.
cp slow thehog
taskset -c 0 ./thehog none 100000000000 &
hog=$!
check "runs beside another program on the CPU" eval \
    'taskset -c 0 true && assay bench -N -r 4 --explain "taskset -c 0 ./slow none 4000000" --export-json hog.json >hog.txt 2>&1'
kill $hog
wait $hog 2>/dev/null
check "that program is named" python3 -c '
import json
e = json.load(open("hog.json"))["assay"]["explain"][0]
o = {x["name"]: x["usual_s"] + x["slow_s"] for x in e["others"]}
assert o.get("thehog", 0) > 0, o'
check "shells and functions are handled" eval 'assay bench -r 3 --explain "sleep 0.001; true" >sh.txt && grep -q "Why runs of" sh.txt'

# Without rights: the parts of the time are known, the others and the stacks of waits are not.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
    chmod 755 . slow && mkdir -m 777 free
    check "an ordinary user gets the parts" eval '(cd free && cp ../slow . && setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$ASSAY" bench -N -r 4 --explain "./slow pause" --export-json pause.json >pause.txt 2>&1) || { cat free/pause.txt; false; }'
    check "and is told what is hidden" eval 'cd free && { grep -q "this user may not see" pause.txt || grep -q "context switches:" pause.txt; } &&
        { grep -q "context switches:" pause.txt || explained pause "part(\"waited\") > 0.7 * part(\"time\")"; }; s=$?; cd ..; [ $s = 0 ]'
else
    skip "an ordinary user gets the parts" "needs root, setpriv and kernel.perf_event_paranoid of 2 or less"
fi
finish
