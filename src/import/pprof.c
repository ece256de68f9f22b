// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto -> Profile.
// Format: github.com/google/pprof, proto/profile.proto; protobuf encoding.

#include "import/import.h"

#include "import/places_internal.h"
#include "import/protobuf_internal.h"

#include "base/decoded.h"
#include "base/table.h"
#include "model/facts.h"

// ---- Tables ----------------------------------------------------------------

typedef struct ById {
    Table table;
    U64Vec ids;  // by row
    U32Vec rows; // what the id stands for: a row of the profile
} ById;

static void by_id_add(ById *b, uint64_t id, uint32_t row)
{
    table_insert(&b->table, hash_u64(id), (uint32_t)b->ids.len);
    vec_push(NULL, &b->ids, id);
    vec_push(NULL, &b->rows, row);
}

// 0, "none", for an id that was never given.
static uint32_t by_id_get(const ById *b, uint64_t id)
{
    uint32_t row;
    for (TableProbe p = table_probe(&b->table, hash_u64(id)); table_next(&b->table, &p, &row);)
        if (b->ids.at[row] == id)
            return b->rows.at[row];
    return 0;
}

static void by_id_deinit(ById *b)
{
    table_deinit(&b->table);
    vec_free(&b->ids);
    vec_free(&b->rows);
}

typedef struct Import {
    Profile *p;
    StrVec strings;
    BytesVec sample_types, samples, mappings, locations, functions; // messages
    U64Vec comment_ids;
    ById module_of, function_of, frame_of;
    Table processes;
    Table threads;      // pid, tid, names -> thread row
    U64Vec thread_keys; // two a thread: pid << 32 | tid, name << 32 | process name
    U64Vec location_ids, values;
    size_t first_metric; // the sample type that is metric 0
    uint64_t time_ns, duration_ns, period, default_type;
    Bytes period_type;
    size_t input_bytes; // of the file, compressed where it was
    uint64_t made;      // about how much memory its messages have taken
    Error *err;
} Import;

// A message of two bytes becomes a row of many columns. About what each kind takes, the
// message's own place in its list included.
enum {
    MESSAGE_BYTES = sizeof(Bytes) * 2, // a list that grows has room for as much again
    SAMPLE_BYTES = 24,                 // and 8 for each sample type
    LOCATION_BYTES = 120,
    FUNCTION_BYTES = 100,
    STRING_BYTES = 64,
    LABEL_BYTES = 120, // a thread and a process of its own
    STACK_BYTES = 24,  // a node
};

static bool charge(Import *im, uint64_t bytes)
{
    im->made += bytes;
    return decoded_check(im->made, im->input_bytes, im->err);
}

static Str text(const Import *im, uint64_t index)
{
    return index < im->strings.len ? im->strings.at[index] : STR("");
}

static void take_number(Import *im, const ProtobufField *f)
{
    if (f->number == 9)
        im->time_ns = f->value;
    else if (f->number == 10)
        im->duration_ns = f->value;
    else if (f->number == 12)
        im->period = f->value;
    else if (f->number == 14)
        im->default_type = f->value;
}

// The top message, sorted by what is inside: parts may come in any order.
static bool collect(Import *im, Bytes file, Error *err)
{
    Cursor c = cursor_over(file, "pprof profile");
    ProtobufField f;
    while (protobuf_next(&c, &f)) {
        if (f.number == 13)
            protobuf_add_numbers(&f, &im->comment_ids);
        if (f.wire != WIRE_LEN) {
            take_number(im, &f);
            continue;
        }
        if (!charge(im, MESSAGE_BYTES))
            return false;
        switch (f.number) {
        case 1:
            vec_push(NULL, &im->sample_types, f.bytes);
            break;
        case 2:
            vec_push(NULL, &im->samples, f.bytes);
            break;
        case 3:
            vec_push(NULL, &im->mappings, f.bytes);
            break;
        case 4:
            vec_push(NULL, &im->locations, f.bytes);
            break;
        case 5:
            vec_push(NULL, &im->functions, f.bytes);
            break;
        case 6:
            vec_push(NULL, &im->strings, str_from_bytes(f.bytes));
            im->made += STRING_BYTES;
            break;
        case 11:
            im->period_type = f.bytes;
            break;
        default:
            break;
        }
    }
    return cursor_check(&c, err);
}

static Str our_unit(Str unit)
{
    if (str_equal(unit, STR("nanoseconds")))
        return STR("ns");
    return str_equal(unit, STR("count")) ? STR("") : unit;
}

