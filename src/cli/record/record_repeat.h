// SPDX-License-Identifier: Apache-2.0
// assay record --repeat: several recordings of a command, and of another in turn with it, so that
// assay diff sees how much they differ from run to run.

#ifndef CLI_RECORD_RECORD_REPEAT_H
#define CLI_RECORD_RECORD_REPEAT_H

#include "base/arena.h"
#include "base/error.h"

// Records the command `words` (ended by NULL) into the file `output` once. Returns the exit status.
typedef int RecordOnce(void *ctx, char **words, Str output);

typedef struct RecordRepeat {
    uint64_t count; // of each command
    Str output;     // the name of the recordings without ".assay" and number
    Str against;    // the old command, in one text; "": only `words` is recorded
    char **words;   // the command, ended by NULL
    bool quiet;
    RecordOnce *once;
    void *ctx;
} RecordRepeat;

// Makes the recordings: "NAME.1.assay" …, or with an old command "NAME.old.1.assay" and
// "NAME.new.1.assay" …; which of both runs first changes from round to round. Stops when a command
// was ended by Ctrl-C or a recording could not be made. Returns the first exit status that is not
// 0.
int record_repeatedly(Arena *arena, const RecordRepeat *r);

#endif // CLI_RECORD_RECORD_REPEAT_H
