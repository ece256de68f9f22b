// SPDX-License-Identifier: Apache-2.0
// Callgrind's profile format, version 1: self value by line, calls by edge.
// Format: valgrind manual, "Callgrind Format Specification".

#include "analyse/call_tree.h"
#include "base/table.h"
#include "export/export_internal.h"

// The value that passed from a line of one function to another function.
typedef struct Edge {
    uint32_t caller, callee; // keys
    uint32_t line;           // of the call, in the caller's file
    uint64_t samples;
    uint64_t value;
} Edge;

// Self value of a place.
typedef struct Place {
    uint32_t key;
    uint32_t file; // StrId
    uint32_t line;
    uint64_t value;
} Place;

typedef struct Callgrind {
    const ExportRequest *request;
    const Profile *p;
    const Keys *keys;
    ExportOut out;
    Vec(Edge) edges;
    Vec(Place) places;
    Table edge_index, place_index;
    uint8_t *file_named, *key_named, *module_named; // "(id) name" was written already
    StrBuf name;
} Callgrind;

static void add_edge(Callgrind *c, uint32_t caller, uint32_t callee, uint32_t line,
                     const CallNode *n)
{
    uint64_t hash = hash_pair((uint64_t)caller << 32 | callee, line);
    uint32_t row;
    for (TableProbe t = table_probe(&c->edge_index, hash); table_next(&c->edge_index, &t, &row);) {
        Edge *e = &c->edges.at[row];
        if (e->caller == caller && e->callee == callee && e->line == line) {
            e->samples += n->total_samples;
            e->value += n->total;
            return;
        }
    }
    table_insert(&c->edge_index, hash, (uint32_t)c->edges.len);
    vec_push(NULL, &c->edges, (Edge){caller, callee, line, n->total_samples, n->total});
}

static void add_place(Callgrind *c, uint32_t frame, uint64_t value)
{
    Place place = {c->keys->of_frame[frame], c->p->frames.file.at[frame].v,
                   c->p->frames.line.at[frame], value};
    uint64_t hash = hash_pair((uint64_t)place.file << 32 | place.line, place.key);
    uint32_t row;
    for (TableProbe t = table_probe(&c->place_index, hash);
         table_next(&c->place_index, &t, &row);) {
        Place *o = &c->places.at[row];
        if (o->key == place.key && o->file == place.file && o->line == place.line) {
            o->value += value;
            return;
        }
    }
    table_insert(&c->place_index, hash, (uint32_t)c->places.len);
    vec_push(NULL, &c->places, place);
}

// An edge that is on the path already carries its value there: recursion counts
// once a stack.
static bool is_repeated(const CallTree *t, uint32_t node)
{
    const CallNode *nodes = t->nodes.at;
    uint32_t caller = nodes[nodes[node].parent].key, callee = nodes[node].key;
    unsigned steps = 0;
    for (uint32_t at = nodes[node].parent; at != 0 && steps < 256; at = nodes[at].parent, steps++)
        if (nodes[at].key == callee && nodes[at].parent != 0 &&
            nodes[nodes[at].parent].key == caller)
            return true;
    return false;
}

static void gather_edges(Callgrind *c, const CallTree *t)
{
    for (uint32_t i = 1; i < t->nodes.len; i++) {
        const CallNode *n = &t->nodes.at[i];
        if (n->parent == 0 || is_repeated(t, i))
            continue;
        const CallNode *caller = &t->nodes.at[n->parent];
        add_edge(c, caller->key, n->key, c->p->frames.line.at[caller->frame], n);
    }
}

static void gather_places(Callgrind *c, const Weights *w)
{
    for (size_t i = 0; i < w->rows.len; i++)
        add_place(c, c->p->stacks.frame.at[w->rows.at[i].stack.v].v, w->rows.at[i].value);
}

// ---- Writing ---------------------------------------------------------------------

// A literal "???" is no name that is not known, nor is "(3)" a number.
static bool is_misread(Str s, size_t at)
{
    return at == 0 && (str_equal(s, STR("???")) || s.ptr[0] == '(');
}

// "fl=(3) name" the first time, "fl=(3)" after it.
static void add_id(Callgrind *c, const char *word, uint32_t id, uint8_t *named, Str name)
{
    StrBuf *out = &c->out.buf;
    strbuf_add(out, str_from_c(word));
    strbuf_printf(out, "=(%u)", id + 1);
    if (!*named) {
        *named = 1;
        strbuf_add_char(out, ' ');
        export_add_line_safe(out, name, is_misread);
        if (name.len == 0)
            strbuf_add(out, STR("???"));
    }
    strbuf_add_char(out, '\n');
}

static void add_file(Callgrind *c, const char *word, uint32_t file)
{
    Str name = profile_text(c->p, (StrId){file});
    add_id(c, word, file, &c->file_named[file], name);
}