// Metric 0 is what is shown when nothing else is asked for: the type that the file
// names, else the last one, as pprof has it. The others keep their order.
static MetricId metric_of_type(const Import *im, size_t type)
{
    if (type == im->first_metric)
        return (MetricId){0};
    return (MetricId){(uint32_t)(type + (type < im->first_metric))};
}

static bool read_sample_types(Import *im)
{
    enum { TYPES_MAX = 64 };
    uint64_t types[TYPES_MAX][3];
    if (im->sample_types.len == 0 || im->sample_types.len > TYPES_MAX)
        return error_set(im->err, ERROR_FORMAT, "pprof profile with %zu sample types",
                         im->sample_types.len);
    size_t count = im->sample_types.len;
    im->first_metric = count - 1;
    Str wanted = text(im, im->default_type);
    for (size_t i = 0; i < count; i++) {
        if (!protobuf_flat(im->sample_types.at[i], types[i], 3, "pprof sample type", im->err))
            return false;
        if (wanted.len && str_equal(text(im, types[i][1]), wanted))
            im->first_metric = i;
    }
    for (uint32_t metric = 0; metric < count; metric++)
        for (size_t i = 0; i < count; i++)
            if (metric_of_type(im, i).v == metric)
                profile_add_metric(im->p, text(im, types[i][1]), our_unit(text(im, types[i][2])),
                                   METRIC_SUM, STR(""));
    return true;
}

// The description of the profile; the program is the first mapping, as for pprof.
static bool read_facts(Import *im)
{
    uint64_t type[3];
    Arena scratch = {0};
    if (!protobuf_flat(im->period_type, type, 3, "pprof period type", im->err))
        return false;
    if (im->time_ns)
        profile_set_fact(im->p, STR(FACT_START_REALTIME),
                         arena_printf(&scratch, "%llu", (unsigned long long)im->time_ns));
    if (im->duration_ns)
        profile_set_fact(im->p, STR(FACT_WALL_NS),
                         arena_printf(&scratch, "%llu", (unsigned long long)im->duration_ns));
    if (im->period && str_equal(text(im, type[2]), STR("nanoseconds")))
        profile_set_fact(im->p, STR(FACT_RATE_ASKED),
                         arena_printf(&scratch, "%.0f", 1e9 / (double)im->period));
    arena_deinit(&scratch);
    return true;
}

static bool read_mappings(Import *im)
{
    for (size_t i = 0; i < im->mappings.len; i++) {
        uint64_t f[7];
        if (!charge(im, FUNCTION_BYTES))
            return false;
        if (!protobuf_flat(im->mappings.at[i], f, 7, "pprof mapping", im->err))
            return false;
        Str path = text(im, f[5]);
        ModuleKind kind = path.len ? import_module_kind(path) : MODULE_ANON;
        ModuleId module = profile_module(im->p, kind, path, text(im, f[6]));
        by_id_add(&im->module_of, f[1], module.v);
    }
    return true;
}

static bool read_functions(Import *im)
{
    for (size_t i = 0; i < im->functions.len; i++) {
        uint64_t f[6];
        if (!charge(im, FUNCTION_BYTES))
            return false;
        if (!protobuf_flat(im->functions.at[i], f, 6, "pprof function", im->err))
            return false;
        Str name = text(im, f[2]);
        Str system_name = text(im, f[3]);
        FunctionId function = profile_function(im->p, name.len ? name : system_name,
                                               system_name.len ? system_name : name, text(im, f[4]),
                                               (uint32_t)MIN(f[5], (uint64_t)UINT32_MAX));
        by_id_add(&im->function_of, f[1], function.v);
    }
    return true;
}

// A line of a location: which function, and where in it.
static bool read_line(Import *im, Bytes message, FunctionId *function, StrId *file, uint32_t *line)
{
    uint64_t f[3];
    if (!protobuf_flat(message, f, 3, "pprof line", im->err))
        return false;
    *function = (FunctionId){by_id_get(&im->function_of, f[1])};
    *file = im->p->functions.file.at[function->v];
    *line = (uint32_t)MIN(f[2], (uint64_t)UINT32_MAX);
    return true;
}

