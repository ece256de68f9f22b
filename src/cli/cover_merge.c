// SPDX-License-Identifier: Apache-2.0
// assay cover merge: sums profiles of one program.

#include "cli/cli.h"
#include "cli/cover_commands.h"
#include "collect/cover/counts.h"
#include "os/file.h"

typedef struct CoverMergeOptions {
    Str output, input_files;
    uint64_t format_version, weight;
    StrVec weighted;
    bool sparse, text, force;
} CoverMergeOptions;

static const Option options[] = {
    OPT_TEXT('o', "output", CoverMergeOptions, output, "FILE",
             "write FILE; a name that ends in .proftext gets the text form"),
    OPT_FLAG('f', "force", CoverMergeOptions, force, "replace an existing output file"),
    OPT_FLAG(0, "text", CoverMergeOptions, text, "the text form of llvm-profdata"),
    OPT_U64(0, "profdata-version", CoverMergeOptions, format_version, "N",
            "7 for LLVM 13 and later, 9 for 16 and later, 12 for 19 and later"),
    OPT_FLAG(0, "sparse", CoverMergeOptions, sparse, "leave out functions that never ran"),
    OPT_U64('w', "weight", CoverMergeOptions, weight, "N",
            "count each of the named inputs N times"),
    OPT_LIST(0, "weighted-input", CoverMergeOptions, weighted, "N,FILE",
             "one more input, counted N times"),
    OPT_TEXT(0, "input-files", CoverMergeOptions, input_files, "FILE",
             "one more input a line of FILE"),
};

static bool add_file(CoverCounts *c, Str path, uint64_t weight, Error *err)
{
    MappedFile m = {0};
    if (!os_map_file(path, &m, err))
        return false;
    bool ok = m.bytes.len ? cover_counts_add(c, path, m.bytes, weight, err)
                          : error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is empty", STR_ARG(path));
    os_unmap_file(&m);
    return ok;
}

static bool add_weighted(CoverCounts *c, Str input, Error *err)
{
    Str number, path;
    uint64_t weight;
    if (!str_split(input, ',', &number, &path) || !str_parse_u64(number, 10, &weight) ||
        weight == 0)
        return error_set(err, ERROR_USAGE, "--weighted-input '%" STR_FMT "' is not N,FILE",
                         STR_ARG(input));
    return add_file(c, path, weight, err);
}

static bool add_listed(CoverCounts *c, Str list, uint64_t weight, Error *err)
{
    Bytes text;
    if (!os_read_file(c->arena, list, OS_READ_MAX_BYTES, &text, err))
        return false;
    Str rest = str_from_bytes(text), line;
    while (str_next_line(&rest, &line))
        if (line.len && line.ptr[0] != '#' && !add_file(c, line, weight, err))
            return false;
    return true;
}

static bool merge(const CoverMergeOptions *o, const StrVec *operands, CoverCounts *c, Error *err)
{
    uint64_t weight = o->weight ? o->weight : 1;
    for (size_t i = 0; i < operands->len; i++)
        if (!add_file(c, operands->at[i], weight, err))
            return false;
    for (size_t i = 0; i < o->weighted.len; i++)
        if (!add_weighted(c, o->weighted.at[i], err))
            return false;
    if (o->input_files.len && !add_listed(c, o->input_files, weight, err))
        return false;
    if (c->profile_count == 0)
        return error_set(err, ERROR_USAGE, "no profile to merge");
    return cover_counts_finish(c, err);
}

static void say_notes(const CoverCounts *c)
{
    for (size_t i = 0; i < c->notes.len; i++)
        cli_say("%" STR_FMT, STR_ARG(c->notes.at[i]));
    if (c->value_profiles)
        cli_say("value profiles (indirect calls, sizes) are not kept: they say nothing of lines");
    if (c->mismatched)
        cli_say("%llu records left out: another number of counters under the same name and hash",
                (unsigned long long)c->mismatched);
    if (c->saturated)
        cli_say("%llu sums stopped at 2^64 - 1", (unsigned long long)c->saturated);
}

static int write_out(const CoverMergeOptions *o, CoverCounts *c)
{
    Error err;
    StrBuf out = {0};
    bool text = o->text || str_ends_with(o->output, STR(".proftext"));
    bool has_bitmaps = c->bitmaps.len != 0;
    // The oldest that holds everything is read by the most tools.
    uint64_t version = o->format_version ? o->format_version : has_bitmaps ? 12 : 9;
    int status = STATUS_OK;
    if (!cover_counts_write(c, text ? 0 : (uint32_t)version, o->sparse, &out, &err)) {
        status = cli_fail(&err);
    } else if (o->output.len == 0 || str_equal(o->output, STR("-"))) {
        status = cli_print(strbuf_str(&out)) ? STATUS_OK : STATUS_FAILED;
    } else if (!os_write_file(o->output, bytes_from_str(strbuf_str(&out)),
                              o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, &err)) {
        status = cli_fail(&err);
    }
    if (!text && has_bitmaps && version < 12)
        cli_say("version %llu holds no MC/DC bitmaps; 12 does", (unsigned long long)version);
    strbuf_deinit(&out);
    return status;
}

static int merge_as_asked(const Command *cmd, const CoverMergeOptions *o, const StrVec *operands,
                          Arena *arena)
{
    uint64_t v = o->format_version;
    if (v && v != 7 && v != 9 && v != 12)
        return usage_error(cmd, "--profdata-version is 7, 9 or 12");
    if (o->output.len == 0 && !o->text)
        return usage_error(cmd, "where to? name the output with -o FILE");
    CoverCounts c = {.arena = arena};
    Error err;
    int status;
    if (merge(o, operands, &c, &err)) {
        say_notes(&c);
        status = write_out(o, &c);
    } else {
        status = cli_fail(&err);
    }
    cover_counts_deinit(&c);
    return status;
}

static int run(const Command *cmd, int argc, char **argv)
{
    Arena arena = {0};
    CoverMergeOptions o = {0};
    StrVec operands = {0};
    int status = STATUS_USAGE;
    switch (options_parse(cmd, argc, argv, &o, &arena, &operands)) {
    case PARSE_DONE:
        status = STATUS_OK;
        break;
    case PARSE_BAD:
        break;
    case PARSE_OK:
        status = merge_as_asked(cmd, &o, &operands, &arena);
        break;
    }
    arena_deinit(&arena);
    return status;
}

const Command cover_merge_command = {
    .name = "merge",
    .summary = "sum raw, indexed and text profiles of one program",
    .usage = "[OPTION ...] -o OUTPUT PROFILE ...",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .run = run,
};