static void add_function(Callgrind *c, const char *word, uint32_t key)
{
    strbuf_clear(&c->name);
    if (!c->key_named[key]) {
        keys_add_name(c->keys, key, &c->name);
    }
    add_id(c, word, key, &c->key_named[key], strbuf_str(&c->name));
}

static uint32_t file_of_key(const Callgrind *c, uint32_t key)
{
    StrId file = {0};
    uint32_t line;
    return keys_place(c->keys, key, &file, &line) ? file.v : 0;
}

static uint32_t line_of_key(const Callgrind *c, uint32_t key)
{
    StrId file;
    uint32_t line = 0;
    return keys_place(c->keys, key, &file, &line) ? line : 0;
}

static void add_module(Callgrind *c, const char *word, uint32_t key)
{
    const Profile *p = c->p;
    uint32_t module = p->frames.module.at[c->keys->first.at[key].v].v;
    Str path = profile_text(p, p->modules.path.at[module]);
    add_id(c, word, module, &c->module_named[module], path);
}

static void begin_function(Callgrind *c, uint32_t key)
{
    strbuf_add_char(&c->out.buf, '\n');
    add_module(c, "ob", key);
    add_file(c, "fl", file_of_key(c, key));
    add_function(c, "fn", key);
}

static void write_places(Callgrind *c)
{
    StrBuf *out = &c->out.buf;
    for (size_t i = 0; i < c->places.len; i++) {
        const Place *place = &c->places.at[i];
        begin_function(c, place->key);
        uint32_t own = file_of_key(c, place->key);
        if (place->file && place->file != own)
            add_file(c, "fe", place->file);
        strbuf_printf(out, "%u %llu\n", place->line, (unsigned long long)place->value);
        export_flush(&c->out, EXPORT_FLUSH);
    }
}

static void write_edges(Callgrind *c)
{
    StrBuf *out = &c->out.buf;
    for (size_t i = 0; i < c->edges.len; i++) {
        const Edge *e = &c->edges.at[i];
        begin_function(c, e->caller);
        add_module(c, "cob", e->callee);
        add_file(c, "cfi", file_of_key(c, e->callee));
        add_function(c, "cfn", e->callee);
        // How often it was called is not known: samples stand in.
        strbuf_printf(out, "calls=%llu %u\n%u %llu\n", (unsigned long long)e->samples,
                      line_of_key(c, e->callee), e->line, (unsigned long long)e->value);
        export_flush(&c->out, EXPORT_FLUSH);
    }
}

static void write_head(Callgrind *c, const Weights *w)
{
    StrBuf *out = &c->out.buf;
    const Profile *p = c->p;
    uint32_t metric = w->selection.metric.v;
    strbuf_add(out, STR("# callgrind format\nversion: 1\ncreator: assay "));
    strbuf_add(out, c->request->tool_version);
    strbuf_add(out, STR("\ncmd: "));
    export_add_line_safe(out, profile_fact(p, STR("command")), NULL);
    Str name =
        metric < p->metrics.name.len ? profile_text(p, p->metrics.name.at[metric]) : STR("samples");
    strbuf_add(out, STR("\ndesc: Metric: "));
    export_add_line_safe(out, name, NULL);
    strbuf_add(out, STR(", "));
    Str unit = metric < p->metrics.name.len ? profile_text(p, p->metrics.unit.at[metric]) : STR("");
    export_add_line_safe(out, unit, NULL);
    strbuf_add(out, STR("\npositions: line\nevents: "));
    // One word: letters, digits, '_'.
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];
        bool word = (ch >= '0' && ch <= '9') || ((ch | 32) >= 'a' && (ch | 32) <= 'z');
        strbuf_add_char(out, word ? ch : '_');
    }
    strbuf_printf(out, "\nsummary: %llu\n", (unsigned long long)w->value);
}

bool export_callgrind(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                      Error *err)
{
    Weights w;
    if (!weights_init(&w, p, &request->selection, GROUP_NONE, err))
        return false;
    Keys keys;
    CallTree tree;
    keys_init(&keys, p, BY_FUNCTION);
    call_tree_init(&tree, &w, &keys);
    Callgrind c = {.request = request, .p = p, .keys = &keys, .out.sink = sink};
    c.file_named = heap_alloc(p->strings.texts.len + 1);
    c.key_named = heap_alloc(keys.first.len + 1);
    c.module_named = heap_alloc(p->modules.path.len + 1);
    gather_edges(&c, &tree);
    gather_places(&c, &w);
    write_head(&c, &w);
    write_places(&c);
    write_edges(&c);
    strbuf_printf(&c.out.buf, "\ntotals: %llu\n", (unsigned long long)w.value);
    heap_free(c.file_named);
    heap_free(c.key_named);
    heap_free(c.module_named);
    vec_free(&c.edges);
    vec_free(&c.places);
    table_deinit(&c.edge_index);
    table_deinit(&c.place_index);
    strbuf_deinit(&c.name);
    call_tree_deinit(&tree);
    keys_deinit(&keys);
    weights_deinit(&w);
    return export_finish(&c.out, err);
}
