// SPDX-License-Identifier: Apache-2.0
// Demangles by libiberty, with limits for hostile names.

#include "symbolise/demangle.h"

#include "base/arena.h"
#include "symbolise/other_names.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

static bool is_digits(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

static bool is_clone_word(Str s)
{
    static const Str words[] = {
        STR_INIT("isra"),      STR_INIT("part"),     STR_INIT("constprop"),   STR_INIT("cold"),
        STR_INIT("llvm"),      STR_INIT("lto_priv"), STR_INIT("localalias"),  STR_INIT("hot"),
        STR_INIT("unlikely"),  STR_INIT("warm"),     STR_INIT("specialized"), STR_INIT("lto_clone"),
        STR_INIT("simdclone"), STR_INIT("_omp_fn"),  STR_INIT("resumer"),
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal(s, words[i]))
            return true;
    return false;
}

// Removes ".word" or ".word.12" from the end. False when the name has neither.
static bool clone_mark_drop(Str *name)
{
    size_t dot = str_find_last_char(*name, '.');
    if (dot == SIZE_MAX || dot == 0)
        return false;
    Str head = str_slice(*name, 0, dot);
    Str tail = str_slice(*name, dot + 1, name->len);
    if (is_digits(tail)) {
        size_t before = str_find_last_char(head, '.');
        if (before == SIZE_MAX || before == 0 ||
            !is_clone_word(str_slice(head, before + 1, head.len)))
            return false;
        *name = str_slice(head, 0, before);
        return true;
    }
    // Legacy Rust names have ".." where the path has "::".
    if (!is_clone_word(tail) || head.ptr[head.len - 1] == '.')
        return false;
    *name = head;
    return true;
}

Str linkage_name_base(Str name)
{
    size_t version = str_find_char(name, '@');
    if (version != SIZE_MAX && version > 0)
        name = str_slice(name, 0, version);
    while (clone_mark_drop(&name))
        ;
    return name;
}

typedef struct Sink {
    StrBuf *out;
    size_t start;
    jmp_buf too_long;
} Sink;

static void sink_add(const char *text, size_t len, void *opaque)
{
    Sink *sink = opaque;
    // libiberty cannot be told to stop. Its printer holds no heap memory when it calls this
    // function, so that longjmp loses nothing.
    if (len > DEMANGLE_OUTPUT_MAX - (sink->out->len - sink->start))
        longjmp(sink->too_long, 1);
    strbuf_add(sink->out, str_over(text, len));
}

static bool demangle_by_callback(const char *name, int options, bool rust, StrBuf *out)
{
    Sink sink = {.out = out, .start = out->len};
    if (setjmp(sink.too_long) == 0) {
        int ok = rust ? rust_demangle_callback(name, options, sink_add, &sink)
                      : cplus_demangle_v3_callback(name, options, sink_add, &sink);
        if (ok && out->len > sink.start)
            return true;
    }
    out->len = sink.start;
    return false;
}

static bool demangle_d(const char *name, StrBuf *out)
{
    char *text = dlang_demangle(name, 0);
    Str got = str_from_c(text);
    bool ok = got.len > 0 && got.len <= DEMANGLE_OUTPUT_MAX;
    if (ok)
        strbuf_add(out, got);
    heap_free(text); // libiberty allocated it by malloc, as heap_alloc does
    return ok;
}

static bool demangle_mangled(Str mangled, StrBuf *out)
{
    char name[DEMANGLE_INPUT_MAX + 1];
    if (mangled.len > DEMANGLE_INPUT_MAX || memchr(mangled.ptr, 0, mangled.len))
        return false;
    memcpy(name, mangled.ptr, mangled.len);
    name[mangled.len] = 0;
    if (name[1] == 'D')
        return demangle_d(name, out);
    int options = DMGL_PARAMS | DMGL_ANSI;
    if (demangle_by_callback(name, options, true, out))
        return true;
    // The recursion limit of libiberty also refuses names over 1,024 bytes, which real programs
    // have. For those DEMANGLE_INPUT_MAX limits the depth.
    if (mangled.len > 1000)
        options |= DMGL_NO_RECURSE_LIMIT;
    return demangle_by_callback(name, options, false, out);
}

// Where the mark of a name starts that several functions share: "@0x" and an
// address. SIZE_MAX: none.
static size_t address_mark(Str name)
{
    size_t at = str_find_last_char(name, '@');
    if (at == SIZE_MAX || at == 0 || !str_starts_with(str_slice(name, at, name.len), STR("@0x")))
        return SIZE_MAX;
    return at;
}

bool demangle(Str linkage_name, StrBuf *out)
{
    size_t mark = address_mark(linkage_name);
    if (mark != SIZE_MAX) {
        bool demangled = demangle(str_slice(linkage_name, 0, mark), out);
        strbuf_add(out, str_slice(linkage_name, mark, linkage_name.len));
        return demangled;
    }
    Str stub = STR("@plt");
    if (str_ends_with(linkage_name, stub) && linkage_name.len > stub.len) {
        bool demangled = demangle(str_slice(linkage_name, 0, linkage_name.len - stub.len), out);
        strbuf_add(out, stub);
        return demangled;
    }
    Str name = linkage_name_base(linkage_name);
    bool mangled = str_starts_with(name, STR("_Z")) || str_starts_with(name, STR("_R")) ||
                   str_starts_with(name, STR("_D"));
    if (mangled ? demangle_mangled(name, out) : other_name(name, out))
        return true;
    strbuf_add(out, name);
    return false;
}
