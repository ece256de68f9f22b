// SPDX-License-Identifier: Apache-2.0
// Driver of dwarf/ for tests and benchmarks: addresses from stdin, frames to
// stdout in llvm-symbolizer's plain style, counts to stderr.
//
//     dwarf_lookup [--time] [--dwp FILE] [--alt FILE] BINARY <ADDRESSES

#include "dwarf/dwarf.h"

#include "base/strbuf.h"
#include "elf/elf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct Tool {
    Arena arena;
    const char *dwp_path;
    bool is_dwp_loaded;
    DwarfSections dwp;
} Tool;

static bool file_map(const char *path, Bytes *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    bool ok = fstat(fd, &st) == 0 && st.st_size > 0;
    void *p = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED)
        return false;
    *ret = bytes_over(p, (size_t)st.st_size);
    return true;
}

static bool sections_load(Arena *arena, const char *path, bool is_dwo, DwarfSections *ret,
                          Error *err)
{
    Bytes file;
    if (!file_map(path, &file))
        return error_os(err, "cannot read '%s'", path);
    Elf elf;
    if (!elf_parse(arena, file, &elf, err))
        return false;
    DwarfSections s = {0};
    const struct {
        const char *name;
        Bytes *to;
    } wanted[] = {
        {"info", &s.info},         {"types", &s.types},
        {"abbrev", &s.abbrev},     {"line", &s.line},
        {"str", &s.str},           {"line_str", &s.line_str},
        {"addr", &s.addr},         {"str_offsets", &s.str_offsets},
        {"ranges", &s.ranges},     {"rnglists", &s.rnglists},
        {"aranges", &s.aranges},   {"cu_index", &s.cu_index},
        {"tu_index", &s.tu_index},
    };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        bool is_index = wanted[i].to == &s.cu_index || wanted[i].to == &s.tu_index;
        Str name =
            arena_printf(arena, ".debug_%s%s", wanted[i].name, is_dwo && !is_index ? ".dwo" : "");
        if (!elf_section_load(arena, &elf, name, wanted[i].to, err))
            return false;
    }
    *ret = s;
    return true;
}

static bool get_dwo(void *ctx, const DwarfDwoRequest *request, DwarfSections *ret)
{
    Tool *tool = ctx;
    Error err;
    if (tool->dwp_path) {
        if (!tool->is_dwp_loaded &&
            !sections_load(&tool->arena, tool->dwp_path, true, &tool->dwp, &err))
            return false;
        tool->is_dwp_loaded = true;
        *ret = tool->dwp;
        return true;
    }
    bool absolute = request->dwo_name.len && request->dwo_name.ptr[0] == '/';
    Str path = absolute ? arena_str(&tool->arena, request->dwo_name)
                        : arena_printf(&tool->arena, "%" STR_FMT "/%" STR_FMT,
                                       STR_ARG(request->comp_dir), STR_ARG(request->dwo_name));
    return sections_load(&tool->arena, path.ptr, true, ret, &err);
}

static void add_text(StrBuf *out, Str s, const char *otherwise)
{
    strbuf_add(out, s.len ? s : str_from_c(otherwise));
}

static void add_frames(StrBuf *out, const DwarfFrames *frames)
{
    if (frames->len == 0)
        strbuf_add(out, STR("??\n??:0:0\n"));
    for (size_t i = 0; i < frames->len; i++) {
        const DwarfFrame *f = &frames->at[i];
        add_text(out, f->linkage_name.len ? f->linkage_name : f->name, "??");
        strbuf_add_char(out, '\n');
        add_text(out, f->file, "??");
        strbuf_add_char(out, ':');
        strbuf_add_u64(out, f->line);
        strbuf_add_char(out, ':');
        strbuf_add_u64(out, f->column);
        strbuf_add_char(out, '\n');
    }
    strbuf_add_char(out, '\n');
}

static void flush(StrBuf *out)
{
    fwrite(out->ptr, 1, out->len, stdout);
    strbuf_clear(out);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const Error *err)
{
    fprintf(stderr, "dwarf_lookup: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    Tool tool = {0};
    bool timed = false;
    const char *alt_path = NULL;
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        Str arg = str_from_c(argv[i]);
        if (str_equal(arg, STR("--time")))
            timed = true;
        else if (str_equal(arg, STR("--dwp")) && i + 1 < argc)
            tool.dwp_path = argv[++i];
        else if (str_equal(arg, STR("--alt")) && i + 1 < argc)
            alt_path = argv[++i];
        else
            path = argv[i];
    }
    if (!path) {
        fputs("usage: dwarf_lookup [--time] [--dwp FILE] [--alt FILE] BINARY <ADDRESSES\n", stderr);
        return 2;
    }
    Error err;
    double t0 = seconds();
    DwarfSections s;
    DwarfSections alt = {0};
    if (!sections_load(&tool.arena, path, false, &s, &err))
        return fail(&err);
    if (alt_path) {
        if (!sections_load(&tool.arena, alt_path, false, &alt, &err))
            return fail(&err);
        s.alt = &alt;
    }
    double t1 = seconds();
    DwarfFile *f;
    DwarfHooks hooks = {&tool, get_dwo};
    if (!dwarf_open(&s, &hooks, &f, &err))
        return fail(&err);
    double t2 = seconds();

    enum { OUT_SIZE = 1 << 16 };
    StrBuf out = {0};
    DwarfFrames frames;
    size_t addresses = 0;
    size_t frame_count = 0;
    char line[64];
    while (fgets(line, sizeof(line), stdin)) {
        dwarf_lookup(f, strtoull(line, NULL, 16), &frames);
        addresses++;
        frame_count += frames.len;
        if (!timed)
            add_frames(&out, &frames);
        if (out.len > OUT_SIZE)
            flush(&out);
    }
    flush(&out);
    strbuf_deinit(&out);
    double t3 = seconds();
    DwarfStats stats;
    dwarf_stats(f, &stats);
    fprintf(stderr,
            "sections %.4f s, index %.4f s, look-ups %.4f s; %zu addresses, %zu frames, "
            "%zu of %zu units decoded, %zu damaged %s, %zu dwo, %zu dwo missing, %zu alt missing\n",
            t1 - t0, t2 - t1, t3 - t2, addresses, frame_count, stats.units_decoded, stats.units,
            stats.units_damaged, stats.trouble, stats.dwo_found, stats.dwo_missing,
            stats.alt_missing);
    dwarf_close(f);
    arena_deinit(&tool.arena);
    return 0;
}
