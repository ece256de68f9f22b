// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles -> Profile.
// Format: opentelemetry-proto 1.45, profiles/v1development/profiles.proto.

#include "import/otlp_internal.h"

#include "base/decoded.h"
#include "base/table.h"
#include "import/places_internal.h"
#include "import/protobuf_internal.h"
#include "model/facts.h"

enum {
    TYPES_MAX = 64,
    ROW_BYTES = 120, // about what a message of two bytes takes as a row of a table
    ATTRIBUTES_MAX = 64
};

typedef struct Attribute {
    Str key, text;
    uint64_t number;
} Attribute;

typedef struct Otlp {
    Profile *p;
    StrVec strings;
    BytesVec resources, mappings, locations, functions, attribute_rows, stack_rows;
    Vec(Attribute) attributes;
    ModuleIdVec modules; // [row of the mapping table]
    Vec(FunctionId) functions_of;
    FrameIdVec frames;
    StackIdVec stacks; // of which the first `stacks_read` are read
    // The resource whose profiles are being read.
    uint32_t resource;
    Str service;
    Table processes, threads, rows;
    U64Vec process_keys, thread_keys; // two each: resource << 32 | pid; and tid << 32 | name
    uint32_t profiles;                // read so far
    uint64_t start_ns;                // Unix time of the first profile
    U64Vec values, times, indices;    // scratch
    size_t input_bytes;
    uint64_t made; // about how much memory the rows have taken
    Error *err;
} Otlp;

static bool charge(Otlp *o, uint64_t bytes)
{
    o->made += bytes;
    return decoded_check(o->made, o->input_bytes, o->err);
}

static Str text(const Otlp *o, uint64_t index)
{
    return index < o->strings.len ? o->strings.at[index] : STR("");
}

// ---- The kind of file ------------------------------------------------------------------

// The first field of this number in a message that may be cut. Messages have few other fields
// before it.
static bool inner(Bytes message, uint32_t number, Bytes *ret)
{
    Cursor c = cursor_over(message, "OTLP");
    while (cursor_more(&c)) {
        uint64_t key = cursor_uleb(&c), len = (key & 7) == WIRE_LEN ? cursor_uleb(&c) : 0;
        if (!cursor_ok(&c) || (key & 7) != WIRE_LEN || key >> 3 == 0 || key >> 3 > 3)
            return false;
        *ret = bytes_slice(message, c.at, c.at + MIN(len, (uint64_t)cursor_left(&c)));
        if (key >> 3 == number)
            return ret->len > 0;
        cursor_skip(&c, len);
        if (!cursor_ok(&c))
            return false;
    }
    return false;
}

bool otlp_is(Bytes head)
{
    // ProfilesData.resource_profiles, .scope_profiles, .profiles, and its sample type: two numbers.
    Bytes at;
    if (head.len == 0 || head.ptr[0] != (1 << 3 | WIRE_LEN) || !inner(head, 1, &at) ||
        !inner(at, 2, &at) || !inner(at, 2, &at) || !inner(at, 1, &at))
        return false;
    return at.len <= 12 && (at.ptr[0] == 1 << 3 || at.ptr[0] == 2 << 3);
}

// ---- Tables ----------------------------------------------------------------------

// ProfilesData: field 1 is the profiles, 2 the tables.
static bool collect(Otlp *o, Bytes file)
{
    Cursor c = cursor_over(file, "OTLP profiles");
    ProtobufField f;
    Bytes dictionary = {0};
    while (protobuf_next(&c, &f)) {
        if (!charge(o, ROW_BYTES))
            return false;
        if (f.number == 1 && f.wire == WIRE_LEN)
            vec_push(NULL, &o->resources, f.bytes);
        else if (f.number == 2 && f.wire == WIRE_LEN)
            dictionary = f.bytes;
    }
    if (!cursor_check(&c, o->err))
        return false;
    c = cursor_over(dictionary, "OTLP dictionary");
    BytesVec *const tables[] = {NULL, &o->mappings, &o->locations,      &o->functions,
                                NULL, NULL,         &o->attribute_rows, &o->stack_rows};
    while (protobuf_next(&c, &f)) {
        if (f.wire != WIRE_LEN)
            continue;
        if (!charge(o, ROW_BYTES))
            return false;
        if (f.number == 5)
            vec_push(NULL, &o->strings, str_from_bytes(f.bytes));
        else if (f.number < ARRAY_LEN(tables) && tables[f.number])
            vec_push(NULL, tables[f.number], f.bytes);
    }
    return cursor_check(&c, o->err);
}

