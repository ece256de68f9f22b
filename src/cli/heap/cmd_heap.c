// SPDX-License-Identifier: Apache-2.0
// assay heap: keeps account of the blocks that a program allocates, into a recording.

#include <inttypes.h>
#include <unistd.h>

#include "cli/build_options.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/heap/call_counts.h"
#include "cli/heap/gate_names.h"
#include "cli/heap/heap_gates.h"
#include "cli/record/hooked_entries.h"
#include "cli/record/record_parts.h"
#include "cli/record/recorded_symbols.h"
#include "cli/symbols.h"
#include "collect/heap/attach.h"
#include "collect/heap/entries.h"
#include "collect/sampling/sampling.h"
#include "model/heap_metrics.h"
#include "os/file.h"

// Of the clocks, in the order of HeapClock.
static const uint64_t short_lived_default[HEAP_CLOCK_COUNT] = {1000, 64 << 10, 10000};

typedef struct HeapOptions {
    uint64_t pid; // 0: a command
    Str output;
    bool force;
    Str clock;
    uint64_t short_lived; // UINT64_MAX: not given
    int64_t duration_ns;
    uint64_t sample_bytes;
    bool mappings;
    bool copies;
    StrVec alloc_fns, free_fns;
    bool no_args;
    bool quiet;
    StrVec debug_dirs;
    StrVec source_paths;
    HeapGates gates;
    BuildOptions build;
} HeapOptions;

static const Option heap_options[] = {
    OPT_U64('p', "pid", HeapOptions, pid, "PID",
            "attach to this process until it ends, --duration is over, or Ctrl-C (x86-64)"),
    OPT_TEXT('o', "output", HeapOptions, output, "FILE",
             "the recording to write (default heap.assay; an older one is kept as .old)"),
    OPT_FLAG('f', "force", HeapOptions, force, "replace FILE"),
    OPT_U64(0, "short-lived", HeapOptions, short_lived, "N",
            "blocks that live at most N units of the clock are called short-lived (default 1000 "
            "allocations, 65536 bytes or 10000 ns)"),
    OPT_CHOICE(0, "clock", HeapOptions, clock, "CLOCK", "allocations|bytes|ns",
               "measure lifetimes in allocations that the process makes meanwhile (the default), "
               "in bytes that it allocates, or in time"),
    OPT_SIZE(0, "sample", HeapOptions, sample_bytes, "BYTES",
             "record one block for every BYTES allocated, on average (512k suits production): "
             "values are estimates "
             "with a variance"),
    OPT_FLAG(0, "mmap", HeapOptions, mappings,
             "also record the memory that mmap, mremap, brk and sbrk map"),
    OPT_FLAG(0, "copies", HeapOptions, copies,
             "also count the calls of memcpy, memmove, strcpy and the related functions, and the "
             "bytes that they copy"),
    OPT_LIST(0, "alloc-fn", HeapOptions, alloc_fns, "FN[:N]",
             "also record blocks that this function of the program returns; its argument N "
             "(default 1) is the size; N*M is the product of two arguments"),
    OPT_LIST(0, "free-fn", HeapOptions, free_fns, "FN[:N]",
             "with --alloc-fn: the function that frees such blocks; its argument N (default 1) is "
             "the block"),
    OPT_DURATION(0, "duration", HeapOptions, duration_ns, "S",
                 "end the recording after this time; the command goes on"),
    OPT_FLAG(0, "no-args", HeapOptions, no_args,
             "keep the command's name without its arguments in the recording"),
    OPT_FLAG('q', "quiet", HeapOptions, quiet, "print only errors"),
    OPT_LIST(0, "debug-dir", HeapOptions, debug_dirs, "DIR",
             "look for separate debug information here, too"),
    OPT_LIST('I', "source-path", HeapOptions, source_paths, "OLD=NEW",
             "read source files whose path begins with OLD at NEW"),
    HEAP_GATE_OPTIONS(HeapOptions, gates),
    BUILD_OPTIONS(HeapOptions, build),
};

