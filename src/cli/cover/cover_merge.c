// SPDX-License-Identifier: Apache-2.0
// assay cover merge: sums profiles of one program.

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_load.h"
#include "cli/progress.h"
#include "collect/cover/pool.h"
#include "coverage/llvm/correlated_programs.h"
#include "coverage/llvm/merge.h"
#include "coverage/llvm/programs.h"
#include "llvmcov/profdata.h"
#include "llvmcov/profraw.h"
#include "llvmcov/sections.h"
#include "model/facts.h"
#include "os/clock.h"
#include "os/file.h"
#include "store/store.h"

typedef struct CoverMergeCliOptions {
    Str output, input_files, failure_mode, watch;
    uint64_t format_version, weight, threads;
    StrVec weighted;
    bool sparse, text, force;
    bool is_lprof;  // -m
    bool any_build; // -T
} CoverMergeCliOptions;

static const Option options[] = {
    OPT_TEXT(
        'o', "output", CoverMergeCliOptions, output, "FILE",
        "write FILE; .proftext gets the text form, .assay a recording with the counts of lines, "
        "functions, branches and regions, for which the programs are inputs too"),
    OPT_TEXT('d', NULL, CoverMergeCliOptions, output, "FILE", "lprof's spelling of the same"),
    OPT_FLAG('f', "force", CoverMergeCliOptions, force, "replace an existing output file"),
    OPT_FLAG(0, "text", CoverMergeCliOptions, text, "the text form of llvm-profdata"),
    OPT_U64(0, "profdata-version", CoverMergeCliOptions, format_version, "N",
            "7 for LLVM 13 and later, 9 for 16 and later, 12 for 19 and later (default: the oldest "
            "that can hold the profiles: binary ids need 9, MC/DC and temporal traces need 12)"),
    OPT_FLAG(0, "sparse", CoverMergeCliOptions, sparse, "leave out functions that never ran"),
    OPT_U64('w', "weight", CoverMergeCliOptions, weight, "N",
            "count each of the named inputs N times"),
    OPT_LIST(0, "weighted-input", CoverMergeCliOptions, weighted, "N,FILE",
             "one more input, counted N times"),
    OPT_TEXT(0, "input-files", CoverMergeCliOptions, input_files, "FILE",
             "one more input a line of FILE"),
    OPT_FLAG('m', NULL, CoverMergeCliOptions, is_lprof,
             "merge as lprof does: profiles of another build than the first one's are refused"),
    OPT_FLAG('T', NULL, CoverMergeCliOptions, any_build, "with -m: take them all the same"),
    OPT_CHOICE(
        0, "failure-mode", CoverMergeCliOptions, failure_mode, "MODE", "any|all|warn",
        "fail when any input cannot be read, only when all cannot be read (default), or never"),
    OPT_TEXT(0, "watch", CoverMergeCliOptions, watch, "DIR",
             "merge and delete the raw profiles that appear in DIR until a signal ends it"),
    OPT_U64('j', "threads", CoverMergeCliOptions, threads, "N",
            "threads; without it one for each processor where there are enough files"),
};

// ---- Inputs ------------------------------------------------------------------

typedef struct Inputs {
    Arena *arena;
    CoverMergeInputVec files;
    bool keep_folders; // as they are: what is in them is found by who reads them
} Inputs;

static void add_file(Inputs *in, Str path, uint64_t weight)
{
    vec_push(in->arena, &in->files, (CoverMergeInput){path, weight});
}

static bool is_profile_name(Str path)
{
    return str_ends_with(path, STR(".profraw")) || str_ends_with(path, STR(".profdata")) ||
           str_ends_with(path, STR(".proftext"));
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const Str *)a, *(const Str *)b);
}

// A folder itself, as opposed to a link to one, which may lead back.
static bool is_folder(Inputs *in, Str path, unsigned char type)
{
    struct stat st;
    if (type != DT_UNKNOWN)
        return type == DT_DIR;
    return lstat(arena_c_str(in->arena, path), &st) == 0 && S_ISDIR(st.st_mode);
}

