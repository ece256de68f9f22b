// SPDX-License-Identifier: Apache-2.0
// Maps frames to functions, lines and modules.

#include "analyse/keys.h"

// Two frames with equal parts have the same key: two numbers, and a tag for their meaning.
typedef struct KeyParts {
    uint32_t a, b;
    enum { PART_FUNCTION = 1, PART_LINE, PART_MODULE, PART_CUT } kind;
} KeyParts;

static KeyParts parts_of(const Keys *k, uint32_t frame)
{
    const Profile *p = k->profile;
    const Frames *f = &p->frames;
    if (f->flags.at[frame] & FRAME_CUT)
        return (KeyParts){(uint32_t)f->address.at[frame], 0, PART_CUT};
    if (k->by == BY_MODULE)
        return (KeyParts){f->module.at[frame].v, 0, PART_MODULE};
    if (k->by == BY_LINE && f->line.at[frame] != 0 && f->file.at[frame].v != 0)
        return (KeyParts){f->file.at[frame].v, f->line.at[frame], PART_LINE};
    uint32_t function = f->function.at[frame].v;
    // With a declared place, an inline function of a header is the same function in every module;
    // without one, functions with equal names may be different code.
    bool is_placed =
        k->by != BY_MODULE_FUNCTION && function && p->functions.file.at[function].v != 0;
    return (KeyParts){function, is_placed ? 0 : f->module.at[frame].v, PART_FUNCTION};
}

void keys_init(Keys *k, const Profile *p, By by)
{
    size_t frames = p->frames.module.len;
    *k = (Keys){.profile = p, .by = by};
    k->of_frame = heap_alloc((frames + 1) * sizeof(uint32_t));
    Table index = {0};
    Vec(KeyParts) known = {0};
    for (uint32_t frame = 0; frame < frames; frame++) {
        KeyParts parts = parts_of(k, frame);
        uint64_t hash = hash_pair((uint64_t)parts.a << 32 | parts.b, parts.kind);
        uint32_t key = UINT32_MAX, row;
        for (TableProbe t = table_probe(&index, hash); table_next(&index, &t, &row);) {
            if (known.at[row].a == parts.a && known.at[row].b == parts.b &&
                known.at[row].kind == parts.kind) {
                key = row;
                break;
            }
        }
        if (key == UINT32_MAX) {
            key = (uint32_t)known.len;
            table_insert(&index, hash, key);
            vec_push(NULL, &known, parts);
            vec_push(NULL, &k->first, (FrameId){frame});
        }
        k->of_frame[frame] = key;
    }
    vec_free(&known);
    table_deinit(&index);
}

void keys_deinit(Keys *k)
{
    heap_free(k->of_frame);
    vec_free(&k->first);
    *k = (Keys){0};
}

static void add_module_name(const Profile *p, FrameId frame, StrBuf *out)
{
    Str path = profile_text(p, p->modules.path.at[p->frames.module.at[frame.v].v]);
    strbuf_add(out, path.len ? path : STR("[unknown module]"));
}

void frame_add_function_name(const Profile *p, FrameId frame, StrBuf *out)
{
    const Frames *f = &p->frames;
    if (f->flags.at[frame.v] & FRAME_CUT) {
        uint64_t cut = f->address.at[frame.v];
        StackCut reason = cut < STACK_CUT_COUNT ? (StackCut)cut : STACK_CUT_COUNT;
        strbuf_add(out, STR("[stack cut: "));
        strbuf_add(out, str_from_c(stack_cut_name(reason)));
        strbuf_add_char(out, ']');
        return;
    }
    Str name = profile_text(p, p->functions.name.at[f->function.at[frame.v].v]);
    if (name.len) {
        strbuf_add(out, name);
        return;
    }
    Str path = profile_text(p, p->modules.path.at[f->module.at[frame.v].v]);
    if (path.len == 0) {
        strbuf_add(out, STR("[unknown]"));
        return;
    }
    Str base = str_base_name(path);
    // "[kernel]" and "[vdso]" have brackets already.
    bool is_bracketed = base.len > 2 && base.ptr[0] == '[' && base.ptr[base.len - 1] == ']';
    strbuf_add(out, STR("[unknown in "));
    strbuf_add(out, is_bracketed ? str_slice(base, 1, base.len - 1) : base);
    strbuf_add_char(out, ']');
}

void keys_add_name(const Keys *k, uint32_t key, StrBuf *out)
{
    const Profile *p = k->profile;
    FrameId frame = k->first.at[key];
    if (p->frames.flags.at[frame.v] & FRAME_CUT) {
        frame_add_function_name(p, frame, out);
    } else if (k->by == BY_MODULE) {
        add_module_name(p, frame, out);
    } else if (k->by == BY_MODULE_FUNCTION) {
        Str path = profile_text(p, p->modules.path.at[p->frames.module.at[frame.v].v]);
        strbuf_add(out, path.len ? str_base_name(path) : STR("[unknown module]"));
        strbuf_add_char(out, ' ');
        frame_add_function_name(p, frame, out);
    } else if (k->by == BY_LINE && p->frames.line.at[frame.v] != 0 &&
               p->frames.file.at[frame.v].v != 0) {
        strbuf_add(out, profile_text(p, p->frames.file.at[frame.v]));
        strbuf_add_char(out, ':');
        strbuf_add_u64(out, p->frames.line.at[frame.v]);
    } else {
        frame_add_function_name(p, frame, out);
    }
}

bool keys_place(const Keys *k, uint32_t key, StrId *file, uint32_t *line)
{
    const Profile *p = k->profile;
    uint32_t frame = k->first.at[key].v;
    if (k->by == BY_MODULE || p->frames.flags.at[frame] & FRAME_CUT)
        return false;
    uint32_t function = p->frames.function.at[frame].v;
    StrId found = p->frames.file.at[frame];
    uint32_t number = p->frames.line.at[frame];
    if (k->by != BY_LINE && p->functions.file.at[function].v != 0) {
        found = p->functions.file.at[function];
        number = p->functions.line.at[function];
    }
    if (found.v == 0)
        return false;
    *file = found;
    *line = number;
    return true;
}
