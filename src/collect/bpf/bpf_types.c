// SPDX-License-Identifier: Apache-2.0
// The kernel's description of its types (Documentation/bpf/btf.rst): offsets of members, and
// tracepoints.

#include "collect/bpf/bpf.h"

#include "base/arena.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "os/file.h"

#include <stdio.h>

#include <linux/btf.h>

enum {
    TYPES_BYTES_MAX = 256 << 20,
    DEPTH_MAX = 8,         // of structures without a name in each other
    MEMBERS_MAX = 1 << 14, // that are looked at for one name: structures may contain each other
    KIND_ENUM64 = 19,
};

struct BpfTypes {
    Arena arena;
    Bytes types, strings;
    U32Vec at; // [number of a type] offset in `types`
};

typedef struct BtfType {
    uint32_t name, kind, count, size_or_type;
    bool has_bit_fields;
    size_t body; // offset of what follows
} BtfType;

static uint32_t body_bytes(uint32_t kind, uint32_t count)
{
    switch (kind) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
        return 4;
    case BTF_KIND_ARRAY:
        return 12;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case KIND_ENUM64:
        return 12 * count;
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
        return 8 * count;
    default:
        return 0;
    }
}

static uint32_t word_at(Bytes b, size_t at)
{
    uint32_t word = 0;
    if (b.len >= sizeof(word) && at <= b.len - sizeof(word))
        memcpy(&word, b.ptr + at, sizeof(word));
    return word;
}

static BtfType type_at(const BpfTypes *t, size_t at)
{
    uint32_t info = word_at(t->types, at + 4);
    return (BtfType){.name = word_at(t->types, at),
                     .kind = info >> 24 & 0x1f,
                     .count = info & 0xffff,
                     .has_bit_fields = info >> 31,
                     .size_or_type = word_at(t->types, at + 8),
                     .body = at + 12};
}

static bool name_is(const BpfTypes *t, uint32_t name, const char *wanted)
{
    size_t len = strlen(wanted) + 1;
    return name < t->strings.len && t->strings.len - name >= len &&
           memcmp(t->strings.ptr + name, wanted, len) == 0;
}

static bool get_type(const BpfTypes *t, uint32_t number, BtfType *ret)
{
    if (number == 0 || number >= t->at.len)
        return false;
    *ret = type_at(t, t->at.at[number]);
    return true;
}

static bool read_all(BpfTypes *t, Bytes file, Error *err)
{
    Cursor c = cursor_over(file, "types of the kernel");
    if (cursor_u16(&c) != BTF_MAGIC)
        return error_set(err, ERROR_FORMAT, "not types of a kernel");
    (void)cursor_u16(&c);
    uint32_t head = cursor_u32(&c), type_at0 = cursor_u32(&c), type_len = cursor_u32(&c);
    uint32_t string_at = cursor_u32(&c), string_len = cursor_u32(&c);
    if (!cursor_check(&c, err))
        return false;
    uint64_t types = (uint64_t)head + type_at0, strings = (uint64_t)head + string_at;
    if (types + type_len > file.len || strings + string_len > file.len)
        return error_set(err, ERROR_FORMAT, "types of the kernel: a part lies outside");
    t->types = bytes_over(file.ptr + types, type_len);
    t->strings = bytes_over(file.ptr + strings, string_len);
    vec_push(&t->arena, &t->at, 0);
    size_t at = 0;
    while (at < t->types.len) {
        BtfType type = type_at(t, at);
        vec_push(&t->arena, &t->at, (uint32_t)at);
        at = type.body + body_bytes(type.kind, type.count);
    }
    if (at != t->types.len)
        return error_set(err, ERROR_FORMAT, "types of the kernel: type %zu is cut", t->at.len - 1);
    return true;
}

bool bpf_types_open(const char *path, BpfTypes **ret, Error *err)
{
    BpfTypes *t = heap_alloc(sizeof(*t));
    Bytes file;
    if (!os_read_file(&t->arena, str_from_c(path), TYPES_BYTES_MAX, &file, err) ||
        !read_all(t, file, err)) {
        bpf_types_close(t);
        return error_context(err,
                             "this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
    }
    *ret = t;
    return true;
}

void bpf_types_close(BpfTypes *t)
{
    if (!t)
        return;
    arena_deinit(&t->arena);
    heap_free(t);
}

// The offset in bits, in a structure or those without a name in it. `*left` members may still be
// looked at.
static bool find_member(const BpfTypes *t, const BtfType *s, const char *member, int depth,
                        uint32_t *left, uint32_t *ret)
{
    for (uint32_t i = 0; i < s->count && *left; i++) {
        --*left;
        size_t at = s->body + 12 * (size_t)i;
        uint32_t name = word_at(t->types, at), offset = word_at(t->types, at + 8);
        uint32_t width = s->has_bit_fields ? offset >> 24 : 0;
        offset = s->has_bit_fields ? offset & 0xffffff : offset;
        BtfType inner;
        if (name_is(t, name, member)) {
            *ret = offset;
            return width == 0;
        }
        if (name_is(t, name, "") && depth < DEPTH_MAX &&
            get_type(t, word_at(t->types, at + 4), &inner) &&
            (inner.kind == BTF_KIND_STRUCT || inner.kind == BTF_KIND_UNION) &&
            find_member(t, &inner, member, depth + 1, left, ret)) {
            *ret += offset;
            return true;
        }
    }
    return false;
}

bool bpf_types_offset(const BpfTypes *t, const char *structure, const char *member, uint32_t *ret)
{
    for (uint32_t i = 1; i < t->at.len; i++) {
        BtfType s = type_at(t, t->at.at[i]);
        uint32_t bits, left = MEMBERS_MAX;
        if (s.kind != BTF_KIND_STRUCT || !name_is(t, s.name, structure))
            continue;
        if (!find_member(t, &s, member, 0, &left, &bits) || bits % 8)
            return false;
        *ret = bits / 8;
        return true;
    }
    return false;
}

uint32_t bpf_types_tracepoint(const BpfTypes *t, const char *name, uint32_t *args)
{
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "btf_trace_%s", name);
    for (uint32_t i = 1; i < t->at.len; i++) {
        BtfType def = type_at(t, t->at.at[i]), pointer, function;
        if (def.kind != BTF_KIND_TYPEDEF || !name_is(t, def.name, wanted))
            continue;
        if (!get_type(t, def.size_or_type, &pointer) || pointer.kind != BTF_KIND_PTR ||
            !get_type(t, pointer.size_or_type, &function) || function.kind != BTF_KIND_FUNC_PROTO)
            return 0;
        *args = function.count ? function.count - 1 : 0; // the first is the program's own
        return i;
    }
    return 0;
}