// AnyValue: a text or a whole number; others are left out.
static bool read_any_value(Otlp *o, Bytes message, Attribute *ret)
{
    Cursor c = cursor_over(message, "OTLP value");
    ProtobufField f;
    while (protobuf_next(&c, &f)) {
        if (f.number == 1 && f.wire == WIRE_LEN)
            ret->text = str_from_bytes(f.bytes);
        else if (f.number == 3 && f.wire == WIRE_VARINT)
            ret->number = f.value;
    }
    return cursor_check(&c, o->err);
}

static bool read_attributes(Otlp *o)
{
    for (size_t i = 0; i < o->attribute_rows.len; i++) {
        Cursor c = cursor_over(o->attribute_rows.at[i], "OTLP attribute");
        Attribute a = {0};
        ProtobufField f;
        while (protobuf_next(&c, &f)) {
            if (f.number == 1 && f.wire == WIRE_VARINT)
                a.key = text(o, f.value);
            else if (f.number == 2 && f.wire == WIRE_LEN && !read_any_value(o, f.bytes, &a))
                return false;
        }
        if (!cursor_check(&c, o->err))
            return false;
        vec_push(NULL, &o->attributes, a);
    }
    return true;
}

// The text of an attribute that a message has; "" when it has none of this name.
static Str attribute_text(const Otlp *o, const U64Vec *indices, Str key)
{
    for (size_t i = 0; i < indices->len; i++)
        if (indices->at[i] < o->attributes.len &&
            str_equal(o->attributes.at[indices->at[i]].key, key))
            return o->attributes.at[indices->at[i]].text;
    return STR("");
}

// The numbers of a message in fields[number], its packed attribute numbers in o->indices.
static bool read_row(Otlp *o, Bytes message, uint64_t *fields, size_t count, uint32_t attributes)
{
    Cursor c = cursor_over(message, "OTLP row");
    ProtobufField f;
    memset(fields, 0, count * sizeof(*fields));
    o->indices.len = 0;
    while (protobuf_next(&c, &f)) {
        if (f.number == attributes)
            protobuf_add_numbers(&f, &o->indices);
        else if (f.number < count && f.wire == WIRE_VARINT)
            fields[f.number] = f.value;
    }
    return cursor_check(&c, o->err);
}

static bool read_mappings(Otlp *o)
{
    for (size_t i = 0; i < o->mappings.len; i++) {
        uint64_t f[5];
        if (!read_row(o, o->mappings.at[i], f, 5, 5))
            return false;
        Str path = text(o, f[4]);
        Str build_id = attribute_text(o, &o->indices, STR("process.executable.build_id.gnu"));
        ModuleId module = {0};
        if (path.len || build_id.len)
            module = profile_module(o->p, path.len ? import_module_kind(path) : MODULE_ANON, path,
                                    build_id);
        vec_push(NULL, &o->modules, module);
    }
    return true;
}

static bool read_functions(Otlp *o)
{
    for (size_t i = 0; i < o->functions.len; i++) {
        uint64_t f[5];
        if (!protobuf_flat(o->functions.at[i], f, 5, "OTLP function", o->err))
            return false;
        Str name = text(o, f[1]), system_name = text(o, f[2]);
        FunctionId function = {0};
        if (name.len || system_name.len)
            function = profile_function(o->p, name.len ? name : system_name,
                                        system_name.len ? system_name : name, text(o, f[3]),
                                        (uint32_t)MIN(f[4], (uint64_t)UINT32_MAX));
        vec_push(NULL, &o->functions_of, function);
    }
    return true;
}

static bool read_line(Otlp *o, Bytes message, FunctionId *function, StrId *file, uint32_t *line)
{
    uint64_t f[3];
    if (!protobuf_flat(message, f, 3, "OTLP line", o->err))
        return false;
    *function = f[1] < o->functions_of.len ? o->functions_of.at[f[1]] : (FunctionId){0};
    *file = o->p->functions.file.at[function->v];
    *line = (uint32_t)MIN(f[2], (uint64_t)UINT32_MAX);
    return true;
}

