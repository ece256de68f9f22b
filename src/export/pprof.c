// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto, gzip. Format: github.com/google/pprof,
// proto/profile.proto; protobuf encoding: protobuf.dev/programming-guides/encoding.

#include "analyse/heap/heap_view.h"
#include "base/gzip_pack.h"
#include "base/table.h"
#include "export/export_internal.h"
#include "export/protobuf_internal.h"
#include "model/facts.h"

// ---- Strings ---------------------------------------------------------------

typedef struct Writer {
    ExportSet set;
    Arena arena;
    Intern strings; // string_table: 0 is ""
    StrBuf out;
    StrBuf message, inner, name; // scratch
} Writer;

static uint64_t string_of(Writer *w, Str s)
{
    return pb_string_of(&w->strings, s);
}

static uint64_t name_of(Writer *w, uint32_t key)
{
    strbuf_clear(&w->name);
    export_add_name(&w->set, key, &w->name);
    return string_of(w, strbuf_str(&w->name));
}

// ---- Tables ----------------------------------------------------------------

static void add_value_type(Writer *w, unsigned field, Str type, Str unit)
{
    strbuf_clear(&w->message);
    pb_number(&w->message, 1, string_of(w, type));
    pb_number(&w->message, 2, string_of(w, unit));
    pb_bytes(&w->out, field, strbuf_str(&w->message));
}

// The metrics that go with a heap, by the names that pprof's readers know for them.
static const struct {
    enum HeapMetric metric;
    const char *type, *unit;
} heap_types[] = {
    {HEAP_BLOCKS, "alloc_objects", "count"},     {HEAP_BYTES, "alloc_space", "bytes"},
    {HEAP_END_BLOCKS, "inuse_objects", "count"}, {HEAP_END_BYTES, "inuse_space", "bytes"},
    {HEAP_PEAK_BLOCKS, "peak_objects", "count"}, {HEAP_PEAK_BYTES, "peak_space", "bytes"}};

// Whether the file follows the convention of heap profiles: those four types, then the peak.
static bool is_heap(const Writer *w)
{
    MetricId m;
    return w->set.request->all_metrics &&
           str_equal(profile_fact(w->set.p, STR(FACT_COLLECTOR)), STR(COLLECTOR_HEAP)) &&
           heap_metric_find(w->set.p, HEAP_BLOCKS, &m);
}

static void add_heap_types(Writer *w)
{
    MetricId m;
    for (size_t i = 0; i < ARRAY_LEN(heap_types); i++)
        if (heap_metric_find(w->set.p, heap_types[i].metric, &m))
            add_value_type(w, 1, str_from_c(heap_types[i].type), str_from_c(heap_types[i].unit));
}

static void add_sample_types(Writer *w)
{
    const Profile *p = w->set.p;
    if (is_heap(w)) {
        add_heap_types(w);
        return;
    }
    add_value_type(w, 1, STR("samples"), STR("count"));
    for (size_t m = 0; m < p->metrics.name.len; m++) {
        if (export_has_metric(&w->set, m)) {
            add_value_type(w, 1, export_metric_name(p, m), export_metric_unit(p, m));
        }
    }
}

static void add_mapping(Writer *w, size_t module, uint64_t id)
{
    const Profile *p = w->set.p;
    strbuf_clear(&w->message);
    pb_number(&w->message, 1, id);
    pb_number(&w->message, 5, string_of(w, profile_text(p, p->modules.path.at[module])));
    pb_number(&w->message, 6, string_of(w, profile_text(p, p->modules.build_id.at[module])));
    for (unsigned field = 7; field <= 10; field++) // names, files, lines, inlines are here
        pb_number(&w->message, field, 1);
    pb_bytes(&w->out, 3, strbuf_str(&w->message));
}

// The mappings in the order of their ids: the first is taken for the program.
static void add_mappings(Writer *w, const uint64_t *mapping_of, uint64_t count)
{
    size_t modules = w->set.p->modules.path.len;
    size_t *module_of = heap_alloc((count + 1) * sizeof(*module_of));
    for (size_t m = 0; m < modules; m++)
        if (mapping_of[m])
            module_of[mapping_of[m]] = m;
    for (uint64_t id = 1; id <= count; id++)
        add_mapping(w, module_of[id], id);
    heap_free(module_of);
}

