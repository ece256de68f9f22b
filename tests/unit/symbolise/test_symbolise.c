// SPDX-License-Identifier: Apache-2.0
// A profile's frames, from modules that the caller brings as bytes.

#include "symbolise/symbolise.h"

#include "elf/elf_image.h"
#include "harness.h"

#include <stdlib.h>

static Profile profile;
static Error err;

static int set_up(void **state)
{
    (void)state;
    profile_init(&profile);
    err = (Error){0};
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    profile_deinit(&profile);
    return 0;
}

// Bytes for one module, and a file system of one file.
typedef struct World {
    uint32_t module;
    Bytes bytes;
    const char *path;
    Bytes file;
} World;

static bool world_module(void *ctx, ModuleId module, Bytes *ret)
{
    const World *w = ctx;
    if (w->module != module.v || !w->bytes.len)
        return false;
    *ret = w->bytes;
    return true;
}

static bool world_file(void *ctx, Str path, Bytes *ret)
{
    const World *w = ctx;
    if (!w->path || !str_equal(path, str_from_c(w->path)))
        return false;
    *ret = w->file;
    return true;
}

static SymboliseOptions options_for(World *w)
{
    return (SymboliseOptions){.files = {w, world_module, world_file}};
}

static Str name_of(FrameId frame)
{
    FunctionId f = profile.frames.function.at[frame.v];
    return profile_text(&profile, profile.functions.name.at[f.v]);
}

static Str linkage_name_of(FrameId frame)
{
    FunctionId f = profile.frames.function.at[frame.v];
    return profile_text(&profile, profile.functions.linkage_name.at[f.v]);
}

static bool is_noted(const char *part)
{
    for (size_t i = 0; i < profile.notes.text.len; i++)
        if (str_find(profile_text(&profile, profile.notes.text.at[i]), str_from_c(part)) !=
            SIZE_MAX)
            return true;
    return false;
}

// An object with "_ZN1a3runEi.cold" at 0x11200, 0x20 bytes.
static Bytes object(ElfImage *m)
{
    static const char names[] = "\0_ZN1a3runEi.cold";
    Elf64_Sym symbols[2] = {{0},
                            {.st_name = 1,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                             .st_shndx = 1,
                             .st_value = 0x11200,
                             .st_size = 0x20}};
    *m = image_begin();
    unsigned text = image_add(m, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, (Bytes){0});
    m->sections[text].sh_addr = 0x11200;
    m->sections[text].sh_size = 0x100;
    unsigned strings = image_add(m, ".strtab", SHT_STRTAB, 0, bytes_over(names, sizeof(names)));
    unsigned table = image_add(m, ".symtab", SHT_SYMTAB, 0, bytes_over(symbols, sizeof(symbols)));
    m->sections[table].sh_link = strings;
    return image_finish(m);
}

static void an_object_in_memory_names_its_frames(void **state)
{
    (void)state;
    ElfImage m;
    ModuleId module = profile_module(&profile, MODULE_FILE, STR("/gone/prog"), STR(""));
    World w = {.module = module.v, .bytes = object(&m)};
    FrameId inside = profile_frame(&profile, module, 0x11210, FRAME_EXACT);
    FrameId same = profile_frame(&profile, module, 0x11210, 0);
    FrameId outside = profile_frame(&profile, module, 0x11290, 0);
    FrameId cut = profile_cut_frame(&profile, STACK_CUT_DUMP_SHORT);
    SymboliseOptions options = options_for(&w);
    SymboliseStats stats;
    assert_ok(symbolise_profile(&profile, &options, &stats, &err), &err);
    assert_str(name_of(inside), "a::run(int)");
    assert_str(linkage_name_of(inside), "_ZN1a3runEi.cold");
    assert_str(name_of(same), "a::run(int)");
    assert_int_equal(profile.frames.function.at[outside.v].v, 0);
    assert_int_equal(profile.frames.function.at[cut.v].v, 0);
    assert_int_equal(stats.frames, 3);
    assert_int_equal(stats.resolved, 2);
    assert_true(is_noted("no debug information"));
    assert_ok(profile_check(&profile, &err), &err);
    strbuf_deinit(&m.file);
}

