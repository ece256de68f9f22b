// SPDX-License-Identifier: Apache-2.0
// Modules and cut stacks by their names.

#include "import/places_internal.h"

// "vmlinux", "/usr/lib/debug/boot/vmlinux-6.1.0-13-amd64": the kernel with its symbols.
static bool is_kernel_file(Str path)
{
    Str name = str_base_name(path);
    return str_equal(name, STR("vmlinux")) || str_starts_with(name, STR("vmlinux-")) ||
           str_starts_with(name, STR("vmlinuz-"));
}

// "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz".
static bool is_module_file(Str path)
{
    static const char *const ends[] = {".ko", ".ko.gz", ".ko.xz", ".ko.zst", ".ko.debug"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(path, str_from_c(ends[i])))
            return true;
    return false;
}

ModuleKind import_module_kind(Str path)
{
    if (is_kernel_file(path))
        return MODULE_KERNEL;
    if (is_module_file(path))
        return MODULE_KMOD;
    if (str_starts_with(path, STR("[vdso")))
        return MODULE_VDSO;
    if (str_starts_with(path, STR("[kernel")) || str_starts_with(path, STR("[guest.kernel")) ||
        str_starts_with(path, STR("bpf_")))
        return MODULE_KERNEL;
    if (str_starts_with(path, STR("[")))
        return str_equal(path, STR("[unknown]")) || str_equal(path, STR("[vsyscall]"))
                   ? MODULE_ANON
                   : MODULE_KMOD; // "[ext4]"
    if (str_ends_with(path, STR(".map")) && str_find(path, STR("/perf-")) != SIZE_MAX)
        return MODULE_JIT;
    return str_starts_with(path, STR("//anon")) ? MODULE_ANON : MODULE_FILE;
}

bool import_is_cut(Str name, StackCut *ret)
{
    Str prefix = STR("[stack cut: ");
    if (!str_starts_with(name, prefix) || !str_ends_with(name, STR("]")))
        return false;
    Str reason = str_slice(name, prefix.len, name.len - 1);
    for (unsigned cut = STACK_CUT_NONE + 1; cut < STACK_CUT_COUNT; cut++)
        if (str_equal(reason, str_from_c(stack_cut_name((StackCut)cut)))) {
            *ret = (StackCut)cut;
            return true;
        }
    return false;
}

uint8_t import_kernel_flag(const Profile *p, ModuleId module)
{
    uint8_t kind = p->modules.kind.at[module.v];
    return kind == MODULE_KERNEL || kind == MODULE_KMOD ? FRAME_KERNEL : 0;
}

FrameId import_named_frame(Profile *p, ModuleId module, uint64_t address, FunctionId function,
                           StrId file, uint32_t line, uint8_t flags)
{
    StackCut cut;
    flags |= import_kernel_flag(p, module);
    if (import_is_cut(profile_text(p, p->functions.name.at[function.v]), &cut))
        return profile_cut_frame(p, cut);
    return profile_named_frame(p, module, address, function, file, line, flags);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The characters that exports have reason to write so.
static bool is_escaped(int code)
{
    return (code >= 0 && code < 0x20) || code >= 0x7f || (code > 0 && strchr(" \\([+?", code));
}

Str import_unescaped(Arena *arena, Str text)
{
    if (str_find(text, STR("\\x")) == SIZE_MAX)
        return text;
    char *out = arena_alloc(arena, text.len + 1, 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool is_mark = i + 3 < text.len && text.ptr[i] == '\\' && text.ptr[i + 1] == 'x';
        int high = is_mark ? hex_digit(text.ptr[i + 2]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 3]) : -1;
        if (low >= 0 && is_escaped(high * 16 + low)) {
            out[len++] = (char)(high * 16 + low);
            i += 3;
        } else {
            out[len++] = text.ptr[i];
        }
    }
    return str_over(out, len);
}
