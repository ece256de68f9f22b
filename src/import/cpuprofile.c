// SPDX-License-Identifier: Apache-2.0
// V8's CPU profiles (.cpuprofile: node --cpu-prof, Chrome DevTools) -> Profile.
// Format: Chrome DevTools Protocol, domain Profiler, type Profile. A node stands for a stack; its
// children name it by number. Old files have the tree nested below "head".

#include "import/import.h"

#include "import/cpuprofile_internal.h"
#include "import/json_import_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

static uint64_t id_of(const JsonValue *value)
{
    return (uint64_t)json_number_as_i64(json_number(value, -1));
}

// The row of the node with an id; 0 when there is none.
static uint32_t node_of(const CpuProfile *c, uint64_t id)
{
    uint32_t row;
    for (TableProbe p = table_probe(&c->by_id, hash_u64(id)); table_next(&c->by_id, &p, &row);)
        if (id_of(json_find(c->nodes.at[row].json, "id")) == id)
            return row;
    return 0;
}

static bool add_node(CpuProfile *c, const JsonValue *json, uint32_t parent)
{
    uint64_t id = id_of(json_find(json, "id"));
    if (node_of(c, id))
        return error_set(c->err, ERROR_FORMAT, "cpuprofile: two nodes with the id %llu",
                         (unsigned long long)id);
    table_insert(&c->by_id, hash_u64(id), (uint32_t)c->nodes.len);
    vec_push(&c->scratch, &c->nodes, ((CpuProfileNode){.json = json, .parent = parent}));
    return true;
}

static bool read_flat(CpuProfile *c, const JsonValue *list)
{
    for (const JsonValue *n = list->child; n; n = n->next)
        if (!add_node(c, n, 0))
            return false;
    for (uint32_t row = 1; row < c->nodes.len; row++) {
        const JsonValue *children = json_find(c->nodes.at[row].json, "children");
        for (const JsonValue *v = children ? children->child : NULL; v; v = v->next) {
            uint32_t child = node_of(c, id_of(v));
            if (child == 0)
                continue; // left out of the file: a sample of it would be refused
            if (c->nodes.at[child].parent)
                return error_set(c->err, ERROR_FORMAT,
                                 "cpuprofile: the child '%" STR_FMT "' has two parents",
                                 STR_ARG(v->text));
            c->nodes.at[child].parent = row;
        }
    }
    return true;
}

// Children that are nodes themselves. Rows that are added are visited later.
static bool read_nested(CpuProfile *c, const JsonValue *head)
{
    bool ok = add_node(c, head, 0);
    for (uint32_t row = 1; ok && row < c->nodes.len; row++) {
        const JsonValue *children = json_find(c->nodes.at[row].json, "children");
        for (const JsonValue *v = children ? children->child : NULL; ok && v; v = v->next)
            ok = add_node(c, v, row);
    }
    return ok;
}

bool cpuprofile_add_tree(CpuProfile *c, const JsonValue *root)
{
    const JsonValue *flat = json_find(root, "nodes"), *head = json_find(root, "head");
    if (!flat && !head)
        return error_set(c->err, ERROR_FORMAT, "cpuprofile: no nodes");
    return flat ? read_flat(c, flat) : read_nested(c, head);
}

bool cpuprofile_add_chunk(CpuProfile *c, const JsonValue *nodes)
{
    for (const JsonValue *n = nodes ? nodes->child : NULL; n; n = n->next) {
        const JsonValue *id = json_find(n, "parent");
        uint32_t parent = id ? node_of(c, id_of(id)) : 0;
        if (id && !parent)
            return error_set(c->err, ERROR_FORMAT,
                             "cpuprofile: the parent '%" STR_FMT "' of a node is not there",
                             STR_ARG(id->text));
        if (!add_node(c, n, parent))
            return false;
    }
    return true;
}

static Str without_scheme(Str url)
{
    Str file = STR("file://");
    return str_starts_with(url, file) ? str_slice(url, file.len, url.len) : url;
}

// The line on which all ticks of a node fell; 0 when they fell on several, as samples do not say
// on which.
static uint32_t line_of(const JsonValue *node)
{
    const JsonValue *ticks = json_find(node, "positionTicks");
    if (!ticks || ticks->count != 1)
        return 0;
    return json_number_as_u32(json_number(json_find(ticks->child, "line"), 0));
}

// Old files have the fields of the place in the node; their lines count from 1 where new ones
// count from 0.
static FrameId frame_of(CpuProfile *c, const JsonValue *node)
{
    const JsonValue *call = json_find(node, "callFrame");
    const JsonValue *place = call ? call : node;
    Str name = json_text(json_find(place, "functionName"));
    Str file = without_scheme(json_text(json_find(place, "url")));
    double line = json_number(json_find(place, "lineNumber"), -1) + (call ? 1 : 0);
    if (name.len == 0)
        name = STR("(anonymous)");
    FunctionId function = profile_function(c->p, name, name, file, json_number_as_u32(line));
    return import_named_frame(c->p, (ModuleId){0}, 0, function, profile_str(c->p, file),
                              line_of(node), 0);
}

