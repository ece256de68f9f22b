// SPDX-License-Identifier: Apache-2.0
// Folded stacks: "comm;root;…;leaf value". Escapes: docs/formats/export.md.

#include "analyse/call_tree.h"
#include "export/export_internal.h"

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

// ';' and control characters become %XX; so does a '%' that could be read as one,
// and what readers would trim or take for a suffix.
static void add_escaped(StrBuf *out, Str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool looks_escaped =
            c == '%' && i + 2 < s.len && is_hex(s.ptr[i + 1]) && is_hex(s.ptr[i + 2]);
        bool is_edge = c == ' ' && (i == 0 || i + 1 == s.len);
        if (c == ';' || (unsigned char)c < 0x20 || c == 0x7f || looks_escaped || is_edge ||
            is_false_suffix(s, i))
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
    StrBuf line; // names from the root to the node under way, each behind a ';'
    Arena arena; // of `names`
    Str *names;  // [key]: escaped, made when first written; no pointer: not yet
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
    if (f->request->suffixes)
        strbuf_add(&f->line, str_from_c(suffix_of(n)));
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
                strbuf_add_u64(&out->buf, nodes[at].self);
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
    f.names = arena_array(&f.arena, Str, keys.first.len);
    // A tree of one group has no level for it.
    if (w.groups.len == 1) {
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