// Whether a file's name is that of a process, which the kernel cuts to 15 bytes.
static bool is_named(Str file, Str process)
{
    enum { COMM_MAX = 15 };
    return process.len && (str_equal(file, process) ||
                           (process.len == COMM_MAX && str_starts_with(file, process)));
}

static uint32_t module_named(const Profile *p, Str process)
{
    for (uint32_t m = 1; m < p->modules.path.len; m++)
        if (p->modules.kind.at[m] == MODULE_FILE &&
            is_named(str_base_name(profile_text(p, p->modules.path.at[m])), process))
            return m;
    return 0;
}

// The program: the file that the command or a process is named after, else the first that is no
// library. Readers take the first mapping for it. 0 when no file may be it.
static uint32_t program_module(const Profile *p)
{
    Str command = profile_fact(p, STR(FACT_COMMAND));
    Str word = str_base_name(str_slice(command, 0, str_find_char(command, ' ')));
    uint32_t found = module_named(p, word);
    for (size_t i = 0; i < p->processes.pid.len && !found; i++)
        found = module_named(p, profile_text(p, p->processes.name.at[i]));
    for (uint32_t m = 1; m < p->modules.path.len && !found; m++) {
        Str name = str_base_name(profile_text(p, p->modules.path.at[m]));
        if (p->modules.kind.at[m] == MODULE_FILE && str_find(name, STR(".so")) == SIZE_MAX)
            found = m;
    }
    return found;
}

static void add_location(Writer *w, uint32_t frame, uint64_t id, uint64_t mapping)
{
    const Profile *p = w->set.p;
    strbuf_clear(&w->message);
    pb_number(&w->message, 1, id);
    pb_number(&w->message, 2, mapping);
    if (!(p->frames.flags.at[frame] & FRAME_CUT))
        pb_number(&w->message, 3, p->frames.address.at[frame]);
    for (uint32_t f = frame;; f = p->frames.inlined_in.at[f].v) {
        strbuf_clear(&w->inner);
        pb_number(&w->inner, 1, (uint64_t)w->set.row_of_key[w->set.keys.of_frame[f]] + 1);
        pb_number(&w->inner, 2, p->frames.line.at[f]);
        pb_bytes(&w->message, 4, strbuf_str(&w->inner));
        if (p->frames.inlined_in.at[f].v == 0)
            break;
    }
    pb_bytes(&w->out, 4, strbuf_str(&w->message));
}

static void add_functions(Writer *w)
{
    const Profile *p = w->set.p;
    for (size_t i = 0; i < w->set.functions.len; i++) {
        uint32_t key = w->set.functions.at[i];
        uint32_t frame = w->set.keys.first.at[key].v;
        uint32_t function = p->frames.function.at[frame].v;
        strbuf_clear(&w->message);
        pb_number(&w->message, 1, i + 1);
        pb_number(&w->message, 2, name_of(w, key));
        Str linkage = profile_text(p, p->functions.linkage_name.at[function]);
        pb_number(&w->message, 3, string_of(w, linkage));
        // pprof wants the file the line numbers are of.
        StrId file = p->frames.file.at[frame];
        if (file.v == 0)
            file = p->functions.file.at[function];
        pb_number(&w->message, 4, string_of(w, profile_text(p, file)));
        pb_number(&w->message, 5, p->functions.line.at[function]);
        pb_bytes(&w->out, 5, strbuf_str(&w->message));
    }
}

// ---- Samples -----------------------------------------------------------------

typedef struct Row {
    uint32_t thread, stack;
    uint32_t wait; // 1 + the row of `waits` whose class and object are labels; 0: none
    uint64_t count;
} Row;

typedef struct Rows {
    Vec(Row) at;
    U64Vec values; // [row * metrics + metric]
    Table index;
} Rows;