// The raw profiles of a folder and those below it, in order of their names.
static bool add_folder(Inputs *in, Str path, uint64_t weight, unsigned depth, Error *err)
{
    enum { DEPTH_MAX = 64 };
    DIR *dir = opendir(arena_c_str(in->arena, path));
    if (!dir)
        return error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(path));
    StrVec names = {0}, folders = {0};
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        Str name = arena_printf(in->arena, "%" STR_FMT "/%s", STR_ARG(path), e->d_name);
        if (is_folder(in, name, e->d_type))
            vec_push(in->arena, &folders, name);
        else if (str_ends_with(name, STR(".profraw")))
            vec_push(in->arena, &names, name);
    }
    closedir(dir);
    if (names.len)
        qsort(names.at, names.len, sizeof(names.at[0]), compare_names);
    if (folders.len)
        qsort(folders.at, folders.len, sizeof(folders.at[0]), compare_names);
    for (size_t i = 0; i < names.len; i++)
        add_file(in, names.at[i], weight);
    for (size_t i = 0; i < folders.len && depth < DEPTH_MAX; i++)
        if (!add_folder(in, folders.at[i], weight, depth + 1, err))
            return false;
    return true;
}

static bool add_operand(Inputs *in, Str path, uint64_t weight, Error *err)
{
    struct stat st;
    if (!in->keep_folders && stat(arena_c_str(in->arena, path), &st) == 0 && S_ISDIR(st.st_mode))
        return add_folder(in, path, weight, 0, err);
    add_file(in, path, weight);
    return true;
}

static bool add_weighted(Inputs *in, Str input, Error *err)
{
    Str number, path;
    uint64_t weight;
    if (!str_split(input, ',', &number, &path) || !str_parse_u64(number, 10, &weight) ||
        weight == 0)
        return error_set(err, ERROR_USAGE, "--weighted-input '%" STR_FMT "' is not N,FILE",
                         STR_ARG(input));
    return add_operand(in, path, weight, err);
}

static bool add_listed(Inputs *in, Str list, uint64_t weight, Error *err)
{
    Bytes text;
    if (!os_read_file(in->arena, list, OS_READ_MAX_BYTES, &text, err))
        return false;
    Str rest = str_from_bytes(text), line;
    while (str_next_line(&rest, &line))
        if (line.len && line.ptr[0] != '#' && !add_operand(in, line, weight, err))
            return false;
    return true;
}

// Sums of sums may replace one of their inputs; a process's own counts may not be lost.
static bool check_output(const CoverMergeCliOptions *o, const Inputs *in, Error *err)
{
    struct stat to, from;
    uint8_t start[8];
    if (o->output.len == 0 || stat(arena_c_str(in->arena, o->output), &to) != 0)
        return true;
    for (size_t i = 0; i < in->files.len; i++) {
        Str path = in->files.at[i].path;
        if (stat(arena_c_str(in->arena, path), &from) != 0 || from.st_ino != to.st_ino ||
            from.st_dev != to.st_dev ||
            !profraw_is(bytes_over(start, os_read_start(path, start, sizeof(start)))))
            continue;
        error_set(err, ERROR_USAGE, "'%" STR_FMT "' is a raw profile among the inputs",
                  STR_ARG(o->output));
        return error_hint(err, "name another output with -o; a .profdata may be added to in place");
    }
    return true;
}

static bool list_inputs(const CoverMergeCliOptions *o, const StrVec *operands, Inputs *in,
                        Error *err)
{
    uint64_t weight = o->weight ? o->weight : 1;
    for (size_t i = 0; i < operands->len; i++)
        if (!add_operand(in, operands->at[i], weight, err))
            return false;
    for (size_t i = 0; i < o->weighted.len; i++)
        if (!add_weighted(in, o->weighted.at[i], err))
            return false;
    if (o->input_files.len && !add_listed(in, o->input_files, weight, err))
        return false;
    if (in->files.len == 0)
        return error_set(err, ERROR_USAGE, "no profile to merge");
    return check_output(o, in, err);
}

// A program or debug file, as opposed to a profile.
static bool is_object(Str path)
{
    MappedFile m = {0};
    if (is_profile_name(path) || !os_map_file(path, &m, NULL))
        return false;
    bool is = !cover_counts_accept(m.bytes) && cov_sections_known(m.bytes);
    os_unmap_file(&m);
    return is;
}

// Programs among the inputs say what the counters of correlated profiles are of.
static void take_objects(Arena *arena, const StrVec *operands, CoverCorrelations *objects,
                         StrVec *profiles)
{
    for (size_t i = 0; i < operands->len; i++)
        if (is_object(operands->at[i]))
            cover_correlations_offer(objects, operands->at[i]);
        else
            vec_push(arena, profiles, operands->at[i]);
}