static void frames_that_have_a_function_are_left_alone(void **state)
{
    (void)state;
    ElfImage m;
    ModuleId module = profile_module(&profile, MODULE_FILE, STR("/gone/prog"), STR(""));
    World w = {.module = module.v, .bytes = object(&m)};
    FunctionId imported = profile_function(&profile, STR("imported"), STR("imported"), STR(""), 0);
    FrameId frame = profile_named_frame(&profile, module, 0x11210, imported, (StrId){0}, 0, 0);
    SymboliseOptions options = options_for(&w);
    assert_ok(symbolise_profile(&profile, &options, NULL, &err), &err);
    assert_str(name_of(frame), "imported");
    strbuf_deinit(&m.file);
}

static void kernel_frames_come_from_kallsyms(void **state)
{
    (void)state;
    ModuleId module = profile_module(&profile, MODULE_KERNEL, STR("[kernel]"), STR(""));
    ModuleId driver = profile_module(&profile, MODULE_KMOD, STR("[nf]"), STR(""));
    World w = {.module = module.v,
               .bytes = bytes_from_str(STR("ffffffff81000000 T schedule\n"
                                           "ffffffffc0000000 t hook\t[nf]\n"))};
    FrameId in_kernel = profile_frame(&profile, module, 0xffffffff81000010, FRAME_KERNEL);
    FrameId in_driver = profile_frame(&profile, driver, 0xffffffffc0000010, FRAME_KERNEL);
    SymboliseOptions options = options_for(&w);
    assert_ok(symbolise_profile(&profile, &options, NULL, &err), &err);
    assert_str(name_of(in_kernel), "schedule");
    assert_str(name_of(in_driver), "hook");
    assert_int_equal(profile.notes.text.len, 0);
}

// Frames of the kernel itself and of code it was given since, named into `ret`.
static void kernel_names(World *w, Str cache_dir, bool is_running, Str ret[2])
{
    ModuleId module = profile_module(&profile, MODULE_KERNEL, STR("[kernel]"), STR(""));
    FrameId core = profile_frame(&profile, module, 0xffffffff81000010, FRAME_KERNEL);
    FrameId made = profile_frame(&profile, module, 0xffffffffc0000010, FRAME_KERNEL);
    w->module = module.v;
    SymboliseOptions options = options_for(w);
    options.cache_dir = cache_dir;
    options.is_running_kernel = is_running;
    assert_ok(symbolise_profile(&profile, &options, NULL, &err), &err);
    ret[0] = name_of(core);
    ret[1] = name_of(made);
}