static size_t row_of(Rows *rows, uint32_t thread, uint32_t stack, uint32_t wait, size_t metrics)
{
    uint64_t hash = hash_pair((uint64_t)thread << 32 | stack, wait);
    uint32_t row;
    for (TableProbe t = table_probe(&rows->index, hash); table_next(&rows->index, &t, &row);)
        if (rows->at.at[row].thread == thread && rows->at.at[row].stack == stack &&
            rows->at.at[row].wait == wait)
            return row;
    row = (uint32_t)rows->at.len;
    table_insert(&rows->index, hash, row);
    vec_push(NULL, &rows->at, (Row){.thread = thread, .stack = stack, .wait = wait});
    (void)vec_extend(NULL, &rows->values, metrics);
    return row;
}

// The metric that holds the time of waits, whatever their class; false: the recording has none.
static bool wall_metric(const Profile *p, size_t *ret)
{
    for (size_t m = 0; m < p->metrics.name.len && p->waits.thread.len; m++)
        if (str_equal(profile_text(p, p->metrics.event.at[m]), STR("wall time"))) {
            *ret = m;
            return true;
        }
    return false;
}

// [sample] 1 + the row of `waits` that it holds the time of; NULL: the recording has no waits. The
// recorder adds a sample for each row, in their order, at the end.
static uint32_t *waits_of_samples(const Profile *p)
{
    size_t wall;
    if (!wall_metric(p, &wall))
        return NULL;
    uint32_t *of = heap_alloc((p->samples.stack.len + 1) * sizeof(*of));
    const Waits *waits = &p->waits;
    uint32_t wait = 0;
    for (size_t i = 0; i < p->samples.stack.len; i++) {
        int64_t value = p->samples.values[wall].at[i];
        if (p->samples.time_ns.at[i] != TIME_NONE || value <= 0)
            continue;
        uint32_t found = wait;
        while (found < waits->thread.len &&
               (waits->state.at[found] == WAIT_RUNNING ||
                waits->thread.at[found].v != p->samples.thread.at[i].v ||
                waits->stack.at[found].v != p->samples.stack.at[i].v ||
                (int64_t)(waits->blocked_ns.at[found] + waits->runnable_ns.at[found]) != value))
            found++;
        if (found == waits->thread.len)
            break; // the samples are in another order: not of our recorder
        of[i] = wait = found + 1;
    }
    return of;
}

static void add_up(Writer *w, Rows *rows, const U32Vec *metrics)
{
    const Samples *s = &w->set.p->samples;
    uint32_t *waits = waits_of_samples(w->set.p);
    table_reserve(&rows->index, MIN(w->set.samples.len, w->set.p->stacks.parent.len));
    for (size_t i = 0; i < w->set.samples.len; i++) {
        uint32_t sample = w->set.samples.at[i];
        size_t row = row_of(rows, s->thread.at[sample].v, s->stack.at[sample].v,
                            waits ? waits[sample] : 0, metrics->len);
        rows->at.at[row].count++;
        for (size_t m = 0; m < metrics->len; m++) {
            uint64_t *value = &rows->values.at[row * metrics->len + m];
            int64_t more = MAX(s->values[metrics->at[m]].at[sample], (int64_t)0);
            // Values of a file may be anything; pprof's are signed.
            *value = (uint64_t)more > INT64_MAX - *value ? INT64_MAX : *value + (uint64_t)more;
        }
    }
    heap_free(waits);
}

static void add_label(Writer *w, StrBuf *out, uint64_t key, uint64_t text, uint64_t number)
{
    strbuf_clear(&w->inner);
    pb_number(&w->inner, 1, key);
    pb_number(&w->inner, 2, text);
    pb_number(&w->inner, 3, number);
    pb_bytes(out, 3, strbuf_str(&w->inner));
}

// A thread's labels as they stand in each of its samples.
static Str labels_of(Writer *w, uint32_t thread)
{
    const Profile *p = w->set.p;
    StrBuf labels = {0};
    uint32_t process = p->threads.process.at[thread].v;
    add_label(w, &labels, string_of(w, STR("thread")), string_of(w, export_thread_name(p, thread)),
              0);
    add_label(w, &labels, string_of(w, STR("pid")), 0, p->processes.pid.at[process]);
    add_label(w, &labels, string_of(w, STR("tid")), 0, p->threads.tid.at[thread]);
    Str kept = arena_str(&w->arena, strbuf_str(&labels));
    strbuf_deinit(&labels);
    return kept;
}

