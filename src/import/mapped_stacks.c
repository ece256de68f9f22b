// SPDX-License-Identifier: Apache-2.0
// Rows of addresses through the recorder's machine, which finds modules, lines and inlined calls.

#include "import/mapped_stacks_internal.h"

#include <sys/mman.h>

#include "model/facts.h"
#include "os/proc.h"

void mapped_stacks_open(MappedStacks *ret, Profile *p, const ImportOptions *options)
{
#ifdef __aarch64__
    UnwindArch arch = UNWIND_AARCH64;
#else
    UnwindArch arch = UNWIND_X86_64;
#endif
    *ret = (MappedStacks){.p = p, .options = options};
    ret->search = options ? options->search : (ModuleSearch){.no_files = true};
    ret->event.stacks = SAMPLE_STACKS_CHAIN;
    ret->consumer = consumer_open(
        &(ConsumerSetup){.profile = p, .arch = arch, .search = &ret->search, .no_runtimes = true});
}

void mapped_stacks_close(MappedStacks *m)
{
    consumer_close(m->consumer);
    arena_deinit(&m->scratch);
    vec_free(&m->chain);
}

// ---- Mappings ----------------------------------------------------------------

static bool is_code(const ProcMap *m)
{
    // Memory without a name holds code without names: the process that knew them has ended.
    return m->exec && m->end > m->start &&
           (str_starts_with(m->path, STR("/")) || str_equal(m->path, STR("[vdso]")));
}

static void add_mapping(MappedStacks *s, const ProcMap *m)
{
    PerfRecord r = {
        .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .pid = MAPPED_STACKS_PID};
    r.tid = MAPPED_STACKS_PID;
    r.u.mmap = (PerfMmap){.pid = MAPPED_STACKS_PID,
                          .tid = MAPPED_STACKS_PID,
                          .start = m->start,
                          .len = m->end - m->start,
                          .page_offset = m->offset,
                          .major = m->device_major,
                          .minor = m->device_minor,
                          .inode = m->inode,
                          .prot = PROT_READ | PROT_EXEC,
                          .exec = true,
                          .path = m->path};
    consumer_record(s->consumer, &r, NULL);
}

// The first mapped file is the program.
static void name_process(MappedStacks *s, Str path)
{
    Str name = str_base_name(path);
    PerfRecord r = {.type = PERF_RECORD_COMM, .pid = MAPPED_STACKS_PID, .tid = MAPPED_STACKS_PID};
    r.u.comm.pid = r.u.comm.tid = MAPPED_STACKS_PID;
    r.u.comm.name = name;
    consumer_record(s->consumer, &r, NULL);
    profile_set_fact(s->p, STR(FACT_COMMAND), name);
}

void mapped_stacks_maps(MappedStacks *s, Str text)
{
    bool has_program = false;
    Str line;
    ProcMap m;
    while (str_next_line(&text, &line)) {
        if (!proc_map_parse(line, &m))
            continue;
        if (!has_program && str_starts_with(m.path, STR("/"))) {
            name_process(s, m.path);
            has_program = true;
        }
        if (is_code(&m))
            add_mapping(s, &m);
    }
    if (!has_program)
        profile_note(s->p, NOTE_WARNING, STR("no-mappings"),
                     "the file does not say which programs were mapped: addresses have no names");
}

// ---- Stacks ------------------------------------------------------------------

size_t mapped_stacks_add(MappedStacks *s, const U64Vec *places, uint64_t value)
{
    PerfSample sample = {.ip = places->len ? places->at[0] : 0, .period = value};
    s->chain.len = 0;
    vec_push(NULL, &s->chain, (uint64_t)PERF_CONTEXT_USER);
    for (size_t i = 0; i < places->len; i++)
        vec_push(NULL, &s->chain, places->at[i]);
    sample.callchain = (U64List){(const uint8_t *)s->chain.at, s->chain.len};
    PerfRecord r = {.type = PERF_RECORD_SAMPLE,
                    .misc = PERF_RECORD_MISC_USER,
                    .pid = MAPPED_STACKS_PID,
                    .tid = MAPPED_STACKS_PID,
                    .cpu = SAMPLE_CPU_NONE,
                    .u.sample = &sample};
    size_t row = s->p->samples.stack.len;
    consumer_record(s->consumer, &r, &s->event);
    s->p->samples.time_ns.at[row] = TIME_NONE;
    return row;
}

// ---- Names -------------------------------------------------------------------

static bool module_bytes(void *ctx, ModuleId module, Bytes *ret)
{
    MappedStacks *s = ctx;
    const Modules *m = &s->p->modules;
    return modules_bytes(consumer_modules(s->consumer), &s->scratch,
                         profile_text(s->p, m->path.at[module.v]),
                         profile_text(s->p, m->build_id.at[module.v]), ret);
}

bool mapped_stacks_finish(MappedStacks *s, Error *err)
{
    consumer_finish(s->consumer, 0);
    const ImportOptions *o = s->options;
    if (!o || !o->symbols)
        return true;
    SymboliseFiles files = {.ctx = s, .module_bytes = module_bytes};
    SymboliseOptions symbols = *o->symbols;
    symbols.files = files;
    symbols.is_live = false;
    if (!symbolise_profile(s->p, &symbols, NULL, err))
        return false;
    if (o->sources) {
        SourceOptions sources = *o->sources;
        sources.files = files;
        symbolise_sources(s->p, &sources);
    }
    return true;
}
