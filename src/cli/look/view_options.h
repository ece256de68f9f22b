// SPDX-License-Identifier: Apache-2.0
// Options that the commands which show a recording share: the file, and the part of it to show.

#ifndef CLI_LOOK_VIEW_OPTIONS_H
#define CLI_LOOK_VIEW_OPTIONS_H

#include "analyse/weights.h"
#include "cli/option.h"
#include "cli/record/live.h"
#include "cli/recording.h"
#include "model/share.h"

typedef struct SelectionOptions {
    Str metric; // "": the first
    Str focus, ignore;
    Str time;
    StrVec pids, tids, comms; // each may be a list with commas
} SelectionOptions;

// For an option table; `field` is a SelectionOptions in the options struct S.
#define SELECTION_OPTIONS(S, field)                                                                \
    OPT_TEXT('e', "metric", S, field.metric, "NAME",                                               \
             "the metric or event to show, when the recording has several"),                       \
        OPT_TEXT(0, "focus", S, field.focus, "REGEX", "only stacks with a function that matches"), \
        OPT_TEXT(0, "ignore", S, field.ignore, "REGEX", "no stacks with a function that matches"), \
        OPT_TEXT(                                                                                  \
            0, "time", S, field.time, "A..B",                                                      \
            "only samples between A and B: seconds from the start, or percent of the run with %"), \
        OPT_LIST(0, "pid", S, field.pids, "PID", "only these processes; a list with commas"),      \
        OPT_LIST(0, "tid", S, field.tids, "TID", "only these threads; a list with commas"),        \
        OPT_LIST(0, "comm", S, field.comms, "NAME",                                                \
                 "only threads, or threads of processes, with this name")

typedef struct NameLengthWord {
    const char *word;
    NameLength length;
} NameLengthWord;
// The words of --names, for SHARE_OPTIONS.
extern const Choices name_length_words;

// How names are shortened or replaced in files that are written for others.
typedef struct ShareWords {
    const NameLengthWord *names; // NULL: in full
    Str key;
    bool strip_paths, anonymise;
} ShareWords;

// For an option table; `field` is a ShareWords in the options struct S.
#define SHARE_OPTIONS(S, field)                                                                    \
    OPT_ROW(0, "names", S, field.names, NameLengthWord, "LENGTH", &name_length_words,              \
            "function names in full, without arguments, or without templates too"),                \
        OPT_FLAG(0, "strip-paths", S, field.strip_paths, "write only the last part of each path"), \
        OPT_FLAG(0, "anonymise", S, field.anonymise,                                               \
                 "replace all names by pseudonyms, leave out source text and command line"),       \
        OPT_TEXT(                                                                                  \
            0, "anonymise-key", S, field.key, "KEY",                                               \
            "make the pseudonyms with KEY, so that nobody without KEY can check a guessed name")

// Makes a selection of the profile's samples from the options. Its vectors and C strings live in
// the arena.
MUST_CHECK bool selection_from_options(const SelectionOptions *o, const Profile *p, Arena *arena,
                                       Selection *ret, Error *err);

// Whether samples may be outside of a selection.
bool selection_is_part(const Selection *s);

// Removes all other samples than the selected ones from the profile; the selection then takes all
// that is left.
MUST_CHECK bool keep_selected(Profile *p, Selection *selection, Error *err);

// Removes from the profile the parts that `words` exclude from sending. The selection matches the
// true names: where names change, the samples are picked first, and the selection then takes all
// that is left. A name has the same pseudonym in every recording that is written with the same key.
MUST_CHECK bool share_selected(const ShareWords *words, Profile *p, Selection *selection,
                               Error *err);

// The arguments of a view: the loaded recording that the command line names.
typedef struct Opened {
    Profile *profile;      // the view may change it
    Str path;              // "" for a command that was recorded without a file
    const StrVec *further; // the operands after the recording, for views that take some
    Arena *scratch;
} Opened;

typedef struct RecordingView {
    // Checks what the parser cannot check. Prints the mistake and returns false. May be NULL.
    bool (*check)(const Command *cmd, void *values, const StrVec *further);
    int (*show)(void *values, const Opened *opened); // gives the exit status
    size_t further_max;                              // operands after the recording, at most
    size_t files_at;                                 // offset of a RecordingFiles in the options
    bool records;                                    // also records a command and shows that
    size_t live_at; // then the offset of a LiveOptions in the options
} RecordingView;

// Loads the recording that the command line names, or records the command behind "--", and shows
// it. Returns the exit status: that of the recorded program when the view succeeded.
int view_recording(const CommandLine *line, void *values, const RecordingView *view);

// For options with LIVE_OPTIONS and SELECTION_OPTIONS. With a command, -e names the event to
// record, which the view then shows.
void live_options_settle(const CommandLine *line, LiveOptions *live, SelectionOptions *selection,
                         bool force);

#endif // CLI_LOOK_VIEW_OPTIONS_H