typedef struct Heap {
    Arena *arena;
    const HeapOptions *options;
    Str output;
    Program program;
    SourceOptions sources;
    SamplingOptions sampling;
    HeapEntries entries;
    AttachTarget target;
    CallCounts calls; // started when limits need them
} Heap;

static bool find_program(Heap *h, char **argv, int *status, Error *err)
{
    h->sampling.argv = argv;
    h->sampling.program = &h->program;
    if (build_options_given(&h->options->build)) {
        BuiltCommand built;
        if (!build_command(h->arena, &h->options->build, argv, &built, status, err))
            return false;
        h->program = built.program;
        h->sampling.argv = built.argv;
    } else if (!program_find(h->arena, str_from_c(argv[0]), cli_env("PATH"), &h->program, err)) {
        return false;
    }
    return record_check_program(&h->program, err);
}

static bool find_entries(Heap *h, Error *err)
{
    Str folder, name = h->program.path;
    while (str_split(name, '/', &folder, &name))
        continue;
    if (str_equal(name, STR("valgrind"))) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot record the heap under valgrind, which has its own malloc");
        return error_hint(err, "assay heap -- PROGRAM, without valgrind");
    }
    if (!heap_entries_find(h->arena, hooked_program_file(&h->program), &h->options->alloc_fns,
                           &h->options->free_fns, &h->entries, err))
        return false;
    if (h->entries.is_go && h->program.is_static) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot record the heap of '%" STR_FMT "': Go's runtime allocates for it, "
                        "and has no malloc",
                        STR_ARG(hooked_program_file(&h->program)));
        return error_hint(err, "let it write its own heap profile (pprof.WriteHeapProfile, or "
                               "/debug/pprof/heap), then: assay report PROFILE");
    }
    hooked_entries_set(&h->entries, &h->sampling);
    return true;
}

// What a process that runs already cannot be asked for.
static bool check_attached(const HeapOptions *o, bool has_command, Error *err)
{
    HeapLimit limit;
    bool per_call = false;
    for (size_t i = 0; i < o->gates.max_allocs.len; i++)
        per_call |= heap_limit_parse(o->gates.max_allocs.at[i], &limit) && limit.per_call;
    const char *with = has_command || build_options_given(&o->build) ? "a command"
                       : o->mappings                                 ? "--mmap"
                       : o->copies                                   ? "--copies"
                       : o->alloc_fns.len + o->free_fns.len          ? "--alloc-fn and --free-fn"
                       : per_call                                    ? "limits for each call"
                                                                     : NULL;
    if (o->pid > INT32_MAX)
        return error_set(err, ERROR_USAGE, "there is no process %" PRIu64, o->pid);
    return !with || error_set(err, ERROR_USAGE, "-p cannot be combined with %s", with);
}

static bool find_target(Heap *h, Error *err)
{
    uint32_t pid = (uint32_t)h->options->pid;
    if (!heap_attach_find(h->arena, pid, &h->target, err))
        return false;
    h->entries = h->target.entries;
    h->program.path = h->target.object;
    h->sampling.heap_target = &h->target;
    hooked_entries_set(&h->entries, &h->sampling);
    return true;
}

static HeapClock clock_of(const HeapOptions *o)
{
    for (int i = 0; i < HEAP_CLOCK_COUNT; i++)
        if (str_equal(o->clock, str_from_c(heap_clock_name((HeapClock)i))))
            return (HeapClock)i;
    // The clock of sampled blocks does not see the others.
    return o->sample_bytes ? HEAP_CLOCK_NS : HEAP_CLOCK_ALLOCATIONS;
}

