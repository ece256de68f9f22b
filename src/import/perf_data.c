// SPDX-License-Identifier: Apache-2.0
// perf.data -> Profile: its records in the order of time go through the same
// machine as those of a recording of ours.
// Format: linux tools/perf/Documentation/perf.data-file-format.txt.

#include "import/perf_data_internal.h"

#include "base/log.h"
#include "model/facts.h"
#include "wire/ring.h"

enum {
    RECORD_HEAD = sizeof(struct perf_event_header),
    HELD_MAX = 1024, // samples that wait for their call chain
    X86_64_REGS_USED = 24,
};

// ---- Events ----------------------------------------------------------------

static SampleStacks stacks_of(const PerfDataImport *in, const struct perf_event_attr *attr)
{
    uint64_t t = attr->sample_type;
    if (attr->config1 == WIRE_ATTR_MARK && t == WIRE_SAMPLE_TYPE)
        return SAMPLE_STACKS_WALKED;
    if (t & PERF_SAMPLE_STACK_USER && t & PERF_SAMPLE_REGS_USER && !in->other_arch)
        return SAMPLE_STACKS_TABLES;
    if (t & PERF_SAMPLE_BRANCH_STACK && attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
        return SAMPLE_STACKS_LBR;
    return t & PERF_SAMPLE_CALLCHAIN ? SAMPLE_STACKS_CHAIN : SAMPLE_STACKS_NONE;
}

static bool is_clock(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE &&
           (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

// "cycles:u" -> "cycles"; a tracepoint's "sched:sched_switch" stays.
static Str metric_name(Str event, const struct perf_event_attr *attr)
{
    if (is_clock(attr))
        return attr->config == PERF_COUNT_SW_CPU_CLOCK ? STR("cpu time") : STR("task time");
    size_t end = attr->type == PERF_TYPE_TRACEPOINT ? SIZE_MAX : str_find_char(event, ':');
    return end == SIZE_MAX || end == 0 ? event : str_slice(event, 0, end);
}

static void add_source(PerfDataImport *in, const PerfDataEvent *event)
{
    const struct perf_event_attr *attr = &event->attr;
    PerfDataSource s = {.layout = perf_layout(attr)};
    s.is_dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
    s.sample.regs_user = attr->sample_regs_user;
    if (!(attr->sample_type & PERF_SAMPLE_PERIOD))
        s.sample.period = attr->freq || attr->sample_period == 0 ? 1 : attr->sample_period;
    s.sample.group_read = s.sample.leader_is_read =
        attr->sample_type & PERF_SAMPLE_READ && attr->read_format & PERF_FORMAT_GROUP;
    s.sample.is_inherited = attr->inherit;
    in->needs_unwinding |=
        attr->sample_type & PERF_SAMPLE_STACK_USER && attr->sample_type & PERF_SAMPLE_REGS_USER;
    for (size_t i = 0; i < event->ids.len; i++) {
        table_insert(&in->by_id, hash_u64(event->ids.at[i]), (uint32_t)in->ids.len);
        vec_push(NULL, &in->ids, event->ids.at[i]);
        vec_push(NULL, &in->source_of_id, (uint32_t)in->sources.len);
    }
    vec_push(NULL, &in->sources, s);
}

// In pipe form events arrive among the records.
static void take_new_events(PerfDataImport *in)
{
    while (in->sources.len < in->info->events.len)
        add_source(in, &in->info->events.at[in->sources.len]);
}

static uint64_t u64_at(Bytes b, size_t at)
{
    uint64_t v = 0;
    if (at <= b.len && b.len - at >= 8)
        memcpy(&v, b.ptr + at, 8);
    return v;
}

// Where the id stands: with IDENTIFIER at a fixed place whatever the event, else
// where the first event has it, for then all are of one layout.
static uint64_t id_of(const PerfDataImport *in, const PerfDataRecord *r)
{
    enum {
        BEFORE_ID = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
        BEHIND_ID = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU
    };
    uint64_t t = in->sources.at[0].layout.sample_type;
    bool is_sample = r->type == PERF_RECORD_SAMPLE;
    if (!is_sample && in->sources.at[0].layout.id_all_size == 0)
        return 0;
    if (t & PERF_SAMPLE_IDENTIFIER)
        return u64_at(r->bytes, is_sample ? (size_t)RECORD_HEAD : r->bytes.len - 8);
    if (!(t & PERF_SAMPLE_ID))
        return 0;
    size_t before = 8u * (size_t)__builtin_popcountll(t & BEFORE_ID);
    size_t behind = 8u * (size_t)__builtin_popcountll(t & BEHIND_ID);
    return u64_at(r->bytes, is_sample ? RECORD_HEAD + before : r->bytes.len - behind - 8);
}

static uint32_t source_by_id(const PerfDataImport *in, uint64_t id)
{
    uint32_t row;
    for (TableProbe p = table_probe(&in->by_id, hash_u64(id)); table_next(&in->by_id, &p, &row);)
        if (in->ids.at[row] == id)
            return in->source_of_id.at[row];
    return UINT32_MAX;
}

// The event whose layout a record has; the first one's when it does not tell.
static uint32_t source_of(const PerfDataImport *in, const PerfDataRecord *r)
{
    if (in->sources.len == 1)
        return 0;
    uint32_t source = source_by_id(in, id_of(in, r));
    return source == UINT32_MAX ? 0 : source;
}

static const SampleEvent *event_by_id(void *ctx, uint64_t id)
{
    const PerfDataImport *in = ctx;
    uint32_t source = source_by_id(in, id);
    return source == UINT32_MAX || in->sources.at[source].is_dummy ? NULL
                                                                   : &in->sources.at[source].sample;
}

// ---- Build-ids -------------------------------------------------------------

// "[kernel.kallsyms]_text" of a mapping is "[kernel.kallsyms]" in the list.
static Str listed_path(Str path)
{
    Str kernel = STR("[kernel.kallsyms]");
    return str_starts_with(path, kernel) ? kernel : path;
}

static void index_build_ids(PerfDataImport *in)
{
    for (size_t i = in->by_path.len; i < in->info->build_ids.len; i++)
        table_insert(&in->by_path, str_hash(in->info->build_ids.at[i].path), (uint32_t)i);
}

static Bytes build_id_of(PerfDataImport *in, Str path)
{
    uint32_t row;
    index_build_ids(in);
    path = listed_path(path);
    for (TableProbe p = table_probe(&in->by_path, str_hash(path));
         table_next(&in->by_path, &p, &row);) {
        const PerfDataBuildId *b = &in->info->build_ids.at[row];
        uint16_t mode = b->misc & PERF_RECORD_MISC_CPUMODE_MASK;
        bool is_guest =
            mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
        if (!is_guest && str_equal(b->path, path))
            return b->id;
    }
    return (Bytes){0};
}

// ---- Records in order --------------------------------------------------------

static UnwindArch arch_of(PerfDataImport *in)
{
    Str arch = in->info->arch;
    if (str_equal(arch, STR("aarch64")) || str_equal(arch, STR("arm64")))
        return UNWIND_AARCH64;
    if (str_equal(arch, STR("x86_64")))
        return UNWIND_X86_64;
    // The masks differ: x86-64 has no registers between ss and r8 … r15's end.
    for (size_t i = 0; arch.len == 0 && i < in->sources.len; i++)
        if (in->sources.at[i].sample.regs_user >> X86_64_REGS_USED)
            return UNWIND_AARCH64;
    in->other_arch = arch.len != 0;
    return UNWIND_X86_64;
}

// Time 0 is the first record that has a time: nothing older follows.
static uint64_t first_time(const PerfDataImport *in)
{
    for (size_t i = 0; i < in->order.queued.len; i++)
        if (in->order.queued.at[i].time)
            return in->order.queued.at[i].time;
    return 0;
}

static void open_consumer(PerfDataImport *in)
{
    in->start = first_time(in);
    in->search.kernel_release = in->info->os_release;
    UnwindArch arch = arch_of(in);
    for (size_t i = 0; i < in->sources.len; i++) {
        PerfDataSource *s = &in->sources.at[i];
        const PerfDataEvent *event = &in->info->events.at[i];
        s->sample.stacks = stacks_of(in, &event->attr);
        if (s->is_dummy)
            continue;
        Str name = s->sample.stacks == SAMPLE_STACKS_WALKED
                       ? STR(EVENT_TIMERS)
                       : perf_data_event_name(&in->arena, event);
        s->sample.metric =
            profile_add_metric(in->profile, metric_name(name, &event->attr),
                               is_clock(&event->attr) ? STR("ns") : STR(""), METRIC_SUM, name);
    }
    in->consumer = consumer_open(&(ConsumerSetup){.profile = in->profile,
                                                  .arch = arch,
                                                  .search = &in->search,
                                                  .start_ns = (int64_t)in->start,
                                                  .event_by_id = event_by_id,
                                                  .ctx = in});
}

// ---- Deferred call chains ------------------------------------------------------

// The cookie behind the mark for "the user part comes later"; false without one.
static bool find_cookie(const PerfSample *s, uint64_t *ret)
{
    for (size_t i = 0; i + 1 < s->callchain.count; i++)
        if (u64_list_get(s->callchain, i) == PERF_CHAIN_USER_DEFERRED) {
            *ret = u64_list_get(s->callchain, i + 1);
            return true;
        }
    return false;
}

static void deliver_held(PerfDataImport *in, const HeldSample *h, U64List chain)
{
    PerfRecord r;
    const PerfDataSource *source = &in->sources.at[h->event];
    if (!perf_record_parse(&source->layout, h->record, &in->sample, &r))
        return; // it was parsed before
    in->sample.deferred = chain;
    consumer_record(in->consumer, &r, &source->sample);
}

static void release_held(PerfDataImport *in)
{
    for (size_t i = 0; i < in->held.len; i++)
        deliver_held(in, &in->held.at[i], (U64List){0});
    in->counts.no_chain += in->held.len;
    in->held.len = 0;
    arena_deinit(&in->held_bytes);
}

static void hold(PerfDataImport *in, const PerfRecord *r, Bytes record, uint32_t event,
                 uint64_t cookie)
{
    if (in->held.len == HELD_MAX)
        release_held(in);
    Bytes copy = arena_bytes(&in->held_bytes, record);
    vec_push(NULL, &in->held, (HeldSample){r->tid, event, cookie, copy});
}

static void on_deferred(PerfDataImport *in, const PerfRecord *r)
{
    size_t kept = 0;
    uint64_t cookie = r->u.deferred.cookie;
    U64List chain = r->u.deferred.chain;
    uint32_t tid = r->tid;
    for (size_t i = 0; i < in->held.len; i++) {
        HeldSample h = in->held.at[i];
        if (h.tid == tid && h.cookie == cookie)
            deliver_held(in, &h, chain);
        else
            in->held.at[kept++] = h;
    }
    in->held.len = kept;
    if (kept == 0)
        arena_deinit(&in->held_bytes);
}

// ---- Records -------------------------------------------------------------------

static void on_sample(PerfDataImport *in, const PerfRecord *r, Bytes record, uint32_t event)
{
    const PerfDataSource *source = &in->sources.at[event];
    uint64_t cookie;
    switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_HYPERVISOR:
        in->counts.hypervisor++;
        return;
    case PERF_RECORD_MISC_GUEST_KERNEL:
    case PERF_RECORD_MISC_GUEST_USER:
        in->counts.guest++;
        return;
    default:
        break;
    }
    if (source->is_dummy)
        in->counts.malformed++;
    else if (r->u.sample->callchain.count && find_cookie(r->u.sample, &cookie))
        hold(in, r, record, event, cookie);
    else
        consumer_record(in->consumer, r, &source->sample);
}

static void on_mmap(PerfDataImport *in, PerfRecord *r)
{
    uint16_t mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
        return;
    PerfMmap *m = &r->u.mmap;
    if (m->build_id.len == 0 && m->path.len)
        m->build_id = build_id_of(in, m->path);
    consumer_record(in->consumer, r, NULL);
}

// Counts a record that is left out; false for others.
static bool leave_out(PerfDataImport *in, uint32_t type)
{
    enum { NEWEST_KERNEL_TYPE = PERF_RECORD_CHAIN_DEFERRED, NEWEST_PERF_TYPE = 84 };
    bool is_unknown = type == 0 || type > NEWEST_PERF_TYPE ||
                      (type > NEWEST_KERNEL_TYPE && type < PERFDATA_HEADER_ATTR);
    switch (type) {
    case PERF_RECORD_AUX:
    case PERF_RECORD_ITRACE_START:
    case PERF_RECORD_AUX_OUTPUT_HW_ID:
    case PERFDATA_AUXTRACE_INFO:
    case PERFDATA_AUXTRACE:
    case PERFDATA_AUXTRACE_ERROR:
        in->counts.trace++;
        return true;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        in->counts.switches++;
        return true;
    case PERF_RECORD_TEXT_POKE:
        in->counts.text_pokes++;
        return true;
    default:
        if (is_unknown && in->counts.unknown++ == 0)
            in->counts.first_unknown = type;
        return is_unknown;
    }
}

static void deliver(void *ctx, const TimedRecord *queued)
{
    PerfDataImport *in = ctx;
    if (!in->consumer)
        open_consumer(in);
    Bytes record = bytes_over(queued->bytes, queued->len);
    PerfRecord r;
    if (!perf_record_parse(&in->sources.at[queued->event].layout, record, &in->sample, &r)) {
        in->counts.malformed++;
        return;
    }
    in->last = MAX(in->last, r.time);
    switch (r.type) {
    case PERF_RECORD_SAMPLE:
        on_sample(in, &r, record, queued->event);
        break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        on_mmap(in, &r);
        break;
    case PERF_RECORD_CHAIN_DEFERRED:
        on_deferred(in, &r);
        break;
    default:
        consumer_record(in->consumer, &r, NULL);
        break;
    }
}

// A record as it stands in the file.
static void take_record(PerfDataImport *in, const PerfDataRecord *r)
{
    // Events of a pipe come first; later ones would have no metric.
    if (!in->consumer)
        take_new_events(in);
    if (r->type == PERFDATA_FINISHED_ROUND) {
        if (!in->options || in->options->stream_count == 0)
            time_order_round(&in->order);
        return;
    }
    if (leave_out(in, r->type) || r->type >= PERFDATA_HEADER_ATTR || in->sources.len == 0)
        return;
    uint32_t event = source_of(in, r);
    uint64_t time = perf_record_time(&in->sources.at[event].layout, r->bytes);
    time_order_add(&in->order, time, r->bytes, r->in_file, event);
}

static bool read_records(PerfDataImport *in, Error *err)
{
    PerfDataRecord r;
    PerfDataNext next;
    Error trouble = {0};
    while ((next = perfdata_next(in->reader, &r, &trouble)) == PERFDATA_RECORD)
        take_record(in, &r);
    if (next == PERFDATA_BAD) {
        if (err)
            *err = trouble;
        return false;
    }
    time_order_flush(&in->order);
    if (!in->consumer)
        open_consumer(in);
    release_held(in);
    if (next == PERFDATA_CUT || in->info->is_cut) {
        if (in->profile->samples.stack.len == 0)
            return error_set(err, ERROR_FORMAT, "%s; no sample before",
                             next == PERFDATA_CUT ? trouble.text : "the file ends early");
        profile_note(in->profile, NOTE_WARNING, STR("cut-file"), "%s: the part before is read",
                     next == PERFDATA_CUT ? trouble.text : "the file ends early");
    }
    return true;
}

// ---- Names -------------------------------------------------------------------

static bool module_bytes(void *ctx, ModuleId module, Bytes *ret)
{
    PerfDataImport *in = ctx;
    const Modules *m = &in->profile->modules;
    return modules_bytes(consumer_modules(in->consumer), &in->arena,
                         profile_text(in->profile, m->path.at[module.v]),
                         profile_text(in->profile, m->build_id.at[module.v]), ret);
}

static bool find_names(PerfDataImport *in, Error *err)
{
    const ImportOptions *o = in->options;
    if (!o || !o->symbols) {
        perf_data_embedded_names(in);
        return true;
    }
    SymboliseFiles files = {.ctx = in, .module_bytes = module_bytes};
    SymboliseOptions symbols = *o->symbols;
    symbols.files = files;
    symbols.is_live = false;
    symbols.is_running_kernel = in->consumer && consumer_modules(in->consumer)->kernel.is_running;
    if (!symbolise_profile(in->profile, &symbols, NULL, err))
        return false;
    perf_data_embedded_names(in);
    if (o->sources) {
        SourceOptions sources = *o->sources;
        sources.files = files;
        symbolise_sources(in->profile, &sources);
    }
    return true;
}

// ---- The file ----------------------------------------------------------------

static void import_deinit(PerfDataImport *in)
{
    consumer_close(in->consumer);
    time_order_deinit(&in->order);
    perfdata_close(in->reader);
    vec_free(&in->sources);
    vec_free(&in->ids);
    vec_free(&in->source_of_id);
    vec_free(&in->held);
    table_deinit(&in->by_id);
    table_deinit(&in->by_path);
    arena_deinit(&in->held_bytes);
    arena_deinit(&in->arena);
    heap_free(in);
}

static bool import_file(PerfDataImport *in, Bytes file, Error *err)
{
    if (!perfdata_open(&in->arena, file, &in->reader, err))
        return false;
    in->info = perfdata_info(in->reader);
    if (in->options)
        perfdata_add_streams(in->reader, in->options->streams, in->options->stream_count);
    if (!read_records(in, err))
        return false;
    if (in->consumer)
        consumer_finish(in->consumer, 0);
    perf_data_facts(in);
    return find_names(in, err);
}

bool import_perf_data(Bytes file, const ImportOptions *options, Profile *p, Error *err)
{
    PerfDataImport *in = heap_alloc(sizeof(*in));
    in->options = options;
    in->search = options ? options->search : (ModuleSearch){.no_files = true};
    in->profile = p;
    in->order.deliver = deliver;
    in->order.ctx = in;
    profile_init(p);
    bool ok = import_file(in, file, err);
    if (!ok)
        profile_deinit(p);
    import_deinit(in);
    return ok;
}