// Lines stand innermost first: those behind the first are calls that were inlined.
static bool read_location(Otlp *o, Bytes message)
{
    uint64_t f[3];
    if (!read_row(o, message, f, 3, 4))
        return false;
    ModuleId module = f[1] < o->modules.len ? o->modules.at[f[1]] : (ModuleId){0};
    uint8_t flags = import_kernel_flag(o->p, module);
    if (str_equal(attribute_text(o, &o->indices, STR("profile.frame.type")), STR("kernel")))
        flags |= FRAME_KERNEL;
    FunctionId function = {0};
    StrId file = {0};
    uint32_t line = 0;
    FrameId frame = {0}, inlined = {0};
    size_t lines = 0;
    bool fresh = true;
    Cursor c = cursor_over(message, "OTLP location");
    ProtobufField field;
    while (protobuf_next(&c, &field)) {
        if (field.number != 3 || field.wire != WIRE_LEN || !fresh)
            continue;
        if (!charge(o, ROW_BYTES) || !read_line(o, field.bytes, &function, &file, &line))
            return false;
        if (lines++ == 0) {
            frame = import_named_frame(o->p, module, f[2], function, file, line, flags);
            fresh = o->p->frames.inlined_in.at[frame.v].v == 0;
            inlined = frame;
        } else {
            inlined = profile_frame_add_inliner(o->p, inlined);
            profile_frame_resolve(o->p, inlined, function, file, line);
        }
    }
    if (lines == 0 && message.len)
        frame = import_named_frame(o->p, module, f[2], function, file, line, flags);
    vec_push(NULL, &o->frames, frame);
    return cursor_check(&c, o->err);
}

static bool read_stack(Otlp *o, Bytes message)
{
    Cursor c = cursor_over(message, "OTLP stack");
    ProtobufField f;
    o->indices.len = 0;
    while (protobuf_next(&c, &f))
        if (f.number == 1)
            protobuf_add_numbers(&f, &o->indices);
    StackId stack = {0};
    if (!charge(o, 24 * o->indices.len))
        return false;
    for (size_t i = o->indices.len; i-- > 0;) // leaf first
        if (o->indices.at[i] < o->frames.len)
            stack = profile_stack(o->p, stack, o->frames.at[o->indices.at[i]]);
    vec_push(NULL, &o->stacks, stack);
    return cursor_check(&c, o->err);
}

static bool each(Otlp *o, const BytesVec *rows, bool (*read)(Otlp *, Bytes))
{
    for (size_t i = 0; i < rows->len; i++)
        if (!read(o, rows->at[i]))
            return error_context(o->err, "row %zu", i);
    return true;
}

// ---- Samples ---------------------------------------------------------------------

static uint32_t row_of_pair(Table *t, U64Vec *keys, uint64_t a, uint64_t b, uint32_t fresh)
{
    uint64_t hash = hash_pair(a, b);
    uint32_t row;
    for (TableProbe p = table_probe(t, hash); table_next(t, &p, &row);)
        if (keys->at[2 * (size_t)row] == a && keys->at[2 * (size_t)row + 1] == b)
            return row;
    vec_push(NULL, keys, a);
    vec_push(NULL, keys, b);
    table_insert(t, hash, fresh);
    return fresh;
}

static ThreadId thread_of(Otlp *o, const U64Vec *indices)
{
    uint64_t pid = 0, tid = 0;
    Str name = attribute_text(o, indices, STR("thread.name"));
    for (size_t i = 0; i < indices->len; i++) {
        if (indices->at[i] >= o->attributes.len)
            continue;
        const Attribute *a = &o->attributes.at[indices->at[i]];
        if (str_equal(a->key, STR("process.pid")))
            pid = (uint32_t)a->number;
        else if (str_equal(a->key, STR("thread.id")))
            tid = (uint32_t)a->number;
    }
    Profile *p = o->p;
    uint32_t count = (uint32_t)p->processes.pid.len;
    uint32_t process = row_of_pair(&o->processes, &o->process_keys, o->resource, pid, count);
    if (process == count)
        profile_add_process(p, (uint32_t)pid, 0, profile_str(p, o->service), TIME_NONE);
    StrId thread_name = profile_str(p, name);
    count = (uint32_t)p->threads.tid.len;
    uint32_t thread =
        row_of_pair(&o->threads, &o->thread_keys, process, tid << 32 | thread_name.v, count);
    if (thread == count)
        profile_add_thread(p, (ProcessId){process}, (uint32_t)tid, thread_name, TIME_NONE);
    return (ThreadId){thread};
}

// The row of a sample. A recording of several metrics is a profile for each: those after the first
// find the rows that it made.
static size_t sample_row(Otlp *o, MetricId metric, ThreadId thread, StackId stack, int64_t time_ns)
{
    Samples *s = &o->p->samples;
    uint64_t hash = hash_pair((uint64_t)thread.v << 32 | stack.v, (uint64_t)time_ns);
    uint32_t row;
    if (o->profiles > 0)
        for (TableProbe t = table_probe(&o->rows, hash); table_next(&o->rows, &t, &row);)
            if (s->thread.at[row].v == thread.v && s->stack.at[row].v == stack.v &&
                s->time_ns.at[row] == time_ns && s->values[metric.v].at[row] == 0)
                return row;
    size_t made = profile_add_sample(o->p, time_ns, thread, stack, SAMPLE_CPU_NONE);
    table_insert(&o->rows, hash, (uint32_t)made);
    return made;
}

