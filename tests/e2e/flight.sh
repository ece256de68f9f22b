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
assay record --flight --memory 1M -F 99 -o f.assay -- ./busy 4 3 2>f.txt &
shell=$!
for _ in $(seq 50); do
    sleep 0.1
    child=$(pgrep -x -f './busy 4 3') && break
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
finish
