// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles: one ProfilesData message, a Profile for each metric.
// Format: opentelemetry-proto 1.45, profiles/v1development/profiles.proto.

#include "export/export_internal.h"
#include "export/protobuf_internal.h"
#include "model/facts.h"

typedef struct Writer {
    ExportSet set;
    Arena arena;
    Intern strings;    // string_table: 0 is ""
    Intern attributes; // attribute_table as encoded messages: 0 is the empty one
    StrBuf dictionary; // the tables but for strings and attributes
    StrBuf message, inner, name;
    uint32_t *stack_of;        // [stack of the profile]: its row in stack_table
    uint32_t *thread_attrs;    // [3 * thread of the profile]
    int64_t start_realtime_ns; // 0: not known
} Writer;

static uint64_t string_of(Writer *w, Str s)
{
    return pb_string_of(&w->strings, s);
}

// ---- Attributes ------------------------------------------------------------------

// The table's number of {key, text or number}.
static uint32_t attribute(Writer *w, Str key, Str text, int64_t number)
{
    StrBuf value = {0}, row = {0};
    if (text.len) { // AnyValue.string_value, UTF-8
        Str clean = intern_get(&w->strings, (uint32_t)string_of(w, text));
        pb_bytes(&value, 1, clean);
    } else { // int_value, written also when 0
        pb_varint(&value, 3 << 3);
        pb_varint(&value, (uint64_t)number);
    }
    pb_number(&row, 1, string_of(w, key));
    pb_bytes(&row, 2, strbuf_str(&value));
    uint32_t id = intern_add(&w->attributes, strbuf_str(&row));
    strbuf_deinit(&value);
    strbuf_deinit(&row);
    return id;
}

static void add_packed(StrBuf *out, unsigned field, const uint32_t *at, size_t count)
{
    StrBuf packed = {0};
    for (size_t i = 0; i < count; i++)
        pb_varint(&packed, at[i]);
    if (count)
        pb_bytes(out, field, strbuf_str(&packed));
    strbuf_deinit(&packed);
}

// ---- The dictionary ----------------------------------------------------------------

// Row 0 of every table stands for "none".
static void add_none(Writer *w, unsigned table)
{
    pb_bytes(&w->dictionary, table, STR(""));
}

enum {
    TABLE_MAPPING = 1,
    TABLE_LOCATION,
    TABLE_FUNCTION,
    TABLE_LINK,
    TABLE_STRING,
    TABLE_ATTRIBUTE,
    TABLE_STACK
};

static void add_mapping(Writer *w, uint32_t module)
{
    const Profile *p = w->set.p;
    strbuf_clear(&w->message);
    Str path = profile_text(p, p->modules.path.at[module]);
    pb_number(&w->message, 4, string_of(w, path));
    Str build_id = profile_text(p, p->modules.build_id.at[module]);
    if (build_id.len) {
        uint32_t id = attribute(w, STR("process.executable.build_id.gnu"), build_id, 0);
        add_packed(&w->message, 5, &id, 1);
    }
    pb_bytes(&w->dictionary, TABLE_MAPPING, strbuf_str(&w->message));
}

static void add_functions(Writer *w)
{
    const Profile *p = w->set.p;
    add_none(w, TABLE_FUNCTION);
    for (size_t i = 0; i < w->set.functions.len; i++) {
        uint32_t key = w->set.functions.at[i];
        uint32_t frame = w->set.keys.first.at[key].v;
        uint32_t function = p->frames.function.at[frame].v;
        // Like pprof's: the file that the line numbers are of.
        StrId file = p->frames.file.at[frame];
        if (file.v == 0)
            file = p->functions.file.at[function];
        strbuf_clear(&w->name);
        export_add_name(&w->set, key, &w->name);
        strbuf_clear(&w->message);
        pb_number(&w->message, 1, string_of(w, strbuf_str(&w->name)));
        pb_number(&w->message, 2,
                  string_of(w, profile_text(p, p->functions.linkage_name.at[function])));
        pb_number(&w->message, 3, string_of(w, profile_text(p, file)));
        pb_number(&w->message, 4, p->functions.line.at[function]);
        pb_bytes(&w->dictionary, TABLE_FUNCTION, strbuf_str(&w->message));
    }
}

