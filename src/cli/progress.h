// SPDX-License-Identifier: Apache-2.0
// A line on stderr that shows the progress of long work.

#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Progress {
    const char *what; // the work: "naming addresses"
    const char *hint; // after the numbers: "Ctrl-C: keep what there is"; NULL: nothing
    int64_t shown_ns; // when the line was last written, or when the work began
    bool is_terminal, shown;
} Progress;

// Begins work. The line does not appear in the first half second, and only on a terminal.
Progress progress_begin(const char *what, const char *hint);
// Writes the line, at most twice a second. `ctx` is a Progress.
void progress_show(void *ctx, size_t done, size_t total);
// Erases the line. A later progress_show may write it again.
void progress_clear(Progress *p);

#endif // CLI_PROGRESS_H
