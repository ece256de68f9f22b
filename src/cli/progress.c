// SPDX-License-Identifier: Apache-2.0
// The line that shows the progress of long work.

#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "os/clock.h"

Progress progress_begin(const char *what, const char *hint)
{
    return (Progress){.what = what,
                      .hint = hint,
                      .shown_ns = os_monotonic_ns(),
                      .is_terminal = isatty(STDERR_FILENO) == 1};
}

void progress_show(void *ctx, size_t done, size_t total)
{
    enum { EVERY_NS = 500000000 };
    Progress *p = ctx;
    int64_t now = os_monotonic_ns();
    if (!p->is_terminal || now - p->shown_ns < EVERY_NS)
        return;
    p->shown_ns = now;
    p->shown = true;
    fprintf(stderr, "\r%s: %zu of %zu", p->what, done, total);
    if (p->hint)
        fprintf(stderr, " (%s)", p->hint);
}

void progress_clear(Progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