static bool read_location(Import *im, Bytes message)
{
    Cursor c = cursor_over(message, "pprof location");
    BytesVec lines = {0};
    uint64_t id = 0, mapping = 0, address = 0;
    ProtobufField f;
    while (protobuf_next(&c, &f)) {
        if (f.number == 1)
            id = f.value;
        else if (f.number == 2)
            mapping = f.value;
        else if (f.number == 3)
            address = f.value;
        else if (f.number == 4 && f.wire == WIRE_LEN)
            vec_push(NULL, &lines, f.bytes);
    }
    bool ok = cursor_check(&c, im->err) && charge(im, LOCATION_BYTES * (lines.len + 1));
    ModuleId module = {by_id_get(&im->module_of, mapping)};
    uint8_t flags = import_kernel_flag(im->p, module);
    FunctionId function = {0};
    StrId file = {0};
    uint32_t line = 0;
    if (ok && lines.len)
        ok = read_line(im, lines.at[0], &function, &file, &line);
    FrameId frame = import_named_frame(im->p, module, address, function, file, line, flags);
    bool fresh = im->p->frames.inlined_in.at[frame.v].v == 0;
    FrameId inner = frame;
    for (size_t i = 1; ok && fresh && i < lines.len; i++) {
        ok = read_line(im, lines.at[i], &function, &file, &line);
        inner = profile_frame_add_inliner(im->p, inner);
        profile_frame_resolve(im->p, inner, function, file, line);
    }
    by_id_add(&im->frame_of, id, frame.v);
    vec_free(&lines);
    return ok;
}

// ---- Samples ---------------------------------------------------------------

typedef struct Labels {
    uint64_t pid, tid;
    Str process, thread;
    int64_t time_ns;
    uint32_t cpu;
} Labels;

static bool read_label(Import *im, Bytes message, Labels *l)
{
    uint64_t f[4];
    if (!protobuf_flat(message, f, 4, "pprof label", im->err))
        return false;
    Str key = text(im, f[1]);
    Str value = text(im, f[2]);
    if (str_equal(key, STR("pid")))
        l->pid = f[3];
    else if (str_equal(key, STR("tid")) || str_equal(key, STR("thread_id")))
        l->tid = f[3];
    else if (str_equal(key, STR("process")) || str_equal(key, STR("comm")))
        l->process = value;
    else if (str_equal(key, STR("thread")) || str_equal(key, STR("thread_name")))
        l->thread = value;
    else if (str_equal(key, STR("time")))
        l->time_ns = (int64_t)f[3];
    else if (str_equal(key, STR("cpu")) && f[3] < SAMPLE_CPU_NONE)
        l->cpu = (uint32_t)f[3];
    return true;
}

static ProcessId process_of(Import *im, uint32_t pid, StrId name)
{
    const Processes *t = &im->p->processes;
    uint64_t hash = hash_u64((uint64_t)pid << 32 | name.v);
    uint32_t row;
    for (TableProbe p = table_probe(&im->processes, hash); table_next(&im->processes, &p, &row);)
        if (t->pid.at[row] == pid && t->name.at[row].v == name.v)
            return (ProcessId){row};
    ProcessId process = profile_add_process(im->p, pid, 0, name, TIME_NONE);
    table_insert(&im->processes, hash, process.v);
    return process;
}

static ThreadId thread_of(Import *im, const Labels *l)
{
    StrId process_name = profile_str(im->p, l->process);
    StrId name = profile_str(im->p, l->thread);
    uint32_t pid = (uint32_t)l->pid;
    uint64_t a = (uint64_t)pid << 32 | (uint32_t)l->tid;
    uint64_t b = (uint64_t)name.v << 32 | process_name.v;
    uint64_t hash = hash_pair(a, b);
    uint32_t row;
    for (TableProbe p = table_probe(&im->threads, hash); table_next(&im->threads, &p, &row);)
        if (im->thread_keys.at[row * 2] == a && im->thread_keys.at[row * 2 + 1] == b)
            return (ThreadId){row};
    ThreadId thread = profile_add_thread(im->p, process_of(im, pid, process_name), (uint32_t)l->tid,
                                         name, TIME_NONE);
    vec_push(NULL, &im->thread_keys, a);
    vec_push(NULL, &im->thread_keys, b);
    table_insert(&im->threads, hash, thread.v);
    return thread;
}

