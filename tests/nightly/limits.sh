#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sizes far beyond the usual, each with a bound of memory: a perf.data of 4 GB, 100 000 mappings,
# 20 000 live threads, 100 000 threads in a recording, names of 1 MB. The sample divides them by 50.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
part=1
[ -z "${NIGHTLY_SAMPLE:-}" ] || part=50
gcc -O2 -o cost "$TOP/bench/lib/cost.c" 2>/dev/null || exit 1
write() { python3 "$TOP/tests/tools/make_limits.py" "$@"; }
within() { # MB WHAT COMMAND…: succeeds, with a peak of so much memory
    local mb=$1 what=$2 got
    shift 2
    got=$(./cost -o out "$@") || return 1
    eval "$(tr ' ' '\n' <<<"$got" | grep -E '^(status|rss_kb|cpu)=')"
    echo "$what: $((rss_kb / 1024)) MB, $cpu s of processor time"
    measured="$((rss_kb / 1024)) MB, ${cpu%????} s"
    [ "$status" -eq 0 ] && [ $((rss_kb / 1024)) -le "$mb" ]
}
bound() { # MB NAME COMMAND…
    local mb=$1 name=$2
    if within "$mb" "$name" "${@:3}" >within.log 2>&1; then ok "$name: $measured, at most $mb MB"; else not_ok "$name, at most $mb MB" within.log; fi
}
write mappings $((100000 / part)) mappings.data
bound 256 "$((100000 / part)) mappings" "$ASSAY" report mappings.data
write threads $((100000 / part)) threads.data
bound 256 "$((100000 / part)) threads in a recording" "$ASSAY" report --by thread threads.data
write names $((1000000 / part)) names.pprof
bound 256 "names of $((1000000 / part)) bytes" "$ASSAY" report names.pprof
bound 256 "names of $((1000000 / part)) bytes, as a picture" "$ASSAY" flame names.pprof -o - --title x
rm -f ./*.data ./*.pprof
write samples $((4096 / part)) large.data
# The file is mapped, so that its pages count, too.
bound $((4096 / part + 256)) "a perf.data of $(($(stat -c %s large.data) >> 20)) MB" "$ASSAY" report large.data
rm -f large.data

cat >many.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t all;
static void *work(void *n) { volatile int i = 0; pthread_barrier_wait(&all); while (i < 20000) i++; return n; }
int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t *threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, work, NULL) != 0) {
            fprintf(stderr, "only %d threads can be made\n", i);
            _exit(77);
        }
    pthread_barrier_wait(&all);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
C
gcc -O1 -pthread -o many many.c || exit 1
if ! reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    skip 'live threads' "$reason"
elif ! ./many $((20000 / part)) 2>many.log; then
    skip 'live threads' "$(cat many.log)"
else
    bound 512 "$((20000 / part)) live threads" "$ASSAY" record -q -F 99 -o live.assay -- ./many $((20000 / part))
    check 'and their recording opens' "$ASSAY" report --json live.assay
fi
finish