static int finish(Heap *h, StoreWriter *writer, Profile *p, Sampling *sampling)
{
    Error err = {0};
    hooked_entries_note(p, &h->program, &h->entries, !h->options->pid);
    size_t own_notes = p->notes.key.len;
    symbols_resolve_recorded(h->arena, p, sampling, &h->options->debug_dirs, &h->sources, NULL);
    Str part = arena_str(h->arena, store_writer_part_path(writer));
    if (!store_writer_finish(writer, p, &err))
        return record_fail_with_part(part, &err);
    if (!h->options->quiet) {
        record_say_warnings(p, own_notes);
        size_t stacks = p->samples.stack.len;
        cli_say("%zu %s, in %" STR_FMT "; next: assay report %" STR_FMT, stacks,
                stacks == 1 ? "stack that allocates" : "stacks that allocate", STR_ARG(h->output),
                STR_ARG(h->output));
    }
    return STATUS_OK;
}

static int run(Heap *h, StoreWriter *writer)
{
    Profile profile;
    Sampling *sampling = NULL;
    SamplingResult result;
    Error err = {0};
    if (!call_counts_start(h->arena, &h->options->gates, h->program.path, &h->options->debug_dirs,
                           &h->calls, &err)) {
        store_writer_abandon(writer);
        return cli_fail(&err);
    }
    profile_init(&profile);
    if (!sampling_run(&h->sampling, &profile, NULL, &sampling, &result, &err)) {
        if (result.killed_by)
            record_end_hung(writer, &err, result.killed_by);
        store_writer_abandon(writer);
        profile_deinit(&profile);
        return cli_fail(&err);
    }
    int status = finish(h, writer, &profile, sampling);
    size_t missed = 0;
    U64Vec calls = {0};
    bool is_counted = call_counts_stop(&h->calls, &calls, &err);
    if (status == STATUS_OK && !is_counted)
        status = cli_fail(&err);
    if (status == STATUS_OK &&
        !gate_names_check(h->arena, &h->options->gates, &profile, hooked_program_file(&h->program),
                          &h->options->debug_dirs, &err))
        status = cli_fail(&err);
    if (status == STATUS_OK &&
        !heap_gates_judge(&h->options->gates, &profile, &calls, &missed, &err))
        status = cli_fail(&err);
    int child = record_wait_child(sampling, &result, h->program.path);
    if (result.has_child && (status == STATUS_OK || child != 0))
        status = child;
    if (status == STATUS_OK && missed)
        status = STATUS_THRESHOLD;
    sampling_close(sampling);
    profile_deinit(&profile);
    return status;
}

static int heap(CommandLine *line, void *values)
{
    const HeapOptions *o = values;
    Heap h = {.arena = line->arena, .options = o};
    Error err = {0};
    int status = STATUS_FAILED;
    StoreWriter *writer = NULL;
    StoreOptions store = {.force = o->force, .keeps_old = o->output.len == 0};
    h.output = o->output.len ? o->output : STR("heap.assay");
    h.sampling = (SamplingOptions){.engine = ENGINE_TIMER,
                                   .heap = true,
                                   .heap_clock = clock_of(o),
                                   .heap_sample_bytes = o->sample_bytes,
                                   .heap_mappings = o->mappings,
                                   .heap_copies = o->copies,
                                   .short_lived = o->short_lived == UINT64_MAX
                                                      ? short_lived_default[clock_of(o)]
                                                      : o->short_lived,
                                   .duration_ns = o->duration_ns,
                                   .no_args = o->no_args,
                                   .environment = environ,
                                   .temp_folder = cli_env("TMPDIR"),
                                   .tool_version = STR(ASSAY_VERSION)};
    if (o->pid && !check_attached(o, line->operands.len > 0, &err))
        return cli_fail(&err);
    if (!o->pid && line->operands.len == 0 && !build_options_given(&o->build)) {
        (void)error_set(&err, ERROR_USAGE, "no command to run");
        (void)error_hint(&err, "assay heap -- ./prog ARG ...");
        return cli_fail(&err);
    }
    if (o->sample_bytes && clock_of(o) != HEAP_CLOCK_NS) {
        (void)error_set(&err, ERROR_USAGE, "--sample has lifetimes in time only");
        (void)error_hint(&err, "--clock ns");
        return cli_fail(&err);
    }
    if (!heap_gates_check(&o->gates, &err) ||
        !symbols_source_options(line->arena, &o->source_paths, &h.sources, &err) ||
        !store_writer_open(h.output, &store, &writer, &err))
        return cli_fail(&err);
    if (o->pid ? find_target(&h, &err)
               : find_program(&h, line->words, &status, &err) && find_entries(&h, &err))
        return run(&h, writer);
    store_writer_abandon(writer);
    return err.text[0] ? cli_fail(&err) : status;
}