// A location for a frame that stacks refer to: its inlined calls are lines,
// innermost first.
static void add_location(Writer *w, uint32_t frame, uint32_t mapping, const uint32_t *kinds)
{
    const Profile *p = w->set.p;
    uint8_t flags = p->frames.flags.at[frame];
    strbuf_clear(&w->message);
    pb_number(&w->message, 1, mapping);
    if (!(flags & FRAME_CUT))
        pb_number(&w->message, 2, p->frames.address.at[frame]);
    for (uint32_t f = frame;; f = p->frames.inlined_in.at[f].v) {
        strbuf_clear(&w->inner);
        pb_number(&w->inner, 1, (uint64_t)w->set.row_of_key[w->set.keys.of_frame[f]] + 1);
        pb_number(&w->inner, 2, p->frames.line.at[f]);
        pb_bytes(&w->message, 3, strbuf_str(&w->inner));
        if (p->frames.inlined_in.at[f].v == 0)
            break;
    }
    if (!(flags & FRAME_CUT))
        add_packed(&w->message, 4, &kinds[(flags & FRAME_KERNEL) != 0], 1);
    pb_bytes(&w->dictionary, TABLE_LOCATION, strbuf_str(&w->message));
}

static void add_locations(Writer *w, uint32_t *location_of)
{
    const Profile *p = w->set.p;
    uint32_t *mapping_of = heap_alloc((p->modules.path.len + 1) * sizeof(uint32_t));
    uint32_t kinds[] = {attribute(w, STR("profile.frame.type"), STR("native"), 0),
                        attribute(w, STR("profile.frame.type"), STR("kernel"), 0)};
    uint32_t locations = 0, mappings = 0;
    add_none(w, TABLE_MAPPING);
    add_none(w, TABLE_LOCATION);
    for (uint32_t s = 1; s < p->stacks.parent.len; s++) {
        uint32_t frame = p->stacks.frame.at[s].v;
        if (w->set.row_of_stack[s] == EXPORT_NONE || location_of[frame] != 0)
            continue;
        uint32_t module = p->frames.module.at[frame].v;
        if (module && mapping_of[module] == 0) {
            mapping_of[module] = ++mappings;
            add_mapping(w, module);
        }
        location_of[frame] = ++locations;
        add_location(w, frame, mapping_of[module], kinds);
    }
    heap_free(mapping_of);
}

// The stacks that samples have, leaf first.
static void add_stacks(Writer *w, const uint32_t *location_of)
{
    const Profile *p = w->set.p;
    uint32_t stacks = 0;
    add_none(w, TABLE_STACK);
    for (size_t i = 0; i < w->set.samples.len; i++) {
        uint32_t stack = p->samples.stack.at[w->set.samples.at[i]].v;
        if (stack == 0 || w->stack_of[stack])
            continue;
        strbuf_clear(&w->message);
        strbuf_clear(&w->inner);
        for (uint32_t s = stack; s != 0; s = p->stacks.parent.at[s].v)
            pb_varint(&w->inner, location_of[p->stacks.frame.at[s].v]);
        pb_bytes(&w->message, 1, strbuf_str(&w->inner));
        pb_bytes(&w->dictionary, TABLE_STACK, strbuf_str(&w->message));
        w->stack_of[stack] = ++stacks;
    }
}

static void note_threads(Writer *w)
{
    const Profile *p = w->set.p;
    for (size_t i = 0; i < w->set.threads.len; i++) {
        uint32_t t = w->set.threads.at[i];
        uint32_t *to = &w->thread_attrs[3 * (size_t)t];
        uint32_t process = p->threads.process.at[t].v;
        to[0] = attribute(w, STR("thread.name"), export_thread_name(p, t), 0);
        to[1] = attribute(w, STR("thread.id"), STR(""), p->threads.tid.at[t]);
        to[2] = attribute(w, STR("process.pid"), STR(""), p->processes.pid.at[process]);
    }
}

// ---- Samples -----------------------------------------------------------------------

// One thread's samples of one stack: [first, first + count) of an order.
typedef struct StackSamples {
    uint32_t thread, stack;
    uint32_t count;
    size_t first;
} StackSamples;

typedef struct Grouped {
    Vec(StackSamples) at;
    U32Vec of_sample; // [i of set.samples]: its group, EXPORT_NONE without a value
    U32Vec order;     // rows of the profile's samples, by group
} Grouped;

