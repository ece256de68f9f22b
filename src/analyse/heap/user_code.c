// SPDX-License-Identifier: Apache-2.0
// Tells user code from allocators and standard libraries: by the module, by the folder of the
// source file, and by the function's name where there is no file.

#include "analyse/heap/user_code.h"

static bool begins_with_any(Str s, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts_with(s, str_from_c(list[i])))
            return true;
    return false;
}

// "libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "libstdc++.so.6".
static bool is_library_module(Str path)
{
    static const char *const names[] = {"libc.so",     "libc-2.",     "libc.musl",   "ld-linux",
                                        "ld-musl",     "ld-2.",       "libstdc++",   "libc++",
                                        "libgcc_s",    "libm.so",     "libpthread",  "libassay",
                                        "libjemalloc", "libtcmalloc", "libmimalloc", "libdl.so",
                                        "libasan.so",  "[vdso]",      "libstd-"};
    return begins_with_any(str_base_name(path), names, ARRAY_LEN(names));
}

static bool is_library_file(Str path)
{
    static const char *const parts[] = {
        "/include/c++/",  "/rustc/",           "/rustlib/src/",       "/hashbrown-",
        "/libstdc++-v3/", "/library/std/src/", "/library/alloc/src/", "/library/core/src/"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_find(path, str_from_c(parts[i])) != SIZE_MAX)
            return true;
    return false;
}

// The name without its prefix: the type that a template function returns, and the
// marks of Rust's trait implementations ("<&mut [T] as …>").
static Str name_itself(Str name)
{
    size_t end = 0;
    while (end < name.len && name.ptr[end] != '<' && name.ptr[end] != '(')
        end++;
    size_t space = str_find_last_char(str_slice(name, 0, end), ' ');
    bool is_operator = str_find(str_slice(name, 0, end), STR("operator ")) != SIZE_MAX;
    if (space != SIZE_MAX && !is_operator)
        name = str_slice(name, space + 1, name.len);
    while (name.len && strchr("<&*[(", name.ptr[0]))
        name = str_slice(name, 1, name.len);
    return name;
}

// "<T as alloc::…>::to_vec", "<u8 as …>": a trait of the standard library for any type, or for one
// of the language. "<Mine as core::fmt::Display>::fmt" is the user's.
static bool is_trait_of_library(Str full)
{
    static const char *const traits[] = {"alloc::", "core::", "std::", "hashbrown::"};
    Str type, trait;
    if (full.len == 0 || full.ptr[0] != '<' || !str_split(full, ' ', &type, &trait) ||
        !str_starts_with(trait, STR("as ")))
        return false;
    // Types of the language are in small letters, without a path: u8, str.
    bool is_any = type.len == 2 && type.ptr[1] >= 'A' && type.ptr[1] <= 'Z';
    bool is_plain = str_find(type, STR("::")) == SIZE_MAX && type.len > 1 && type.ptr[1] >= 'a' &&
                    type.ptr[1] <= 'z';
    return (is_any || is_plain) &&
           begins_with_any(str_slice(trait, 3, trait.len), traits, ARRAY_LEN(traits));
}

static bool is_library_name(Str full)
{
    static const char *const names[] = {
        "std::",        "__gnu_cxx::",     "core::",  "alloc::", "hashbrown::",
        "operator new", "operator delete", "__rust_", "__rdl_",  "__rg_",
        "rust_alloc",   "__cxxabiv1::",    "std[",    "core[",   "alloc["};
    static const char *const allocators[] = {
        "malloc",    "calloc",    "realloc",   "reallocarray",  "aligned_alloc", "posix_memalign",
        "memalign",  "valloc",    "pvalloc",   "strdup",        "strndup",       "__rust_alloc",
        "je_malloc", "mi_malloc", "tc_malloc", "__libc_malloc", "__libc_calloc", "__libc_realloc"};
    for (size_t i = 0; i < ARRAY_LEN(allocators); i++)
        if (str_equal(full, str_from_c(allocators[i])))
            return true;
    return is_trait_of_library(full) || begins_with_any(name_itself(full), names, ARRAY_LEN(names));
}

static bool is_library(const Profile *p, uint32_t frame)
{
    const Frames *f = &p->frames;
    if (f->flags.at[frame] & (FRAME_CUT | FRAME_KERNEL))
        return true;
    if (is_library_module(profile_text(p, p->modules.path.at[f->module.at[frame].v])))
        return true;
    Str file = profile_text(p, f->file.at[frame]);
    if (file.len && is_library_file(file))
        return true;
    return is_library_name(profile_text(p, p->functions.name.at[f->function.at[frame].v]));
}