static void the_running_kernels_own_names_are_kept(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-kernel-XXXXXX";
    assert_non_null(mkdtemp(folder));
    Str dir = str_from_c(folder), names[2];
    World w = {.bytes = bytes_from_str(STR("ffffffff81000000 T schedule\n"
                                           "ffffffff81000100 T _etext\n"
                                           "ffffffffc0000000 t filter\t[bpf]\n"))};
    kernel_names(&w, dir, true, names);
    assert_str(names[0], "schedule");
    assert_str(names[1], "filter");
    clean_up(NULL);
    set_up(NULL);
    // As if nothing could be read any more.
    World gone = {0};
    kernel_names(&gone, dir, true, names);
    assert_str(names[0], "schedule");
    assert_str(names[1], "");
    clean_up(NULL);
    set_up(NULL);
    // Another machine's kernel has the same addresses.
    kernel_names(&gone, dir, false, names);
    assert_str(names[0], "");
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void hidden_kernel_addresses_are_noted(void **state)
{
    (void)state;
    ModuleId module = profile_module(&profile, MODULE_KERNEL, STR("[kernel]"), STR(""));
    World w = {.module = module.v, .bytes = bytes_from_str(STR("0000000000000000 T schedule\n"))};
    FrameId frame = profile_frame(&profile, module, 0xffffffff81000010, FRAME_KERNEL);
    SymboliseOptions options = options_for(&w);
    assert_ok(symbolise_profile(&profile, &options, NULL, &err), &err);
    assert_int_equal(profile.frames.function.at[frame.v].v, 0);
    assert_true(is_noted("kptr_restrict"));
}

static void generated_code_comes_from_its_map(void **state)
{
    (void)state;
    ModuleId module = profile_module(&profile, MODULE_JIT, STR("/tmp/perf-1.map"), STR(""));
    World w = {.module = module.v,
               .bytes = bytes_from_str(STR("7f0000 100 JS:*run a.js:1\nbad\n"))};
    FrameId frame = profile_frame(&profile, module, 0x7f0010, 0);
    SymboliseOptions options = options_for(&w);
    assert_ok(symbolise_profile(&profile, &options, NULL, &err), &err);
    assert_str(name_of(frame), "JS:*run a.js:1");
    assert_true(is_noted("and were skipped: 1"));
}

static void the_vdso_of_this_process_is_taken_when_the_profile_is_live(void **state)
{
    (void)state;
    ModuleId module = profile_module(&profile, MODULE_VDSO, STR("[vdso]"), STR(""));
    World w = {0};
    for (uint64_t at = 0; at < 0x2000; at += 4)
        (void)profile_frame(&profile, module, at, 0);
    SymboliseOptions options = options_for(&w);
    options.is_live = true;
    SymboliseStats stats;
    assert_ok(symbolise_profile(&profile, &options, &stats, &err), &err);
    bool found = false;
    for (uint32_t i = 1; i < profile_frame_count(&profile); i++)
        found |= str_find(name_of((FrameId){i}), STR("gettime")) != SIZE_MAX;
    assert_true(found);
    assert_int_equal(profile.notes.text.len, 0); // a vdso is always stripped
}

static void modules_are_noted_by_the_samples_they_cost(void **state)
{
    (void)state;
    ProcessId process = profile_add_process(&profile, 1, 0, (StrId){0}, 0);
    ThreadId thread = profile_add_thread(&profile, process, 1, (StrId){0}, 0);
    for (unsigned i = 0; i < 12; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/gone/lib%u.so", i);
        ModuleId module = profile_module(&profile, MODULE_FILE, str_from_c(path), STR(""));
        FrameId frame = profile_frame(&profile, module, 0x1000, 0);
        StackId stack = profile_stack(&profile, (StackId){0}, frame);
        for (unsigned k = 0; k < i; k++)
            profile_add_sample(&profile, TIME_NONE, thread, stack, SAMPLE_CPU_NONE);
    }
    World w = {0};
    SymboliseOptions options = options_for(&w);
    assert_ok(symbolise_profile(&profile, &options, NULL, &err), &err);
    assert_int_equal(profile.notes.text.len, 9);
    assert_true(str_starts_with(profile_text(&profile, profile.notes.text.at[0]),
                                STR("'/gone/lib11.so' (11 of 66 samples)")));
    assert_true(is_noted("4 more modules"));
}

static void a_stopped_run_leaves_a_sound_profile(void **state)
{
    (void)state;
    ElfImage m;
    ModuleId module = profile_module(&profile, MODULE_FILE, STR("/gone/prog"), STR(""));
    World w = {.module = module.v, .bytes = object(&m)};
    for (uint64_t at = 0x11200; at < 0x11220; at++)
        (void)profile_frame(&profile, module, at, 0);
    SymboliseOptions options = options_for(&w);
    atomic_bool stop = true;
    options.stop = &stop;
    SymboliseStats stats;
    assert_error(symbolise_profile(&profile, &options, &stats, &err), &err, ERROR_LIMIT, "stopped");
    assert_true(stats.resolved < 0x20);
    assert_ok(profile_check(&profile, &err), &err);
    strbuf_deinit(&m.file);
}

static FrameId frame_at_line(const char *file, uint32_t line)
{
    FunctionId f = profile_function(&profile, STR("f"), STR("f"), STR(""), 0);
    return profile_named_frame(&profile, (ModuleId){0}, line, f,
                               profile_str(&profile, str_from_c(file)), line, 0);
}

static void lines_around_touched_ones_are_kept(void **state)
{
    (void)state;
    World w = {.path = "/new/a.c",
               .file = bytes_from_str(STR("one\ntwo\r\nthree\nfour\nfive\nsix"))};
    frame_at_line("/old/a.c", 2);
    frame_at_line("/old/a.c", 6);
    frame_at_line("/old/a.c", 900);
    frame_at_line("/absent.c", 1);
    struct SourceMap map = {STR("/old"), STR("/new")};
    SourceOptions options = {
        .files = {&w, world_module, world_file}, .maps = &map, .map_count = 1, .context = 1};
    symbolise_sources(&profile, &options);
    const SourceLines *s = &profile.source_lines;
    assert_int_equal(s->line.len, 5);
    assert_int_equal(s->line.at[0], 1);
    assert_str(profile_text(&profile, s->text.at[1]), "two");
    assert_int_equal(s->line.at[3], 5);
    assert_str(profile_text(&profile, s->text.at[4]), "six");
    assert_str(profile_text(&profile, s->file.at[0]), "/old/a.c");
}

static void the_rust_library_is_found_where_rust_src_is(void **state)
{
    (void)state;
    World w = {.path = "/rs/library/core/src/a.rs", .file = bytes_from_str(STR("one\ntwo\n"))};
    frame_at_line("/rustc/0123456789abcdef0123456789abcdef01234567/library/core/src/a.rs", 2);
    SourceOptions options = {.files = {&w, world_module, world_file}, .rust_src = STR("/rs")};
    symbolise_sources(&profile, &options);
    assert_int_equal(profile.source_lines.line.len, 1);
    assert_str(profile_text(&profile, profile.source_lines.text.at[0]), "two");
}

static void a_toolchain_with_the_rust_sources_is_found(void **state)
{
    (void)state;
    char home[] = "/tmp/assay-test-XXXXXX", path[200];
    assert_non_null(mkdtemp(home));
    Arena arena = {0};
    snprintf(path, sizeof(path), "%s/toolchains/a-without", home);
    assert_ok(os_make_folders(str_from_c(path), &err), &err);
    snprintf(path, sizeof(path), "%s/toolchains/b-with/lib/rustlib/src/rust/library/core/src",
             home);
    assert_ok(os_make_folders(str_from_c(path), &err), &err);
    snprintf(path, sizeof(path),
             "%s/toolchains/b-with/lib/rustlib/src/rust/library/core/src/lib.rs", home);
    assert_ok(os_write_file(str_from_c(path), bytes_over("//", 2), OUTPUT_KEEP, &err), &err);
    snprintf(path, sizeof(path), "%s/toolchains/b-with/lib/rustlib/src/rust", home);
    assert_str(rust_source_find(&arena, str_from_c(home)), path);
    arena_deinit(&arena);
    snprintf(path, sizeof(path), "rm -r %s", home);
    assert_int_equal(system(path), 0);
}

static void source_text_is_bounded_and_binary_files_are_left_out(void **state)
{
    (void)state;
    World w = {.path = "/a.c", .file = bytes_from_str(STR("12345678\n12345678\n12345678\n"))};
    for (uint32_t line = 1; line <= 3; line++)
        frame_at_line("/a.c", line);
    SourceOptions options = {.files = {&w, world_module, world_file}, .max_bytes = 20};
    symbolise_sources(&profile, &options);
    assert_int_equal(profile.source_lines.line.len, 2);
    assert_true(is_noted("cut at 20 bytes"));
    World binary = {.path = "/b.c", .file = bytes_over("a\0b\n", 4)};
    frame_at_line("/b.c", 1);
    options = (SourceOptions){.files = {&binary, world_module, world_file}};
    symbolise_sources(&profile, &options);
    assert_int_equal(profile.source_lines.line.len, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, clean_up)
    const struct CMUnitTest tests[] = {
        TEST(an_object_in_memory_names_its_frames),
        TEST(frames_that_have_a_function_are_left_alone),
        TEST(kernel_frames_come_from_kallsyms),
        TEST(the_running_kernels_own_names_are_kept),
        TEST(hidden_kernel_addresses_are_noted),
        TEST(generated_code_comes_from_its_map),
        TEST(the_vdso_of_this_process_is_taken_when_the_profile_is_live),
        TEST(modules_are_noted_by_the_samples_they_cost),
        TEST(a_stopped_run_leaves_a_sound_profile),
        TEST(lines_around_touched_ones_are_kept),
        TEST(the_rust_library_is_found_where_rust_src_is),
        TEST(a_toolchain_with_the_rust_sources_is_found),
        TEST(source_text_is_bounded_and_binary_files_are_left_out),
    };
    return RUN_TESTS(tests);
}