static void group_samples(Writer *w, size_t metric, Grouped *g)
{
    const Samples *s = &w->set.p->samples;
    Table index = {0};
    for (size_t i = 0; i < w->set.samples.len; i++) {
        uint32_t at = w->set.samples.at[i], row = EXPORT_NONE, found;
        if (s->values[metric].at[at] <= 0) {
            vec_push(NULL, &g->of_sample, EXPORT_NONE);
            continue;
        }
        uint32_t thread = s->thread.at[at].v, stack = s->stack.at[at].v;
        uint64_t hash = hash_u64((uint64_t)thread << 32 | stack);
        for (TableProbe t = table_probe(&index, hash); table_next(&index, &t, &found);)
            if (g->at.at[found].thread == thread && g->at.at[found].stack == stack) {
                row = found;
                break;
            }
        if (row == EXPORT_NONE) {
            row = (uint32_t)g->at.len;
            table_insert(&index, hash, row);
            vec_push(NULL, &g->at, (StackSamples){.thread = thread, .stack = stack});
        }
        g->at.at[row].count++;
        vec_push(NULL, &g->of_sample, row);
    }
    table_deinit(&index);
    size_t first = 0;
    for (size_t r = 0; r < g->at.len; r++) {
        g->at.at[r].first = first;
        first += g->at.at[r].count;
        g->at.at[r].count = 0;
    }
    (void)vec_extend(NULL, &g->order, first);
    for (size_t i = 0; i < w->set.samples.len; i++)
        if (g->of_sample.at[i] != EXPORT_NONE) {
            StackSamples *group = &g->at.at[g->of_sample.at[i]];
            g->order.at[group->first + group->count++] = w->set.samples.at[i];
        }
}

// With times every sample stands alone in values and timestamps; without, the sum.
static void add_sample(Writer *w, size_t metric, const StackSamples *group, const uint32_t *order,
                       StrBuf *profile)
{
    const Samples *s = &w->set.p->samples;
    bool has_times = w->start_realtime_ns != 0;
    for (size_t i = 0; i < group->count && has_times; i++)
        has_times = s->time_ns.at[order[group->first + i]] != TIME_NONE;
    strbuf_clear(&w->message);
    pb_number(&w->message, 1, group->stack ? w->stack_of[group->stack] : 0);
    add_packed(&w->message, 2, &w->thread_attrs[3 * (size_t)group->thread], 3);
    strbuf_clear(&w->inner);
    uint64_t sum = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t value = (uint64_t)s->values[metric].at[order[group->first + i]];
        sum = value > INT64_MAX - sum ? INT64_MAX : sum + value;
        if (has_times)
            pb_varint(&w->inner, value);
    }
    if (!has_times)
        pb_varint(&w->inner, sum);
    pb_bytes(&w->message, 4, strbuf_str(&w->inner));
    if (has_times) {
        strbuf_clear(&w->inner);
        char *to = strbuf_reserve(&w->inner, 8 * (size_t)group->count);
        for (size_t i = 0; i < group->count; i++) {
            int64_t at = w->start_realtime_ns + s->time_ns.at[order[group->first + i]];
            memcpy(to + 8 * i, &at, 8);
        }
        w->inner.len = 8 * (size_t)group->count;
        pb_bytes(&w->message, 5, strbuf_str(&w->inner));
    }
    pb_bytes(profile, 2, strbuf_str(&w->message));
}

static void add_value_type(Writer *w, StrBuf *out, unsigned field, Str type, Str unit)
{
    strbuf_clear(&w->message);
    pb_number(&w->message, 1, string_of(w, type));
    pb_number(&w->message, 2, string_of(w, unit));
    pb_bytes(out, field, strbuf_str(&w->message));
}

static void add_profile(Writer *w, size_t metric, StrBuf *scope)
{
    const Profile *p = w->set.p;
    StrBuf profile = {0};
    Grouped g = {0};
    add_value_type(w, &profile, 1, export_metric_name(p, metric), export_metric_unit(p, metric));
    group_samples(w, metric, &g);
    for (size_t i = 0; i < g.at.len; i++)
        add_sample(w, metric, &g.at.at[i], g.order.at, &profile);
    uint64_t wall;
    double hz;
    if (w->start_realtime_ns)
        pb_fixed64(&profile, 3, (uint64_t)w->start_realtime_ns);
    if (profile_fact_u64(p, STR(FACT_WALL_NS), &wall))
        pb_number(&profile, 4, wall);
    if (str_parse_double(profile_fact(p, STR(FACT_RATE_ASKED)), &hz) && hz >= 1 && hz < 1e9) {
        add_value_type(w, &profile, 5, STR("cpu"), STR("nanoseconds"));
        pb_number(&profile, 6, (uint64_t)(1e9 / hz));
    }
    pb_bytes(scope, 2, strbuf_str(&profile));
    strbuf_deinit(&profile);
    vec_free(&g.at);
    vec_free(&g.of_sample);
    vec_free(&g.order);
}