static void say_unused(const CoverCorrelations *objects)
{
    for (size_t i = 0; i < objects->objects.len; i++)
        if (!objects->objects.at[i].is_used)
            cli_say("'%" STR_FMT "' is not a profile, and no profile needs it",
                    STR_ARG(objects->objects.at[i].path));
}

static void print_notes(const CoverCounts *c)
{
    Profile notes;
    profile_init(&notes);
    cover_counts_note(c, &notes);
    cover_print_notes(&notes);
    profile_deinit(&notes);
}

// ---- Merging -----------------------------------------------------------------

static void say_failures(const CoverMergeResult *result, size_t first)
{
    enum { SAID_MAX = 20 };
    size_t count = result->failures.len, end = MIN(count, first + SAID_MAX);
    for (size_t i = first; i < end; i++)
        cli_say_left_out(&result->failures.at[i].error);
    if (end < count)
        cli_say("and %zu more left out", count - end);
}

static bool merge(const CoverMergeCliOptions *o, const StrVec *operands, CoverCounts *c, Error *err)
{
    Inputs in = {.arena = c->arena};
    CoverMergeResult result = {0};
    Progress progress = progress_begin("merging profiles", "of one thread's share");
    CoverMergeOptions how = {
        .progress = progress_show,
        .progress_ctx = &progress,
        .thread_count = (unsigned)MIN(o->threads, (uint64_t)UINT16_MAX),
        .stop_at_failure = str_equal(o->failure_mode, STR("any")),
        .same_build = o->is_lprof && !o->any_build,
    };
    if (!list_inputs(o, operands, &in, err))
        return false;
    bool ok = cover_merge_files(c, &in.files, &how, &result, err);
    progress_clear(&progress);
    bool none = result.merged == 0 && result.failures.len;
    if (!ok && none && str_equal(o->failure_mode, STR("warn")))
        ok = true;
    // The failure that ends the merge is printed as the error.
    say_failures(&result, ok ? 0 : 1);
    if (ok && result.failures.len)
        cli_say("%zu of %zu inputs merged", result.merged, in.files.len);
    cover_merge_result_deinit(&result);
    return ok && cover_counts_finish(c, err);
}

static bool is_text(const CoverMergeCliOptions *o)
{
    return o->text || str_ends_with(o->output, STR(".proftext"));
}

// The oldest version that holds everything is read by the most tools.
static uint32_t version_for(const CoverMergeCliOptions *o, const CoverCounts *c)
{
    bool wants_12 =
        c->bitmaps.len != 0 || c->vtables.names.len != 0 || c->variant & PROF_VARIANT_TEMPORAL;
    uint32_t oldest = wants_12 ? 12 : c->binary_ids.len ? 9 : 7;
    return o->format_version ? (uint32_t)o->format_version : oldest;
}

static bool encode(const CoverMergeCliOptions *o, CoverCounts *c, StrBuf *out, Error *err)
{
    return cover_counts_write(c, is_text(o) ? 0 : version_for(o, c), o->sparse, out, err);
}

// LLVM 14 to 17 write raw profiles of one version, of which 14 and 15 do not read version 9.
static void say_about_ids(const CoverMergeCliOptions *o, const CoverCounts *c, uint32_t version)
{
    enum { RAW_OF_LLVM_17 = 8 };
    if (is_text(o) || c->binary_ids.len == 0)
        return;
    if (version < 9)
        cli_say("version %u holds no binary ids of programs; 9 does", version);
    else if (version == 9 && !o->format_version && c->raw_version &&
             c->raw_version <= RAW_OF_LLVM_17)
        cli_say("version 9 keeps the binary ids of the programs and is for LLVM 16 and later; "
                "--profdata-version 7 leaves them out, for LLVM 13 to 15");
}

