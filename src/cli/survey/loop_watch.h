// SPDX-License-Identifier: Apache-2.0
// Waits until a program or its sources change, a key is pressed, or a signal asks to end.

#ifndef CLI_SURVEY_LOOP_WATCH_H
#define CLI_SURVEY_LOOP_WATCH_H

#include <signal.h>

#include "base/error.h"
#include "base/vec.h"

typedef struct LoopFolder {
    int number; // of inotify
    Str path;
} LoopFolder;

typedef struct LoopWatch {
    Arena *arena;
    int events_fd, signals_fd;
    StrVec programs;         // paths whose change counts as a rebuild
    bool with_sources;       // changes of sources count, too
    Vec(LoopFolder) folders; // that are watched
    size_t folders_left_out; // beyond the limit
    sigset_t old_mask;
} LoopWatch;

typedef enum LoopEvent {
    LOOP_END,     // a signal, or q
    LOOP_PROGRAM, // the program was written
    LOOP_SOURCE,  // a source was written
    LOOP_AGAIN,   // the user asked for another round
} LoopEvent;

// Watches the folders of the programs and, unless `source_folder` is "", that folder and all below
// it but hidden ones and those of build results. Blocks the signals that end the process until
// loop_watch_close.
MUST_CHECK bool loop_watch_open(Arena *arena, const StrVec *programs, Str source_folder,
                                LoopWatch *ret, Error *err);
void loop_watch_close(LoopWatch *w);

// Waits for the next event. Changes that follow each other at once are one. `*changed` becomes the
// path that was seen last.
LoopEvent loop_watch_wait(LoopWatch *w, Str *changed);
// Forgets the changes so far: those of a build.
void loop_watch_drain(LoopWatch *w);

// Whether a file's name is that of a source or of a build description.
bool loop_is_source(Str name);

#endif // CLI_SURVEY_LOOP_WATCH_H