// Fixed numbers of eight bytes, packed or one by one.
static void add_times(const ProtobufField *f, U64Vec *out)
{
    if (f->wire != WIRE_LEN) {
        vec_push(NULL, out, f->value);
        return;
    }
    Cursor c = cursor_over(f->bytes, "times");
    while (cursor_left(&c) >= 8)
        vec_push(NULL, out, cursor_u64(&c));
}

static void add_sample(Otlp *o, MetricId metric, ThreadId thread, StackId stack, size_t i)
{
    bool paired = o->times.len && (o->values.len == o->times.len || o->values.len == 0);
    int64_t time = paired ? (int64_t)(o->times.at[i] - o->start_ns) : TIME_NONE;
    uint64_t value = o->values.len ? o->values.at[i] : 1; // only times: each counts once
    size_t row = sample_row(o, metric, thread, stack, time);
    profile_sample_set(o->p, row, metric, (int64_t)MIN(value, (uint64_t)INT64_MAX));
}

static bool read_sample(Otlp *o, Bytes message, MetricId metric)
{
    Cursor c = cursor_over(message, "OTLP sample");
    ProtobufField f;
    uint64_t stack = 0;
    o->values.len = o->times.len = o->indices.len = 0;
    while (protobuf_next(&c, &f)) {
        if (f.number == 1 && f.wire == WIRE_VARINT)
            stack = f.value;
        else if (f.number == 2)
            protobuf_add_numbers(&f, &o->indices);
        else if (f.number == 4)
            protobuf_add_numbers(&f, &o->values);
        else if (f.number == 5)
            add_times(&f, &o->times);
    }
    size_t samples = o->values.len ? o->values.len : o->times.len;
    if (!cursor_check(&c, o->err) || !charge(o, ROW_BYTES * (samples + 1)))
        return false;
    if (o->indices.len > ATTRIBUTES_MAX)
        return error_set(o->err, ERROR_LIMIT, "a sample with %zu attributes", o->indices.len);
    if (o->start_ns == 0 && o->times.len)
        o->start_ns = o->times.at[0];
    ThreadId thread = thread_of(o, &o->indices);
    StackId stack_id = stack < o->stacks.len ? o->stacks.at[stack] : (StackId){0};
    for (size_t i = 0; i < samples; i++)
        add_sample(o, metric, thread, stack_id, i);
    return true;
}

static bool metric_of(Otlp *o, Bytes type, MetricId *ret)
{
    uint64_t f[3];
    if (!protobuf_flat(type, f, 3, "OTLP sample type", o->err))
        return false;
    Profile *p = o->p;
    Str name = text(o, f[1]), unit = text(o, f[2]);
    if (name.len == 0)
        name = STR("samples");
    if (str_equal(unit, STR("nanoseconds")))
        unit = STR("ns");
    else if (str_equal(unit, STR("count")))
        unit = STR("");
    for (uint32_t m = 0; m < p->metrics.name.len; m++)
        if (str_equal(profile_text(p, p->metrics.name.at[m]), name) &&
            str_equal(profile_text(p, p->metrics.unit.at[m]), unit)) {
            *ret = (MetricId){m};
            return true;
        }
    if (p->metrics.name.len >= TYPES_MAX)
        return error_set(o->err, ERROR_LIMIT, "more than %d types of samples", TYPES_MAX);
    *ret = profile_add_metric(p, name, unit, METRIC_SUM, STR(""));
    return true;
}

static void set_number_fact(Otlp *o, Str key, uint64_t value)
{
    Arena scratch = {0};
    if (value && profile_fact(o->p, key).len == 0)
        profile_set_fact(o->p, key, arena_printf(&scratch, "%llu", (unsigned long long)value));
    arena_deinit(&scratch);
}