static int write_out(const CoverMergeCliOptions *o, CoverCounts *c, OutputMode mode)
{
    Error err;
    StrBuf out = {0};
    unsigned version = version_for(o, c);
    int status = STATUS_OK;
    if (!encode(o, c, &out, &err)) {
        status = cli_fail(&err);
    } else if (o->output.len == 0 || str_equal(o->output, STR("-"))) {
        status = cli_print(strbuf_str(&out)) ? STATUS_OK : STATUS_FAILED;
    } else if (!os_write_file_synced(o->output, bytes_from_str(strbuf_str(&out)), mode, &err)) {
        status = cli_fail(&err);
    }
    say_about_ids(o, c, version);
    if (!is_text(o) && c->vtables.names.len && version < 12)
        cli_say("version %u holds no virtual tables of value profiles; 12 does", version);
    if (!is_text(o) && c->traces.at.len && version < 12)
        cli_say("version %u holds no order of first calls (temporal traces); 12 does", version);
    if (!is_text(o) && c->bitmaps.len && version < 12)
        cli_say("version %u holds no MC/DC bitmaps; 12 does", version);
    strbuf_deinit(&out);
    return status;
}

// ---- Watching ----------------------------------------------------------------

typedef struct Watch {
    const CoverMergeCliOptions *o;
    CoverPool *pool;
    int64_t written_ns;
    uint64_t written_files; // how many the last writing had
} Watch;

// Raw profiles are deleted when the file that has their counts is on the disk: a watch that is
// killed loses none.
static void write_so_far(void *ctx)
{
    enum { EVERY_NS = 3 * 1000000000ll };
    Watch *w = ctx;
    int64_t now = os_monotonic_ns();
    if (w->pool->file_count == w->written_files || now - w->written_ns < EVERY_NS)
        return;
    Arena arena = {0};
    CoverCounts sums = {.arena = &arena};
    StrBuf out = {0};
    Error err;
    if (!cover_counts_absorb(&sums, &w->pool->counts, &err) || !cover_counts_finish(&sums, &err) ||
        !encode(w->o, &sums, &out, &err) ||
        !os_write_file_synced(w->o->output, bytes_from_str(strbuf_str(&out)), OUTPUT_REPLACE, &err))
        cli_say("not written yet: %s", err.text);
    else
        cover_pool_delete_added(w->pool);
    strbuf_deinit(&out);
    cover_counts_deinit(&sums);
    arena_deinit(&arena);
    w->written_ns = now;
    w->written_files = w->pool->file_count;
}

// Raw profiles are deleted in the end: checks first that the sums can be written.
static bool watch_folder(const CoverMergeCliOptions *o, CoverPool *pool, Arena *arena, Error *err)
{
    if (!o->force && os_file_exists(o->output)) {
        error_set(err, ERROR_LIMIT, "'%" STR_FMT "' exists and is not replaced",
                  STR_ARG(o->output));
        return error_hint(err, "give --force to replace it, or another name with -o");
    }
    if (!cover_pool_open(pool, arena, o->watch, err))
        return false;
    pool->keep_folder = pool->defers = true;
    cover_pool_take_up(pool);
    cli_say("watching '%" STR_FMT "'; Ctrl-C or SIGTERM ends it; '%" STR_FMT
            "' is written every few seconds",
            STR_ARG(o->watch), STR_ARG(o->output));
    Watch watch = {.o = o, .pool = pool, .written_ns = os_monotonic_ns()};
    if (!cover_pool_watch(pool, write_so_far, &watch, err))
        return false;
    for (size_t i = 0; i < pool->refused.len; i++)
        cli_say("left out: %" STR_FMT, STR_ARG(pool->refused.at[i]));
    if (pool->refused.len)
        cli_say("what was left out is kept in '%" STR_FMT "' as *.refused", STR_ARG(o->watch));
    cli_say("%llu profile%s of %.1f MB merged", (unsigned long long)pool->file_count,
            plural_s(pool->file_count), (double)pool->byte_count / 1e6);
    if (pool->file_count == 0)
        return error_set(err, ERROR_NOT_FOUND, "no profile came to '%" STR_FMT "'",
                         STR_ARG(o->watch));
    return true;
}