static bool read_sample(Import *im, Bytes message)
{
    Cursor c = cursor_over(message, "pprof sample");
    Labels labels = {.time_ns = TIME_NONE, .cpu = SAMPLE_CPU_NONE};
    im->location_ids.len = im->values.len = 0;
    ProtobufField f;
    while (protobuf_next(&c, &f)) {
        if (f.number == 1)
            protobuf_add_numbers(&f, &im->location_ids);
        else if (f.number == 2)
            protobuf_add_numbers(&f, &im->values);
        else if (f.number == 3 && f.wire == WIRE_LEN && !read_label(im, f.bytes, &labels))
            return false;
    }
    size_t stacks = im->p->stacks.frame.len, threads = im->p->threads.tid.len;
    if (!cursor_check(&c, im->err))
        return false;
    StackId stack = {0};
    for (size_t i = im->location_ids.len; i-- > 0;) {
        FrameId frame = {by_id_get(&im->frame_of, im->location_ids.at[i])};
        stack = profile_stack(im->p, stack, frame);
    }
    size_t row =
        profile_add_sample(im->p, labels.time_ns, thread_of(im, &labels), stack, labels.cpu);
    for (size_t i = 0; i < MIN(im->values.len, im->sample_types.len); i++)
        profile_sample_set(im->p, row, metric_of_type(im, i), (int64_t)im->values.at[i]);
    return charge(im, SAMPLE_BYTES + 8 * im->sample_types.len +
                          STACK_BYTES * (im->p->stacks.frame.len - stacks) +
                          LABEL_BYTES * (im->p->threads.tid.len - threads));
}

static bool each(Import *im, const BytesVec *messages, bool (*read)(Import *, Bytes))
{
    for (size_t i = 0; i < messages->len; i++)
        if (!read(im, messages->at[i]))
            return error_context(im->err, "message %zu", i);
    return true;
}

// Our own export keeps the command line in a comment, as other tools do not: theirs
// are remarks, and the program is the first mapping, as for pprof.
static void add_comments(Import *im)
{
    Str command = {0}, mark = STR(COMMAND_REMARK);
    if (im->p->modules.path.len > 1)
        command = str_base_name(profile_text(im->p, im->p->modules.path.at[1]));
    for (size_t i = 0; i < im->comment_ids.len; i++) {
        Str comment = text(im, im->comment_ids.at[i]);
        if (str_starts_with(comment, mark))
            command = str_slice(comment, mark.len, comment.len);
        else if (comment.len)
            profile_note(im->p, NOTE_INFO, STR("comment"), "%" STR_FMT, STR_ARG(comment));
    }
    if (command.len)
        profile_set_fact(im->p, STR(FACT_COMMAND), command);
}

static bool read_all(Import *im, Bytes file)
{
    if (!collect(im, file, im->err) || !read_sample_types(im) || !read_mappings(im) ||
        !read_functions(im) || !read_facts(im) || !each(im, &im->locations, read_location) ||
        !each(im, &im->samples, read_sample))
        return false;
    add_comments(im);
    return true;
}

static void import_deinit(Import *im)
{
    vec_free(&im->strings);
    vec_free(&im->sample_types);
    vec_free(&im->samples);
    vec_free(&im->mappings);
    vec_free(&im->locations);
    vec_free(&im->functions);
    vec_free(&im->comment_ids);
    vec_free(&im->location_ids);
    vec_free(&im->values);
    vec_free(&im->thread_keys);
    by_id_deinit(&im->module_of);
    by_id_deinit(&im->function_of);
    by_id_deinit(&im->frame_of);
    table_deinit(&im->threads);
    table_deinit(&im->processes);
}

bool import_pprof(Bytes file, size_t input_bytes, Profile *p, Error *err)
{
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import pprof"));
    Import im = {.p = p, .input_bytes = input_bytes, .err = err};
    bool ok = read_all(&im, file);
    import_deinit(&im);
    if (!ok)
        profile_deinit(p);
    return ok;
}

bool pprof_is(Bytes file, bool is_whole)
{
    enum { FIELD_SAMPLE = 2, FIELD_STRING = 6, FIELD_LAST = 100 };
    bool has_samples = false, has_strings = false;
    Cursor c = cursor_over(file, "pprof");
    for (ProtobufField f; protobuf_next(&c, &f);) {
        if (f.number == 0 || f.number > FIELD_LAST)
            return false;
        has_samples |= f.number == FIELD_SAMPLE && f.wire == WIRE_LEN;
        has_strings |= f.number == FIELD_STRING && f.wire == WIRE_LEN;
    }
    return has_samples && (!is_whole || (cursor_ok(&c) && has_strings));
}