// What a wait was for, as labels of its sample.
static void add_wait_labels(Writer *w, uint32_t wait)
{
    const Profile *p = w->set.p;
    if (wait == 0)
        return;
    Str class = str_from_c(wait_class_name((WaitClass)p->waits.state.at[wait - 1]));
    Str object = profile_text(p, p->waits.object.at[wait - 1]);
    add_label(w, &w->message, string_of(w, STR("state")), string_of(w, class), 0);
    if (object.len)
        add_label(w, &w->message, string_of(w, STR("waits for")), string_of(w, object), 0);
}

// A stack's parent and its own place, side by side: thirty are read for each sample.
typedef struct Step {
    uint32_t parent;
    uint32_t location; // a varint's up to four bytes, the first lowest
} Step;

enum { LOCATIONS_MAX = 1 << 28 }; // what a varint of four bytes holds

static uint32_t packed_varint(uint32_t v)
{
    uint32_t packed = 0;
    for (unsigned shift = 0;; shift += 8, v >>= 7) {
        if (v < 0x80)
            return packed | v << shift;
        packed |= ((v & 0x7f) | 0x80) << shift;
    }
}

// The numbers of the locations, leaf first. Four bytes are written and as many kept
// as belong to the number: how many differs from one to the next, and a branch on it
// would be guessed wrong.
static void add_stack(StrBuf *out, const Step *steps, uint32_t stack)
{
    uint8_t chunk[512];
    size_t len = 0;
    for (uint32_t s = stack; s != 0; s = steps[s].parent) {
        uint32_t v = steps[s].location;
        memcpy(chunk + len, &v, sizeof(v)); // little-endian, as every machine we build for
        len += (unsigned)__builtin_ctz(~v & 0x80808080) / 8 + 1;
        if (len > sizeof(chunk) - 8) {
            strbuf_add_bytes(out, bytes_over(chunk, len));
            len = 0;
        }
    }
    strbuf_add_bytes(out, bytes_over(chunk, len));
}

static void add_sample(Writer *w, const Row *row, const uint64_t *values, size_t metrics,
                       const Step *steps, Str labels)
{
    strbuf_clear(&w->message);
    strbuf_clear(&w->inner);
    add_stack(&w->inner, steps, row->stack);
    if (w->inner.len)
        pb_bytes(&w->message, 1, strbuf_str(&w->inner));
    strbuf_clear(&w->inner);
    if (!is_heap(w))
        pb_varint(&w->inner, row->count);
    for (size_t m = 0; m < metrics; m++)
        pb_varint(&w->inner, values[m]);
    pb_bytes(&w->message, 2, strbuf_str(&w->inner));
    strbuf_add(&w->message, labels);
    add_wait_labels(w, row->wait);
    pb_bytes(&w->out, 2, strbuf_str(&w->message));
}

static void add_samples(Writer *w, const uint32_t *location_of)
{
    const Profile *p = w->set.p;
    size_t stacks = p->stacks.parent.len;
    Step *steps = heap_alloc((stacks + 1) * sizeof(Step));
    for (size_t s = 1; s < stacks; s++)
        steps[s] =
            (Step){p->stacks.parent.at[s].v, packed_varint(location_of[p->stacks.frame.at[s].v])};
    Str *labels = heap_alloc((p->threads.tid.len + 1) * sizeof(Str));
    U32Vec metrics = {0};
    MetricId id;
    for (size_t i = 0; i < ARRAY_LEN(heap_types) && is_heap(w); i++)
        if (heap_metric_find(p, heap_types[i].metric, &id))
            vec_push(NULL, &metrics, id.v);
    for (uint32_t m = 0; m < p->metrics.name.len && !is_heap(w); m++)
        if (export_has_metric(&w->set, m))
            vec_push(NULL, &metrics, m);
    Rows rows = {0};
    add_up(w, &rows, &metrics);
    for (size_t i = 0; i < rows.at.len; i++) {
        const Row *row = &rows.at.at[i];
        if (labels[row->thread].len == 0)
            labels[row->thread] = labels_of(w, row->thread);
        add_sample(w, row, rows.values.at + i * metrics.len, metrics.len, steps,
                   labels[row->thread]);
    }
    vec_free(&rows.at);
    vec_free(&rows.values);
    table_deinit(&rows.index);
    vec_free(&metrics);
    heap_free(labels);
    heap_free(steps);
}