static int run_heap(const Command *cmd, int argc, char **argv)
{
    HeapOptions o = {.short_lived = UINT64_MAX, .gates = HEAP_GATES_NONE};
    return command_run_parsed(cmd, argc, argv, &o, heap);
}

// Spellings that users of valgrind and heaptrack know.
static const ForeignOption foreign[] = {
    BUILD_FOREIGN_OPTIONS,
    {0, "tool", FOREIGN_REFUSED, "assay heap -- CMD does what dhat and massif do"},
    {0, "mode", FOREIGN_REFUSED,
     "--copies counts copies; assay_heap_mark() of <assay/heap.h> marks events"},
    {0, "leak-check", FOREIGN_REFUSED,
     "--leaks 0 fails if a block is not freed; assay report heap.assay --sort end shows such "
     "blocks"},
    {0, "show-leak-kinds", FOREIGN_REFUSED,
     "assay report heap.assay --sort end shows all blocks that were not freed"},
    {0, "show-reachable", FOREIGN_REFUSED,
     "assay report heap.assay --sort end shows all blocks that were not freed"},
    {0, "track-origins", FOREIGN_REFUSED,
     "assay does not look for wrong accesses; valgrind and -fsanitize=memory do"},
    {0, "error-exitcode", FOREIGN_REFUSED, "--leaks 0 ends with status 3 if a block is not freed"},
    {0, "suppressions", FOREIGN_REFUSED, "--leaks N allows N blocks that are not freed"},
    {0, "gen-suppressions", FOREIGN_REFUSED, "--leaks N allows N blocks that are not freed"},
    {0, "trace-children", FOREIGN_REFUSED, "leave it out: child processes are recorded"},
    {0, "num-callers", FOREIGN_REFUSED, "leave it out: stacks are complete"},
    {0, "depth", FOREIGN_REFUSED, "leave it out: stacks are complete"},
    {0, "log-file", FOREIGN_REFUSED, "assay report heap.assay -o FILE writes the report"},
    {0, "xml", FOREIGN_REFUSED, "assay report heap.assay --json"},
    {0, "xml-file", FOREIGN_REFUSED, "assay report heap.assay --json -o FILE"},
    {0, "dhat-out-file", FOREIGN_REFUSED, "assay export heap.assay -f dhat -o FILE"},
    {0, "massif-out-file", FOREIGN_REFUSED, "assay export heap.assay -f massif -o FILE"},
    {0, "pages-as-heap", FOREIGN_REFUSED, "--mmap also records mappings"},
    {0, "stacks", FOREIGN_REFUSED, "leave it out: the stacks of threads are not measured"},
    {0, "time-unit", FOREIGN_REFUSED, "--clock CLOCK measures lifetimes in bytes or in time"},
    {'r', "raw", FOREIGN_IGNORED, NULL},
    {0, "use-inject", FOREIGN_IGNORED, NULL},
    {'v', "verbose", FOREIGN_REFUSED, "assay report heap.assay --notes"},
};

const Command heap_command = {
    .name = "heap",
    .group = "see where",
    .summary = "where a program allocates memory, and how much of it is never freed",
    .first = "  assay heap -- CMD           account of each block, then: assay report heap.assay\n"
             "  assay heap --cargo --bin X  build with cargo first\n",
    .usage = "[OPTION ...] [--] CMD [ARG ...]\n"
             "[OPTION ...] -p PID\n"
             "[OPTION ...] --cargo [CARGO-OPTION ...] [-- ARG ...]",
    .options = heap_options,
    .option_count = ARRAY_LEN(heap_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .operands_end_options = true,
    .run = run_heap,
};
