#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --flight: the newest part, written when asked and when the command fails.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
cat >busy.c <<'END'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
int main(int argc, char **argv)
{
    (void)argc;
    for (time_t end = time(NULL) + atoi(argv[1]); time(NULL) < end;)
        for (unsigned i = 0; i < 100000; i++)
            sink += i * i;
    return atoi(argv[2]);
}
END
gcc -g -O2 -o busy busy.c || exit 1
assay record --flight --memory 1M -F 99 -o f.assay -- ./busy 3 3 2>f.txt &
shell=$!
for _ in $(seq 50); do
    sleep 0.1
    child=$(pgrep -x -f './busy 3 3') && break
done
recorder=$(ps -o ppid= -p "$child" | tr -d ' ')
sleep 1
check 'it is asked for a dump' assay dump "$recorder"
check 'another process is not' test "$(assay dump $$ 2>&1 | grep -c 'not a running assay record --flight')" = 1
wait $shell
check 'the command keeps its status' test $? = 3
check 'the dump is a recording' grep -q 'main' <(assay report f-1.assay)
check 'it says why it was written' grep -q SIGUSR2 <(assay report f-1.assay --notes)
check 'a command that fails leaves one' test -e f.assay
assay record --flight -F 99 -o g.assay -- ./busy 1 0 2>g.txt
check 'one that does not leaves none' test ! -e g.assay -a ! -e g.assay.part
# Before it takes the signal, that would end it.
just_started() {
    local status
    for _ in 1 2 3 4 5 6; do
        assay record --flight -q -f -o e.assay -- sleep 0.3 2>e.txt &
        recorder=$!
        for _ in 1 2 3 4 5 6 7 8 9 10; do assay dump -q "$recorder" 2>dump.txt && break; done
        wait "$recorder"
        status=$?
        [ $status -eq 0 ] || { echo "status $status"; cat e.txt dump.txt; return 1; }
    done
}
check 'a recorder that has just started is not ended by a dump' just_started
assay record --flight --when 'p99 > 5' -o h.assay -- ./busy 1 0 2>h.txt
check 'a condition that is none is refused' test $? = 2

# Many new threads, processes, modules and names: the recorder begins anew, and joins what it had.
cat >churn.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static void *job(void *arg)
{
    for (int i = 0; i < 100000; i++)
        sink += (unsigned)i;
    return arg;
}
int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    for (long i = 0; time(NULL) < end; i++) {
        char path[64];
        pthread_t t;
        pthread_create(&t, NULL, job, NULL);
        pthread_join(t, NULL);
        snprintf(path, sizeof(path), "./lib-%ld.so", i);
        if (link("lib.so", path) == 0 && fork() == 0) {
            dlopen(path, RTLD_NOW);
            execl("/bin/true", path, (char *)NULL);
        }
        wait(NULL);
        unlink(path);
        // Longer than the time between two samples: the kernel hands what is left of it to the children.
        for (int k = 0; k < 4000000; k++)
            sink += (unsigned)k;
        usleep(5000);
    }
    return 5;
}
END
echo 'void work(void) {}' >lib.c
gcc -g -O2 -pthread -o churn churn.c -ldl && gcc -shared -fPIC -o lib.so lib.c || exit 1
assay record --flight --memory 256k -F 1999 -o churn.assay -- ./churn 7 2>churn.txt
check 'a command that outlives a round keeps its status' test $? = 5
check 'the recorder has begun anew' grep -q 'emptied its tables [1-9]' <(assay report churn.assay --notes | tr '\n' ' ')
assay report churn.assay --by process >churn.rows
pid=$(grep -o 'churn [0-9]*$' churn.rows | head -n 1 | cut -d ' ' -f 2)
check 'a process that goes on is one' test "$(grep -c " ${pid:-none}\$" churn.rows)" = 1

# Conditions. A thread waits for a lock that another one holds for 30 ms.
cat >serve.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
__attribute__((noinline)) void handle(void)
{
    pthread_mutex_lock(&cache_lock);
    usleep(30000);
    pthread_mutex_unlock(&cache_lock);
}
static void *work(void *arg)
{
    for (;;) {
        handle();
        for (unsigned i = 0; i < 3000000; i++)
            sink += i;
    }
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
}
END
gcc -g -O2 -pthread -o serve serve.c || exit 1
# fires NAME WHEN OPTION...: a recorder that writes NAME-1.assay when the condition holds.
fires() {
    local name=$1 condition=$2
    shift 2
    assay record --flight -F 99 "$@" --when "$condition" -o "$name.assay" -- ./serve 2>"$name.txt" &
}
names='cpu'
fires cpu 'cpu > 0.5%'
fires never 'cpu > 5000%'
if [ "$(id -u)" = 0 ]; then
    names='cpu calls waits'
    fires calls 'p99(handle) > 20ms' --calls handle
    fires waits 'lock > 10%' --wait
else
    skip 'calls and waits' 'not root'
fi
for _ in $(seq 450); do
    missing=
    for name in $names; do [ -e "$name-1.assay" ] || missing=$name; done
    [ -z "$missing" ] && break
    sleep 0.2
done
for recorder in $(jobs -p); do kill "$(pgrep -P "$recorder" -x serve)"; done
wait
for name in $names; do
    check "the condition on $name has fired" grep -q 'handle\|work' <(assay report "$name-1.assay")
    check "the dump of $name names it" grep -q 'because of .* > ' <(assay report "$name-1.assay" --notes | tr '\n' ' ')
done
check 'a condition that never holds has not fired' test ! -e never-1.assay
case $names in
*waits*) check 'waits have sums' grep -q 'cache_lock' <(assay report waits-1.assay --locks) ;;
esac
finish
