// SPDX-License-Identifier: Apache-2.0
// address_lookup [options] FILE ADDRESS…: prints what the symboliser finds, by
// the same way a recording takes: a profile with raw frames, symbolise_profile.
//
//   ADDRESS     hexadecimal, as stated in the file; "-" reads them from stdin
//   --symbol S  the address of symbol S of .symtab or .dynsym, in place of ADDRESS
//   --debug-dir D, --cache D, --length N (see NameLength), --jit, --kernel,
//   --build-id HEX (as recorded), --repeat N, --time, --quiet, --sources
//
// One line a frame, innermost first: ADDRESS<tab>NAME<tab>LINKAGE NAME<tab>FILE:LINE
// and " (inlined)" behind those that are. Notes follow, each after "note: ".

#include "elf/elf.h"
#include "model/name.h"
#include "os/file.h"
#include "symbolise/symbolise.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Args {
    ModuleKind kind;
    Str file, build_id;
    Str debug_dirs[8];
    size_t debug_dir_count;
    Str cache;
    int length, repeat;
    bool time, quiet, sources;
    U64Vec addresses;
} Args;

static void fail(const char *what, Str subject, const char *why)
{
    fprintf(stderr, "address_lookup: %s '%" STR_FMT "'%s%s\n", what, STR_ARG(subject),
            *why ? ": " : "", why);
    exit(1);
}

static uint64_t symbol_address(const Args *a, Str name)
{
    static Arena arena;
    MappedFile file;
    Elf elf;
    Error err;
    if (!os_map_file(a->file, &file, &err) || !elf_parse(&arena, file.bytes, &elf, &err))
        fail("cannot read", a->file, err.text);
    const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        ElfSymbols symbols;
        if (!elf_symbols_load(&arena, &elf, types[t], &symbols, &err))
            fail("cannot read", a->file, err.text);
        for (size_t i = 0; i < symbols.count; i++) {
            ElfSymbol s = elf_symbol_get(&symbols, i);
            if (str_equal(s.name, name) && s.section != SHN_UNDEF)
                return s.value;
        }
    }
    fail("no symbol", name, "");
    return 0;
}

static void address_add(Args *a, Str text)
{
    uint64_t v;
    if (str_starts_with(text, STR("0x")))
        text = str_slice(text, 2, text.len);
    if (!str_parse_u64(text, 16, &v))
        fail("not an address", text, "");
    vec_push(NULL, &a->addresses, v);
}

static void addresses_from_stdin(Args *a)
{
    char line[64];
    while (fgets(line, sizeof(line), stdin))
        address_add(a, str_trim(str_from_c(line)));
}

static Args args_parse(int argc, char **argv)
{
    Args a = {.kind = MODULE_FILE, .repeat = 1};
    for (int i = 1; i < argc; i++) {
        Str arg = str_from_c(argv[i]);
        Str value = str_from_c(i + 1 < argc ? argv[i + 1] : "");
        int used = 1;
        if (str_equal(arg, STR("--jit")))
            a.kind = MODULE_JIT, used = 0;
        else if (str_equal(arg, STR("--kernel")))
            a.kind = MODULE_KERNEL, used = 0;
        else if (str_equal(arg, STR("--time")))
            a.time = true, used = 0;
        else if (str_equal(arg, STR("--quiet")))
            a.quiet = true, used = 0;
        else if (str_equal(arg, STR("--sources")))
            a.sources = true, used = 0;
        else if (str_equal(arg, STR("--debug-dir")) && a.debug_dir_count < 8)
            a.debug_dirs[a.debug_dir_count++] = value;
        else if (str_equal(arg, STR("--cache")))
            a.cache = value;
        else if (str_equal(arg, STR("--build-id")))
            a.build_id = value;
        else if (str_equal(arg, STR("--length")))
            a.length = value.ptr[0] - '0';
        else if (str_equal(arg, STR("--repeat")))
            a.repeat = value.ptr[0] - '0';
        else if (str_equal(arg, STR("--symbol")))
            vec_push(NULL, &a.addresses, symbol_address(&a, value));
        else if (used = 0, str_equal(arg, STR("-")))
            addresses_from_stdin(&a);
        else if (!a.file.len)
            a.file = arg;
        else
            address_add(&a, arg);
        i += used;
    }
    return a;
}

static bool kallsyms_bytes(void *ctx, ModuleId module, Bytes *ret)
{
    (void)module;
    static Arena arena;
    const Args *a = ctx;
    Error err;
    return a->kind == MODULE_KERNEL && os_read_file(&arena, a->file, 1 << 28, ret, &err);
}

static void frame_print(const Profile *p, FrameId frame, int length)
{
    StrBuf name = {0};
    const Frames *f = &p->frames;
    FunctionId function = f->function.at[frame.v];
    FrameId outer = f->inlined_in.at[frame.v];
    name_shorten(profile_text(p, p->functions.name.at[function.v]), (NameLength)length, &name);
    printf("0x%llx\t%" STR_FMT "\t%" STR_FMT "\t%" STR_FMT ":%u%s\n",
           (unsigned long long)f->address.at[frame.v], STR_ARG(strbuf_str(&name)),
           STR_ARG(profile_text(p, p->functions.linkage_name.at[function.v])),
           STR_ARG(profile_text(p, f->file.at[frame.v])), f->line.at[frame.v],
           outer.v ? " (inlined)" : "");
    strbuf_deinit(&name);
    if (outer.v)
        frame_print(p, outer, length);
}

static void profile_print(const Profile *p, const FrameIdVec *frames, int length)
{
    for (size_t i = 0; i < frames->len; i++)
        frame_print(p, frames->at[i], length);
    for (size_t i = 0; i < p->source_lines.file.len; i++)
        printf("source: %" STR_FMT ":%u: %" STR_FMT "\n",
               STR_ARG(profile_text(p, p->source_lines.file.at[i])), p->source_lines.line.at[i],
               STR_ARG(profile_text(p, p->source_lines.text.at[i])));
    for (size_t i = 0; i < p->notes.text.len; i++)
        printf("note: %" STR_FMT "\n", STR_ARG(profile_text(p, p->notes.text.at[i])));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run(const Args *a)
{
    Profile p;
    Error err;
    SymboliseStats stats;
    FrameIdVec frames = {0};
    SymboliseOptions options = {
        .files = {.ctx = (void *)(uintptr_t)a, .module_bytes = kallsyms_bytes},
        .debug_dirs = a->debug_dirs,
        .debug_dir_count = a->debug_dir_count,
        .cache_dir = a->cache};
    profile_init(&p);
    ModuleId module = profile_module(&p, a->kind, a->file, a->build_id);
    for (size_t i = 0; i < a->addresses.len; i++)
        vec_push(NULL, &frames, profile_frame(&p, module, a->addresses.at[i], FRAME_EXACT));
    double start = now();
    if (!symbolise_profile(&p, &options, &stats, &err))
        fail("cannot symbolise", a->file, err.text);
    double end = now();
    if (a->sources)
        symbolise_sources(&p, &(SourceOptions){.context = 1});
    if (!a->quiet)
        profile_print(&p, &frames, a->length);
    if (a->time)
        printf("time: %.3f s CPU, %zu frames, %zu resolved, %zu from the cache, %u rows\n",
               end - start, stats.frames, stats.resolved, stats.from_cache,
               profile_frame_count(&p));
    vec_free(&frames);
    profile_deinit(&p);
}

int main(int argc, char **argv)
{
    Args a = args_parse(argc, argv);
    for (int i = 0; i < a.repeat; i++)
        run(&a);
    vec_free(&a.addresses);
    return 0;
}