// The stacks of a node and of all above it that have none yet. False when nodes form a circle.
static bool place_node(CpuProfile *c, uint32_t row)
{
    U32Vec path = {0};
    size_t limit = c->nodes.len;
    for (uint32_t at = row; at && !c->nodes.at[at].is_placed && path.len <= limit;
         at = c->nodes.at[at].parent)
        vec_push(NULL, &path, at);
    bool ok = path.len <= limit;
    while (ok && path.len) {
        CpuProfileNode *n = &c->nodes.at[vec_pop(&path)];
        const CpuProfileNode *parent = &c->nodes.at[n->parent];
        FrameId frame = frame_of(c, n->json);
        Str name = profile_text(c->p, c->p->functions.name.at[c->p->frames.function.at[frame.v].v]);
        bool is_root = n->parent == 0 && str_equal(name, STR("(root)"));
        n->is_idle = str_equal(name, STR("(idle)"));
        n->stack = is_root ? (StackId){0} : profile_stack(c->p, parent->stack, frame);
        n->is_placed = true;
    }
    vec_free(&path);
    return ok || error_set(c->err, ERROR_FORMAT, "cpuprofile: nodes are children of each other");
}

bool cpuprofile_add_sample(CpuProfile *c, const JsonValue *id, int64_t time_ns, int64_t weight)
{
    uint32_t row = node_of(c, id_of(id));
    if (row == 0)
        return error_set(c->err, ERROR_FORMAT,
                         "cpuprofile: a sample of the node '%" STR_FMT "', which is not there",
                         STR_ARG(id->text));
    if (!place_node(c, row))
        return false;
    const CpuProfileNode *n = &c->nodes.at[row];
    if (n->is_idle) {
        c->idle_ns += (uint64_t)weight;
        return true;
    }
    size_t at = profile_add_sample(c->p, time_ns, c->thread, n->stack, SAMPLE_CPU_NONE);
    profile_sample_set(c->p, at, c->metric, weight);
    return true;
}

// A sample stands for the time up to the next one, as DevTools shows it. Times that go back are
// taken as the latest before them.
static bool read_samples(CpuProfile *c, const JsonValue *root, const JsonValue *samples)
{
    JsonColumn deltas = json_column(&c->scratch, json_find(root, "timeDeltas"));
    double start = json_number(json_find(root, "startTime"), 0);
    double end = json_number(json_find(root, "endTime"), 0) - start;
    double at = json_column_number(&deltas, 0, 0), latest = MAX(at, 0.0);
    size_t row = 0;
    if (deltas.len != samples->count)
        return error_set(c->err, ERROR_FORMAT, "cpuprofile: %zu samples and %zu time differences",
                         samples->count, deltas.len);
    for (const JsonValue *v = samples->child; v; v = v->next, row++) {
        at = v->next ? at + json_column_number(&deltas, row + 1, 0) : end;
        double until = MAX(at, latest);
        int64_t from_ns = json_number_as_i64(latest * 1e3);
        if (!cpuprofile_add_sample(c, v, from_ns, json_number_as_i64(until * 1e3) - from_ns))
            return false;
        latest = until;
    }
    return true;
}

// Without samples nodes have only numbers of hits.
static bool read_hits(CpuProfile *c)
{
    for (uint32_t row = 1; row < c->nodes.len; row++) {
        double hits = json_number(json_find(c->nodes.at[row].json, "hitCount"), 0);
        if (hits > 0 && !cpuprofile_add_sample(c, json_find(c->nodes.at[row].json, "id"), TIME_NONE,
                                               json_number_as_i64(hits)))
            return false;
    }
    return true;
}

void cpuprofile_begin(CpuProfile *c)
{
    vec_push(&c->scratch, &c->nodes, (CpuProfileNode){.is_placed = true});
}

void cpuprofile_deinit(CpuProfile *c)
{
    table_deinit(&c->by_id);
    arena_deinit(&c->scratch);
}

void cpuprofile_note_idle(Profile *p, uint64_t idle_ns)
{
    if (idle_ns)
        profile_note(p, NOTE_INFO, STR("idle-left-out"),
                     "%.3f s in which V8 was idle are left out: they are no processor time",
                     (double)idle_ns / 1e9);
}

static bool read_profile(CpuProfile *c, const JsonValue *root)
{
    Profile *p = c->p;
    const JsonValue *samples = json_find(root, "samples");
    bool has_times = json_find(root, "timeDeltas") && samples && samples->kind == JSON_ARRAY;
    ProcessId process = profile_add_process(p, 0, 0, profile_str(p, STR("V8")), TIME_NONE);
    c->thread = profile_add_thread(p, process, 0, profile_str(p, STR("V8")), TIME_NONE);
    c->metric = has_times ? profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR(""))
                          : profile_add_metric(p, STR("samples"), STR(""), METRIC_SUM, STR(""));
    cpuprofile_begin(c);
    if (!cpuprofile_add_tree(c, root))
        return false;
    if (!(has_times ? read_samples(c, root, samples) : read_hits(c)))
        return false;
    if (has_times)
        cpuprofile_note_idle(p, c->idle_ns);
    return true;
}

bool import_cpuprofile(Bytes file, Profile *p, Error *err)
{
    CpuProfile c = {.p = p, .err = err};
    JsonValue *root;
    if (!json_parse(&c.scratch, str_from_bytes(file), &root, err)) {
        arena_deinit(&c.scratch);
        return error_context(err, "cpuprofile");
    }
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import cpuprofile"));
    bool ok = read_profile(&c, root);
    cpuprofile_deinit(&c);
    if (!ok)
        profile_deinit(p);
    return ok;
}
