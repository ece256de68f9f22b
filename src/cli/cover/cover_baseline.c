// SPDX-License-Identifier: Apache-2.0
// Loads the coverage of an earlier state and compares.

#include "cli/cover/cover_baseline.h"

#include "cli/cli.h"
#include "cli/cover/cover_load.h"
#include "os/file.h"

static bool is_changed(void *ctx, Str path)
{
    return diff_changes(ctx, path);
}

bool cover_baseline_load(const CoverRequest *request, const StrVec *inputs, DiffFiles *diff,
                         unsigned criteria, CoverBaseline *ret, Error *err)
{
    CoverRequest r = *request;
    *ret = (CoverBaseline){.is_loaded = true};
    r.wants = COVER_WANT_ROWS | criteria;
    r.take_unit = NULL;
    r.take_functions = NULL;
    // The sources are here as they are behind the change. Their marks stand on other lines.
    r.is_changed = is_changed;
    r.is_changed_ctx = diff;
    // Inputs that the command line names beside the operands belong to the present state.
    r.objects = (StrVec){0};
    r.profile = (Str){0};
    if (!cover_load_printed(&r, inputs, &ret->profile, err))
        return false;
    cover_files_group(&ret->profile.arena, &ret->profile, &ret->files);
    return true;
}

void cover_baseline_deinit(CoverBaseline *b)
{
    if (b->is_loaded)
        profile_deinit(&b->profile);
    *b = (CoverBaseline){0};
}

bool cover_baseline_compare(const CoverRequest *request, const CoverBaselineOptions *o,
                            CoverSide now, Str root, Arena *arena, CoverBaseline *b,
                            CoverChanges *ret, Error *err)
{
    Bytes file;
    CoverDiff lines;
    // The profile keeps where the list is while it loads, no longer.
    DiffFiles diff = {0};
    *b = (CoverBaseline){0};
    if (o->diff_file.len && (!os_read_file(arena, o->diff_file, OS_READ_MAX_BYTES, &file, err) ||
                             !diff_parse(arena, str_from_bytes(file), &diff, err)))
        return false;
    if (!cover_baseline_load(request, &o->inputs, &diff, COVER_WANT_FILE_TOTALS, b, err))
        return false;
    CoverSide base = {&b->profile, &b->files};
    cover_diff_classify(arena, &diff, base, now, root, &lines);
    cover_changes_find(arena, base, now, &lines, ret);
    if (ret->shared == 0 && now.files->files.len && b->files.files.len) {
        cli_say(
            "no file is in the coverage and in the baseline: they have other paths, as '%" STR_FMT
            "' and '%" STR_FMT "'",
            STR_ARG(profile_text(now.profile, now.files->files.at[0].file)),
            STR_ARG(profile_text(base.profile, base.files->files.at[0].file)));
        cli_say_hint(STR("--prefix-map OLD=NEW changes the paths of both"));
    }
    return true;
}

bool cover_baseline_check(const Command *cmd, const CoverBaselineOptions *o)
{
    if (o->diff_file.len == 0 || o->inputs.len)
        return true;
    (void)usage_error(cmd, "--diff-file leads from a --baseline to the sources now");
    return false;
}