// Counts by line, function, branch and region, as a recording that every view opens.
static int write_recording(const CoverMergeCliOptions *o, const StrVec *operands, Arena *arena)
{
    Inputs in = {.arena = arena, .keep_folders = true};
    // Not what follows from these, as listings show it.
    CoverRequest inputs = {.weighted = &in.files,
                           .wants = COVER_WANT_ROWS | COVER_WANT_REGIONS | COVER_WANT_FILE_TOTALS |
                                    COVER_WANT_BRANCH_SITES | COVER_WANT_DECISIONS};
    Profile p;
    uint64_t has_values = 0;
    Error err;
    StoreOptions how = {.force = o->force};
    if (!list_inputs(o, operands, &in, &err))
        return cli_fail(&err);
    bool ok = cover_load_printed(&inputs, &(StrVec){0}, &p, &err);
    if (ok) {
        if (profile_fact_u64(&p, STR(FACT_COVER_VALUES), &has_values) && has_values)
            cli_say("value profiles (indirect calls, sizes) are not kept in a recording: they "
                    "contain nothing about lines; a .profdata or .proftext keeps them");
        profile_set_fact(&p, STR(FACT_COLLECTOR), STR("cover"));
        profile_set_fact(&p, STR(FACT_TOOL_VERSION), STR(ASSAY_VERSION));
        ok = store_write(o->output, &how, &p, &err);
    }
    int status = ok ? STATUS_OK : cli_fail(&err);
    profile_deinit(&p);
    return status;
}

static int merge_as_asked(CommandLine *line, void *values)
{
    const CoverMergeCliOptions *o = values;
    const Command *cmd = line->cmd;
    const StrVec *operands = &line->operands;
    Arena *arena = line->arena;
    uint64_t v = o->format_version;
    const FormatVersion *version = format_version_find(&profdata_versions, v);
    if (v && !(version && version->is_written))
        return usage_error(cmd, "--profdata-version is 7, 9 or 12");
    if (o->output.len == 0 && !o->text)
        return usage_error(cmd, "no output is named; give -o FILE");
    if (o->watch.len && (o->output.len == 0 || str_ends_with(o->output, STR(".assay"))))
        return usage_error(cmd, "--watch writes a profile: name it with -o FILE");
    if (str_ends_with(o->output, STR(".assay")))
        return write_recording(o, operands, arena);
    CoverPool pool = {.arena = arena, .notify_fd = -1, .keep_folder = true};
    Arena sums = {.huge_pages = true};
    pool.counts.arena = &sums;
    CoverCounts *c = &pool.counts;
    CoverCorrelations objects;
    StrVec profiles = {0};
    Error err;
    bool ok;
    cover_correlations_init(&objects);
    c->correlations = &objects;
    take_objects(arena, operands, &objects, &profiles);
    if (o->watch.len)
        ok = watch_folder(o, &pool, arena, &err) &&
             (profiles.len ? merge(o, &profiles, c, &err) : cover_counts_finish(c, &err));
    else
        ok = merge(o, &profiles, c, &err);
    int status;
    if (ok) {
        print_notes(c);
        say_unused(&objects);
        // A watch may replace its own output.
        status = write_out(o, c, o->force || o->watch.len ? OUTPUT_REPLACE : OUTPUT_KEEP);
        if (status == STATUS_OK)
            cover_pool_delete_added(&pool);
    } else {
        status = cli_fail(&err);
    }
    cover_pool_deinit(&pool);
    cover_correlations_deinit(&objects);
    arena_deinit(&sums);
    return status;
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverMergeCliOptions o = {.failure_mode = STR("all")};
    return command_run_parsed(cmd, argc, argv, &o, merge_as_asked);
}

// Spellings that users of llvm-profdata know.
static const ForeignOption foreign[] = {
    {0, "instr", FOREIGN_IGNORED, NULL},
    {0, "sample", FOREIGN_REFUSED, "profiles of samples (AutoFDO) are not read"},
    {0, "num-threads", FOREIGN_REFUSED, "-j N"},
    {0, "weighted-input-files", FOREIGN_REFUSED, "--weighted-input N,FILE"},
};

const Command cover_merge_command = {
    .name = "merge",
    .summary = "sum raw, indexed and text profiles of one program",
    .first = "  assay cover merge -o all.profdata *.profraw    join profiles of clang\n"
             "  assay cover merge -o all.assay shard-*/        join results of runs\n"
             "  assay cover merge --watch DIR -o all.profdata  join profiles as they come\n",
    .usage = "[OPTION ...] -o OUTPUT [PROGRAM] PROFILE|FOLDER ...",
    .details =
        "Versions may be mixed. An input that cannot be read is named and left out; of a raw\n"
        "profile that is cut short the whole parts count. Sums stop at 2^64 - 3. Profiles of\n"
        "programs built with -profile-correlate need the program, or its debug file, too.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .run = run,
};