uint8_t *user_code_libraries(const Profile *p)
{
    size_t count = p->frames.module.len;
    uint8_t *ret = heap_alloc(count + 1);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = is_library(p, i);
    return ret;
}

// Whether a function called by user code is one of the C library and gives no block to its caller.
static bool keeps_blocks(const Profile *p, uint32_t frame)
{
    static const char *const libc[] = {"libc.so",  "libc-2.", "libc.musl",
                                       "ld-linux", "ld-musl", "ld-2."};
    static const char *const givers[] = {"malloc",       "calloc",          "realloc",
                                         "reallocarray", "aligned_alloc",   "posix_memalign",
                                         "memalign",     "valloc",          "pvalloc",
                                         "strdup",       "strndup",         "__strdup",
                                         "__strndup",    "asprintf",        "vasprintf",
                                         "getline",      "getdelim",        "realpath",
                                         "getcwd",       "open_memstream",  "wcsdup",
                                         "scandir",      "fopen",           "fdopen",
                                         "opendir",      "getaddrinfo",     "__vasprintf_internal",
                                         "__getdelim",   "__asprintf",      "_IO_getline",
                                         "fopen64",      "__fopen_internal"};
    Str module = profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]);
    Str name = profile_text(p, p->functions.name.at[p->frames.function.at[frame].v]);
    if (!begins_with_any(str_base_name(module), libc, ARRAY_LEN(libc)))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(givers); i++)
        if (str_equal(name, str_from_c(givers[i])))
            return false;
    return true;
}

// Whether a function is by its name a program's own allocator, as xmalloc, g_malloc0, xstrdup,
// sqlite3DbMallocRaw, PyObject_Malloc or __gmp_default_allocate: its caller says more.
static bool is_wrapper_name(Str full)
{
    static const char *const tails[] = {"_internal", "_stat", "_n",    "_zero", "_raw", "_impl",
                                        "Internal",  "Zero",  "RawNN", "Raw",   "NN"};
    static const char *const ends[] = {"alloc",  "Alloc",  "allocate", "strdup", "strndup",
                                       "memdup", "StrDup", "Strdup",   "StrNDup"};
    Str name = name_itself(full);
    size_t end = 0;
    while (end < name.len && name.ptr[end] != '(' && name.ptr[end] != '<' && name.ptr[end] != '.')
        end++;
    name = str_slice(name, 0, end);
    while (name.len && name.ptr[name.len - 1] >= '0' && name.ptr[name.len - 1] <= '9')
        name = str_slice(name, 0, name.len - 1);
    for (size_t i = 0; i < ARRAY_LEN(tails); i++)
        if (str_ends_with(name, str_from_c(tails[i])))
            name = str_slice(name, 0, name.len - strlen(tails[i]));
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(name, str_from_c(ends[i])))
            return true;
    return false;
}

bool user_code_is_start(Str name)
{
    static const char *const names[] = {"_start", "__libc_start",   "start_thread", "__clone",
                                        "clone3", "_dl_start_user", "call_init",    "_dl_init"};
    return begins_with_any(name, names, ARRAY_LEN(names));
}

// A stack of allocators only has the innermost of them as its place.
static UserPlace place_in_wrapper(UserPlace wrapper, FrameId outermost, FrameId innermost)
{
    if (wrapper.frame.v)
        return wrapper;
    return (UserPlace){.frame = outermost.v ? outermost : innermost};
}

UserPlace user_place_of(const Profile *p, const uint8_t *libraries, StackId stack)
{
    UserPlace ret = {.is_user = true}, wrapper = {0};
    FrameId outermost = {0};
    for (uint32_t s = stack.v; s; s = p->stacks.parent.at[s].v) {
        for (uint32_t f = p->stacks.frame.at[s].v; f; f = p->frames.inlined_in.at[f].v) {
            Str name = profile_text(p, p->functions.name.at[p->frames.function.at[f].v]);
            if (user_code_is_start(name))
                continue;
            if (libraries[f]) {
                if (!(p->frames.flags.at[f] & FRAME_CUT))
                    ret.via.v = outermost.v = f;
                continue;
            }
            ret.frame.v = f;
            ret.is_kept_by_library = ret.via.v && keeps_blocks(p, ret.via.v);
            if (!is_wrapper_name(name))
                return ret;
            if (!wrapper.frame.v)
                wrapper = ret;
            ret.via.v = f;
        }
    }
    return place_in_wrapper(wrapper, outermost, p->stacks.frame.at[stack.v]);
}