static bool read_profile(Otlp *o, Bytes message)
{
    Cursor c = cursor_over(message, "OTLP profile");
    ProtobufField f;
    Bytes type = {0};
    BytesVec samples = {0};
    uint64_t period = 0;
    if (!charge(o, ROW_BYTES))
        return false;
    bool ok = true;
    while (ok && protobuf_next(&c, &f)) {
        ok = charge(o, sizeof(f.bytes));
        if (f.number == 1 && f.wire == WIRE_LEN)
            type = f.bytes;
        else if (f.number == 2 && f.wire == WIRE_LEN)
            vec_push(NULL, &samples, f.bytes);
        else if (f.number == 3 && f.wire == WIRE_I64 && o->start_ns == 0)
            o->start_ns = f.value;
        else if (f.number == 4 && f.wire == WIRE_VARINT)
            set_number_fact(o, STR(FACT_WALL_NS), f.value);
        else if (f.number == 6 && f.wire == WIRE_VARINT)
            period = f.value;
    }
    MetricId metric;
    ok = ok && cursor_check(&c, o->err) && metric_of(o, type, &metric);
    for (size_t i = 0; ok && i < samples.len; i++)
        ok = read_sample(o, samples.at[i], metric) || error_context(o->err, "sample %zu", i);
    vec_free(&samples);
    if (ok && period)
        set_number_fact(o, STR(FACT_RATE_ASKED), 1000000000 / period);
    o->profiles++;
    return ok;
}

// Resource.attributes: key and AnyValue by name.
static bool read_resource_name(Otlp *o, Bytes message)
{
    Cursor c = cursor_over(message, "OTLP resource");
    ProtobufField f;
    while (protobuf_next(&c, &f)) {
        if (f.number != 1 || f.wire != WIRE_LEN)
            continue;
        Attribute a = {0};
        Cursor pair = cursor_over(f.bytes, "OTLP attribute");
        ProtobufField part;
        while (protobuf_next(&pair, &part)) {
            if (part.number == 1 && part.wire == WIRE_LEN)
                a.key = str_from_bytes(part.bytes);
            else if (part.number == 2 && part.wire == WIRE_LEN &&
                     !read_any_value(o, part.bytes, &a))
                return false;
        }
        if (!cursor_check(&pair, o->err))
            return false;
        if (str_equal(a.key, STR("service.name")))
            o->service = a.text;
    }
    return cursor_check(&c, o->err);
}

static bool read_resource(Otlp *o, Bytes message)
{
    Cursor c = cursor_over(message, "OTLP resource");
    ProtobufField f;
    o->service = STR("");
    while (protobuf_next(&c, &f)) {
        if (f.number == 1 && f.wire == WIRE_LEN && !read_resource_name(o, f.bytes))
            return false;
        if (f.number != 2 || f.wire != WIRE_LEN)
            continue;
        Cursor scope = cursor_over(f.bytes, "OTLP scope");
        ProtobufField part;
        while (protobuf_next(&scope, &part))
            if (part.number == 2 && part.wire == WIRE_LEN && !read_profile(o, part.bytes))
                return false;
        if (!cursor_check(&scope, o->err))
            return false;
    }
    if (o->service.len && profile_fact(o->p, STR(FACT_COMMAND)).len == 0)
        profile_set_fact(o->p, STR(FACT_COMMAND), o->service);
    o->resource++;
    return cursor_check(&c, o->err);
}

static void otlp_deinit(Otlp *o)
{
    vec_free(&o->strings);
    BytesVec *const rows[] = {&o->resources, &o->mappings,       &o->locations,
                              &o->functions, &o->attribute_rows, &o->stack_rows};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        vec_free(rows[i]);
    vec_free(&o->attributes);
    vec_free(&o->modules);
    vec_free(&o->functions_of);
    vec_free(&o->frames);
    vec_free(&o->stacks);
    U64Vec *const numbers[] = {&o->process_keys, &o->thread_keys, &o->values, &o->times,
                               &o->indices};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        vec_free(numbers[i]);
    table_deinit(&o->processes);
    table_deinit(&o->threads);
    table_deinit(&o->rows);
}

bool import_otlp(Bytes file, size_t input_bytes, Profile *p, Error *err)
{
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import OTLP"));
    Otlp o = {.p = p, .input_bytes = input_bytes, .err = err};
    bool ok = collect(&o, file) && read_attributes(&o) && read_mappings(&o) && read_functions(&o) &&
              each(&o, &o.locations, read_location) && each(&o, &o.stack_rows, read_stack) &&
              each(&o, &o.resources, read_resource);
    if (ok && p->metrics.name.len == 0)
        ok = error_set(err, ERROR_FORMAT, "OTLP without a profile");
    if (ok)
        set_number_fact(&o, STR(FACT_START_REALTIME), o.start_ns);
    otlp_deinit(&o);
    if (!ok)
        profile_deinit(p);
    return ok;
}
