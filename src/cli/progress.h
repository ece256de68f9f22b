// SPDX-License-Identifier: Apache-2.0
// A line on a terminal's stderr that says how far long work is.

#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Progress {
    const char *what; // "naming addresses"
    const char *hint; // behind the numbers: "Ctrl-C: keep what there is"; NULL: nothing
    int64_t shown_ns;
    bool is_terminal, shown;
} Progress;

// Nothing is shown in the first half second, nor where stderr is no terminal.
Progress progress_begin(const char *what, const char *hint);
// At most twice a second. `ctx` is a Progress.
void progress_show(void *ctx, size_t done, size_t total);
// Takes the line away. It may be shown again.
void progress_clear(Progress *p);

#endif // CLI_PROGRESS_H