// ---- The file ------------------------------------------------------------------------

// Resource.attributes: service.name, by which back ends group profiles.
static void add_resource(Writer *w, StrBuf *out)
{
    StrBuf value = {0}, pair = {0}, resource = {0};
    uint64_t name = string_of(w, export_service_name(w->set.p, w->set.request));
    pb_bytes(&value, 1, intern_get(&w->strings, (uint32_t)name)); // UTF-8
    pb_bytes(&pair, 1, STR("service.name"));
    pb_bytes(&pair, 2, strbuf_str(&value));
    pb_bytes(&resource, 1, strbuf_str(&pair));
    pb_bytes(out, 1, strbuf_str(&resource));
    strbuf_deinit(&value);
    strbuf_deinit(&pair);
    strbuf_deinit(&resource);
}

static void add_scope_profiles(Writer *w, StrBuf *out)
{
    StrBuf resource = {0}, scope = {0};
    add_resource(w, &resource);
    strbuf_clear(&w->message);
    pb_bytes(&w->message, 1, STR("assay"));
    pb_bytes(&w->message, 2, w->set.request->tool_version);
    pb_bytes(&scope, 1, strbuf_str(&w->message));
    for (size_t m = 0; m < w->set.p->metrics.name.len; m++)
        if (export_has_metric(&w->set, m))
            add_profile(w, m, &scope);
    pb_bytes(&resource, 2, strbuf_str(&scope));
    pb_bytes(out, 1, strbuf_str(&resource));
    strbuf_deinit(&resource);
    strbuf_deinit(&scope);
}

static void add_tables(Writer *w, StrBuf *out)
{
    add_none(w, TABLE_LINK);
    for (size_t i = 0; i < w->attributes.texts.len; i++)
        pb_bytes(&w->dictionary, TABLE_ATTRIBUTE, w->attributes.texts.at[i]);
    for (size_t i = 0; i < w->strings.texts.len; i++)
        pb_bytes(&w->dictionary, TABLE_STRING, w->strings.texts.at[i]);
    pb_bytes(out, 2, strbuf_str(&w->dictionary));
}

static void fill(Writer *w, StrBuf *out)
{
    const Profile *p = w->set.p;
    uint64_t start;
    if (profile_fact_u64(p, STR(FACT_START_REALTIME), &start) && start < INT64_MAX / 2)
        w->start_realtime_ns = (int64_t)start;
    uint32_t *location_of = heap_alloc((p->frames.module.len + 1) * sizeof(uint32_t));
    w->stack_of = heap_alloc((p->stacks.parent.len + 1) * sizeof(uint32_t));
    w->thread_attrs = heap_alloc((p->threads.tid.len + 1) * 3 * sizeof(uint32_t));
    note_threads(w);
    add_functions(w);
    add_locations(w, location_of);
    add_stacks(w, location_of);
    add_scope_profiles(w, out);
    add_tables(w, out);
    heap_free(location_of);
    heap_free(w->stack_of);
    heap_free(w->thread_attrs);
}

bool export_otlp(const Profile *p, const ExportRequest *request, const ExportSink *sink, Error *err)
{
    Writer w = {0};
    if (!export_set_init(&w.set, p, request, request->all_metrics, err))
        return false;
    intern_init(&w.strings, &w.arena);
    intern_init(&w.attributes, &w.arena);
    ExportOut out = {.sink = sink};
    fill(&w, &out.buf);
    strbuf_deinit(&w.dictionary);
    strbuf_deinit(&w.message);
    strbuf_deinit(&w.inner);
    strbuf_deinit(&w.name);
    intern_deinit(&w.strings);
    intern_deinit(&w.attributes);
    arena_deinit(&w.arena);
    export_set_deinit(&w.set);
    return export_finish(&out, err);
}
