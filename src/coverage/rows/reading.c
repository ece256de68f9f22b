// SPDX-License-Identifier: Apache-2.0
// Notes about files that are left out.

#include "coverage/rows/reading.h"

enum { NOTED_MAX = 20 };

void cover_note_spare(CoverReading *r, Str path)
{
    profile_note(r->profile, NOTE_WARNING, STR("sum-beside-runs"),
                 "'%" STR_FMT "', found beside data of runs, is left out, since it was probably "
                 "made of them: name it to add its counts",
                 STR_ARG(path));
}

void cover_note_left_out(CoverReading *r, const Error *why)
{
    if (r->left_out++ >= NOTED_MAX)
        return;
    profile_note(r->profile, NOTE_WARNING, STR("input-left-out"), "left out: %s", why->text);
    if (why->hint[0])
        profile_note(r->profile, NOTE_INFO, COVER_NOTE_HINT, "%s", why->hint);
}

void cover_note_more_left_out(const CoverReading *r)
{
    if (r->left_out > NOTED_MAX)
        profile_note(r->profile, NOTE_WARNING, STR("input-left-out"), "and %zu more left out",
                     r->left_out - NOTED_MAX);
}
