// SPDX-License-Identifier: Apache-2.0
// Loads coverage and prints the notes about it.

#include "cli/cover/cover_load.h"

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "coverage/rows/reading.h"
#include "model/facts.h"
#include "os/file.h"

void cover_print_notes(const Profile *p)
{
    for (size_t i = 0; i < p->notes.text.len; i++) {
        Str key = profile_text(p, p->notes.key.at[i]);
        Str text = profile_text(p, p->notes.text.at[i]);
        if (str_equal(key, COVER_NOTE_HINT))
            cli_say_hint(text);
        else
            cli_say("%" STR_FMT, STR_ARG(text));
    }
}

bool cover_load_printed(const CoverRequest *request, const StrVec *operands, Profile *ret,
                        Error *err)
{
    bool ok = cover_load(request, operands, ret, err);
    cover_print_notes(ret);
    return ok;
}

static uint64_t number(const Profile *p, const char *fact)
{
    uint64_t value = 0;
    return profile_fact_u64(p, str_from_c(fact), &value) ? value : 0;
}

void cover_print_skipped(const Profile *p)
{
    uint64_t skipped = number(p, FACT_COVER_SKIPPED);
    if (skipped)
        cli_say("%llu source%s left out, as the run was asked to (--all-sources counts %s)",
                (unsigned long long)skipped, skipped == 1 ? "" : "s", skipped == 1 ? "it" : "them");
}

bool cover_is_unsound(const Profile *p, bool llvm_rules)
{
    uint64_t stale = llvm_rules ? 0 : number(p, FACT_COVER_STALE);
    uint64_t marks = number(p, FACT_COVER_MARKS);
    if (stale)
        cli_say("the gate fails: counts of another build are among the inputs (%llu); --explain "
                "names them, --llvm-rules drops them",
                (unsigned long long)stale);
    if (marks)
        cli_say("the gate fails: %llu mark%s in the sources %s not match the counts",
                (unsigned long long)marks, marks == 1 ? "" : "s", marks == 1 ? "does" : "do");
    return stale || marks;
}

int cover_show_inputs(const CoverRequest *request, const StrVec *operands, CoverShow *show,
                      const void *options)
{
    Profile p;
    Arena arena = {0};
    Error err;
    Str last_run = COVER_RUN_FOLDER;
    const StrVec of_last_run = {.at = &last_run, .len = 1};
    bool is_given = operands->len || request->objects.len || request->profile.len;
    bool ok = cover_load_printed(
        request, is_given || !os_file_exists(last_run) ? operands : &of_last_run, &p, &err);
    int status = ok ? show(&p, options, &arena) : cli_fail(&err);
    if (ok)
        cover_print_skipped(&p);
    arena_deinit(&arena);
    profile_deinit(&p);
    return status;
}
