// SPDX-License-Identifier: Apache-2.0
// Records a command for a view: "assay flame -- CMD". The profile stays in memory; a file is
// written only when the user names one.

#ifndef CLI_RECORD_LIVE_H
#define CLI_RECORD_LIVE_H

#include "base/error.h"
#include "cli/build_options.h"
#include "cli/option.h"
#include "cli/record/record_parts.h"
#include "model/profile.h"

typedef struct LiveOptions {
    BuildOptions build;
    Str freq;
    uint64_t period; // RECORD_PERIOD_NONE: not given
    StrVec events;
    int64_t duration_ns;
    Str recording; // the file to write; "": none
    bool force;
} LiveOptions;

#define LIVE_DEFAULTS                                                                              \
    {                                                                                              \
        .period = RECORD_PERIOD_NONE                                                               \
    }

// For an option table; `field` is a LiveOptions in the options struct S.
#define LIVE_OPTIONS(S, field)                                                                     \
    BUILD_OPTIONS(S, field.build),                                                                 \
        OPT_TEXT('F', "freq", S, field.freq, "HZ",                                                 \
                 "with a command: samples per second on each CPU, or 'max' (default 999)"),        \
        OPT_U64(0, "count", S, field.period, "N",                                                  \
                "with a command: take a sample every N events, not by time"),                      \
        OPT_LIST(0, "event", S, field.events, "EVENT",                                             \
                 "with a command: the event to sample on, as for 'assay record'; -e is the same"), \
        OPT_DURATION(0, "duration", S, field.duration_ns, "S",                                     \
                     "with a command: end the recording after this time"),                         \
        OPT_TEXT(0, "recording", S, field.recording, "FILE",                                       \
                 "with a command: also write the recording to FILE")

// Whether the command line asks for a recording: words stand behind "--", or a program is to be
// built.
bool live_is_asked(const CommandLine *line, const LiveOptions *options);

// Runs the words behind "--", or what is built, and records that into `*ret`, which is initialised
// here and deinitialised again on false. `*child_status` becomes the exit status of the program.
// When a build failed and its tool has said why, `err` has no text and `*child_status` is that of
// the tool.
MUST_CHECK bool live_record(const CommandLine *line, const LiveOptions *options, Profile *ret,
                            int *child_status, Error *err);

#endif // CLI_RECORD_LIVE_H