static bool add_locations_and_samples(Writer *w, Error *err)
{
    const Profile *p = w->set.p;
    uint32_t *location_of = heap_alloc((p->frames.module.len + 1) * sizeof(uint32_t));
    uint64_t *mapping_of = heap_alloc((p->modules.path.len + 1) * sizeof(uint64_t));
    uint32_t locations = 0;
    uint64_t mappings = 0;
    uint32_t program = program_module(p);
    if (program)
        mapping_of[program] = ++mappings;
    for (uint32_t s = 1; s < p->stacks.parent.len && locations < LOCATIONS_MAX; s++) {
        uint32_t frame = p->stacks.frame.at[s].v;
        if (w->set.row_of_stack[s] == EXPORT_NONE || location_of[frame] != 0)
            continue;
        uint32_t module = p->frames.module.at[frame].v;
        if (module && mapping_of[module] == 0)
            mapping_of[module] = ++mappings;
        location_of[frame] = ++locations;
        add_location(w, frame, locations, mapping_of[module]);
    }
    add_mappings(w, mapping_of, mappings);
    bool ok = locations < LOCATIONS_MAX;
    if (ok)
        add_samples(w, location_of);
    heap_free(location_of);
    heap_free(mapping_of);
    return ok || error_set(err, ERROR_LIMIT, "more than %d places", LOCATIONS_MAX - 1);
}

// ---- The file ------------------------------------------------------------------

static void add_facts(Writer *w)
{
    const Profile *p = w->set.p;
    uint64_t ns;
    if (profile_fact_u64(p, STR(FACT_START_REALTIME), &ns))
        pb_number(&w->out, 9, ns);
    if (profile_fact_u64(p, STR(FACT_WALL_NS), &ns))
        pb_number(&w->out, 10, ns);
    double hz;
    if (is_heap(w)) { // every block counts
        add_value_type(w, 11, STR("space"), STR("bytes"));
        pb_number(&w->out, 12, 1);
    } else if (str_parse_double(profile_fact(p, STR(FACT_RATE_ASKED)), &hz) && hz >= 1 &&
               hz < 1e9) {
        add_value_type(w, 11, STR("cpu"), STR("nanoseconds"));
        pb_number(&w->out, 12, (uint64_t)(1e9 / hz));
    }
    Str command = profile_fact(p, STR(FACT_COMMAND));
    if (command.len) {
        strbuf_clear(&w->name);
        strbuf_add(&w->name, STR(COMMAND_REMARK));
        strbuf_add(&w->name, command);
        pb_number(&w->out, 13, string_of(w, strbuf_str(&w->name)));
    }
    // The metric that is shown first, by name.
    uint32_t metric = w->set.request->selection.metric.v;
    if (is_heap(w))
        pb_number(&w->out, 14, string_of(w, STR("inuse_space")));
    else if (metric < p->metrics.name.len)
        pb_number(&w->out, 14, string_of(w, export_metric_name(p, metric)));
}

static bool write_gzip(Str bytes, const ExportSink *sink, Error *err)
{
    StrBuf packed = {0};
    bool ok = gzip_pack(bytes, &packed, err);
    if (ok && !sink->write(sink->ctx, strbuf_str(&packed))) {
        ok = false;
        if (err)
            *err = (Error){0};
    }
    strbuf_deinit(&packed);
    return ok;
}

bool export_pprof(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                  Error *err)
{
    Writer w = {0};
    if (!export_set_init(&w.set, p, request, request->all_metrics, err))
        return false;
    intern_init(&w.strings, &w.arena);
    add_sample_types(&w);
    bool ok = add_locations_and_samples(&w, err);
    add_functions(&w);
    add_facts(&w);
    for (size_t i = 0; i < w.strings.texts.len; i++)
        pb_bytes(&w.out, 6, w.strings.texts.at[i]);
    ok = ok && write_gzip(strbuf_str(&w.out), sink, err);
    strbuf_deinit(&w.out);
    strbuf_deinit(&w.message);
    strbuf_deinit(&w.inner);
    strbuf_deinit(&w.name);
    intern_deinit(&w.strings);
    arena_deinit(&w.arena);
    export_set_deinit(&w.set);
    return ok;
}
