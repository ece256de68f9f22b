// SPDX-License-Identifier: Apache-2.0
// States of threads for the time line of a page: the longest ones, because a recording may have
// millions.

#include "export/view/view_internal.h"

#include <stdlib.h>

static int64_t length(const WaitSpan *s)
{
    return s->end_ns - s->start_ns;
}

static int by_length(const void *a, const void *b)
{
    int64_t x = length(a), y = length(b);
    return x > y ? -1 : x < y;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const WaitSpan *x = a, *y = b;
    if (x->thread.v != y->thread.v)
        return x->thread.v < y->thread.v ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

size_t view_states_init(WaitSpans *w, const Profile *p)
{
    Selection all;
    selection_init(&all);
    wait_spans_init(w, p, &all);
    size_t kept = 0;
    for (size_t i = 0; i < w->spans.len; i++) // the bars of processor time show where it ran
        if (w->spans.at[i].state != WAIT_RUNNING)
            w->spans.at[kept++] = w->spans.at[i];
    w->spans.len = kept;
    if (kept <= VIEW_STATES_MAX)
        return 0;
    qsort(w->spans.at, kept, sizeof(*w->spans.at), by_length);
    w->spans.len = VIEW_STATES_MAX;
    qsort(w->spans.at, w->spans.len, sizeof(*w->spans.at), by_thread_and_time);
    return kept - VIEW_STATES_MAX;
}
