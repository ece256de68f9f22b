// SPDX-License-Identifier: Apache-2.0
// Folded stacks: "comm;root;…;leaf value". Escapes: docs/formats/export.md.

#include "analyse/call_tree.h"
#include "base/unshown.h"
#include "export/export_internal.h"
#include "model/facts.h"

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// A name of its own that ends as the suffixes do.
static bool is_false_suffix(Str s, size_t at)
{
    return at + 4 == s.len && s.ptr[at] == '_' && s.ptr[at + 1] == '[' && s.ptr[at + 3] == ']' &&
           strchr("kij", s.ptr[at + 2]);
}

static int hex_value(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

// "%3B" and the like in a name itself, where an import would undo it.
static bool looks_escaped(Str s, size_t at)
{
    if (s.ptr[at] != '%' || at + 2 >= s.len || !is_hex(s.ptr[at + 1]) || !is_hex(s.ptr[at + 2]))
        return false;
    int code = hex_value(s.ptr[at + 1]) * 16 + hex_value(s.ptr[at + 2]);
    bool is_edge = code == ' ' && (at == 0 || at + 3 == s.len);
    bool is_suffix = code == '_' && at + 6 == s.len && s.ptr[at + 3] == '[';
    return code == ';' || code == '%' || code < 0x20 || code >= 0x7f || is_edge || is_suffix;
}

// ';', control characters, bidirectional controls and invalid UTF-8 become %XX; so does a '%' that
// would be read as one, and what readers would trim or take for a suffix.
static void add_escaped(StrBuf *out, Str s)
{
    int hidden = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool is_hidden = str_next_unshown(s, i, &hidden);
        bool is_edge = c == ' ' && (i == 0 || i + 1 == s.len);
        if (c == ';' || is_hidden || looks_escaped(s, i) || is_edge || is_false_suffix(s, i))
            strbuf_printf(out, "%%%02X", (unsigned char)c);
        else
            strbuf_add_char(out, c);
    }
}

static const char *suffix_of(const CallNode *n)
{
    if (n->flags & NODE_KERNEL)
        return "_[k]";
    if (n->flags & NODE_INLINED)
        return "_[i]";
    return n->flags & NODE_JIT ? "_[j]" : "";
}

typedef struct Folder {
    const CallTree *tree;
    const ExportRequest *request;
    uint64_t scale;    // the values are counts of 1/scale
    bool has_suffixes; // names say their kind
    StrBuf line;       // names from the root to the node under way, each behind a ';'
    Arena arena;       // of `names`
    Str *names;        // [key]: escaped, made when first written; no pointer: not yet
} Folder;

static Str escaped_name(Folder *f, uint32_t node)
{
    StrBuf name = {0}, escaped = {0};
    call_tree_add_name(f->tree, node, &name);
    add_escaped(&escaped, strbuf_str(&name));
    Str kept = arena_str(&f->arena, strbuf_str(&escaped));
    strbuf_deinit(&name);
    strbuf_deinit(&escaped);
    return kept;
}

static void add_node(Folder *f, uint32_t node)
{
    const CallNode *n = &f->tree->nodes.at[node];
    if (f->line.len)
        strbuf_add_char(&f->line, ';');
    if (n->flags & NODE_GROUP) {
        strbuf_add(&f->line, escaped_name(f, node));
    } else {
        Str *name = &f->names[n->key];
        if (!name->ptr)
            *name = escaped_name(f, node);
        strbuf_add(&f->line, *name);
    }
    if (f->has_suffixes)
        strbuf_add(&f->line, str_from_c(suffix_of(n)));
}

// A count, with its fraction where the counts had some.
static void add_value(StrBuf *out, uint64_t value, uint64_t scale)
{
    strbuf_add_u64(out, value / scale);
    uint64_t fraction = value % scale;
    if (fraction == 0)
        return;
    strbuf_add_char(out, '.');
    for (uint64_t place = scale / 10; fraction; place /= 10) {
        strbuf_add_char(out, (char)('0' + fraction / place));
        fraction %= place;
    }
}

static uint64_t scale_of(const Profile *p, MetricId metric)
{
    Str unit = profile_text(p, p->metrics.unit.at[metric.v]);
    uint64_t scale;
    bool is_scaled = str_starts_with(unit, STR(FOLDED_UNIT)) &&
                     str_parse_u64(str_slice(unit, sizeof(FOLDED_UNIT) - 1, unit.len), 10, &scale);
    return is_scaled && scale ? scale : 1;
}

// Depth first; each node's line begins with its parent's.
static void add_group(Folder *f, ExportOut *out, uint32_t top)
{
    const CallNode *nodes = f->tree->nodes.at;
    Vec(size_t) lengths = {0}; // of the line, before each node on the path
    uint32_t at = top;
    for (;;) {
        bool is_entry = at != top || lengths.len == 0;
        if (is_entry) {
            vec_push(NULL, &lengths, f->line.len);
            if (at != 0)
                add_node(f, at);
            if (nodes[at].self) {
                strbuf_add(&out->buf, strbuf_str(&f->line));
                strbuf_add_char(&out->buf, ' ');
                add_value(&out->buf, nodes[at].self, f->scale);
                strbuf_add_char(&out->buf, '\n');
                if (!export_flush(out, EXPORT_FLUSH))
                    break;
            }
            if (nodes[at].first_child != NODE_NONE) {
                at = nodes[at].first_child;
                continue;
            }
        }
        for (;;) {
            f->line.len = vec_pop(&lengths);
            if (at == top)
                break;
            if (nodes[at].next != NODE_NONE)
                break;
            at = nodes[at].parent;
        }
        if (at == top)
            break;
        at = nodes[at].next;
    }
    vec_free(&lengths);
}

bool export_folded(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                   Error *err)
{
    Weights w;
    if (!weights_init(&w, p, &request->selection, GROUP_COMM, err))
        return false;
    Keys keys;
    CallTree tree;
    keys_init(&keys, p, BY_FUNCTION);
    call_tree_init(&tree, &w, &keys);
    ExportOut out = {.sink = sink};
    Folder f = {.tree = &tree, .request = request};
    f.scale = scale_of(p, request->selection.metric);
    // A folded name stays as it was.
    f.has_suffixes =
        request->suffixes || str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR(FOLDED_COLLECTOR));
    f.names = arena_array(&f.arena, Str, keys.first.len);
    // A tree of one group has no level for it.
    if (w.groups.len == 1 && (w.groups.at[0].name.v || w.groups.at[0].pid)) {
        StrBuf comm = {0};
        weight_group_add_name(&w, 0, &comm);
        add_escaped(&f.line, strbuf_str(&comm));
        strbuf_deinit(&comm);
    }
    add_group(&f, &out, 0);
    strbuf_deinit(&f.line);
    arena_deinit(&f.arena);
    call_tree_deinit(&tree);
    keys_deinit(&keys);
    weights_deinit(&w);
    return export_finish(&out, err);
}
