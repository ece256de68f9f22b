// SPDX-License-Identifier: Apache-2.0
// The symbol cache: what is written is read back, and nothing else is believed.

#include "symbolise/symbol_cache.h"

#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const SymboliseFiles files; // the file system

static PlaceFrame frame(const char *linkage_name, const char *file, uint32_t line)
{
    return (PlaceFrame){.linkage_name = str_from_c(linkage_name),
                        .decl_file = STR("/src/decl.h"),
                        .decl_line = 7,
                        .file = str_from_c(file),
                        .line = line};
}

static void table_make(PlaceTable *t)
{
    place_table_init(t);
    PlaceFrames frames;
    frames.len = 2;
    frames.at[0] = frame("_ZN1a5innerEv", "/src/a.cc", 10);
    frames.at[1] = frame("_ZN1a5outerEi.isra.0", "/src/a.cc", 20);
    place_table_add(t, 0x2000, &frames);
    frames.len = 1;
    place_table_add(t, 0x1000, &frames);
    frames.len = 0;
    place_table_add(t, 0x3000, &frames);
    t->level = SYMBOLS_DEBUG;
    t->debug_path = STR("/usr/lib/debug/x");
    vec_push(&t->arena, &t->troubles, STR("something is missing"));
    place_table_sort(t);
}

static Bytes encode(const PlaceTable *t, const FileProbeVec *probes, StrBuf *out)
{
    symbol_cache_encode(t, probes, out);
    return bytes_from_str(strbuf_str(out));
}

static Str name_of(const PlaceTable *t, const PlaceLine *l)
{
    return intern_get(&t->strings, t->functions.at[l->function].name);
}

static void a_table_is_read_back_as_it_was(void **state)
{
    (void)state;
    PlaceTable t, back;
    FileProbeVec probes = {0}, probes_back = {0};
    StrBuf out = {0};
    Error err;
    table_make(&t);
    vec_push(NULL, &probes, (FileProbe){STR("/bin/x"), true, {1, 2, 3, -4}});
    place_table_init(&back);
    assert_ok(symbol_cache_decode(encode(&t, &probes, &out), &back, &probes_back, &err), &err);
    assert_int_equal(back.level, SYMBOLS_DEBUG);
    assert_str(back.debug_path, "/usr/lib/debug/x");
    assert_str(back.troubles.at[0], "something is missing");
    assert_int_equal(probes_back.at[0].identity.mtime_ns, -4);
    const Place *p = place_table_find(&back, 0x2000);
    assert_non_null(p);
    assert_int_equal(p->count, 2);
    assert_str(name_of(&back, &back.lines.at[p->first]), "a::inner()");
    assert_str(name_of(&back, &back.lines.at[p->first + 1]), "a::outer(int)");
    assert_int_equal(back.lines.at[p->first + 1].line, 20);
    assert_int_equal(place_table_find(&back, 0x3000)->count, 0);
    assert_null(place_table_find(&back, 0x1001));
    // Adding to a table that was read uses the rows it has.
    size_t functions = back.functions.len;
    PlaceFrames frames = {.len = 1};
    frames.at[0] = frame("_ZN1a5innerEv", "/src/a.cc", 11);
    place_table_add(&back, 0x4000, &frames);
    assert_int_equal(back.functions.len, functions);
    place_table_deinit(&t);
    place_table_deinit(&back);
    vec_free(&probes);
    vec_free(&probes_back);
    strbuf_deinit(&out);
}

static void refused(Bytes file)
{
    PlaceTable t;
    FileProbeVec probes = {0};
    Error err = {0};
    place_table_init(&t);
    assert_false(symbol_cache_decode(file, &t, &probes, &err));
    assert_int_not_equal(err.text[0], 0);
    place_table_deinit(&t);
    vec_free(&probes);
}

static void no_cut_and_no_flipped_bit_is_believed(void **state)
{
    (void)state;
    PlaceTable t;
    FileProbeVec probes = {0};
    StrBuf out = {0};
    table_make(&t);
    encode(&t, &probes, &out);
    for (size_t n = 0; n < out.len; n++)
        refused(bytes_over(out.ptr, n));
    for (size_t i = 0; i < out.len; i++) {
        if (i >= 12 && i < 16)
            continue; // reserved
        out.ptr[i] ^= 1;
        refused(bytes_over(out.ptr, out.len));
        out.ptr[i] ^= 1;
    }
    place_table_deinit(&t);
    strbuf_deinit(&out);
}

// A payload that hashes right but lies about its counts and numbers.
static void numbers_out_of_range_are_refused_behind_a_right_checksum(void **state)
{
    (void)state;
    PlaceTable t;
    FileProbeVec probes = {0};
    StrBuf out = {0};
    table_make(&t);
    encode(&t, &probes, &out);
    size_t accepted = 0;
    for (size_t i = 32; i < out.len; i++) {
        char was = out.ptr[i];
        out.ptr[i] = (char)0x7f;
        uint64_t sum = bytes_hash(bytes_over(out.ptr + 32, out.len - 32));
        memcpy(out.ptr + 24, &sum, 8);
        PlaceTable back;
        FileProbeVec back_probes = {0};
        Error err;
        place_table_init(&back);
        if (symbol_cache_decode(bytes_over(out.ptr, out.len), &back, &back_probes, &err)) {
            accepted++; // a letter of a text, a line or a step: still sound
            for (size_t k = 0; k < back.lines.len; k++)
                assert_true(name_of(&back, &back.lines.at[k]).len < out.len);
        }
        place_table_deinit(&back);
        vec_free(&back_probes);
        out.ptr[i] = was;
    }
    assert_true(accepted < out.len - 32);
    place_table_deinit(&t);
    strbuf_deinit(&out);
}

static void files_are_named_by_build_id_content_or_path(void **state)
{
    (void)state;
    Arena arena = {0};
    BuildId id = {.bytes = {0xab, 0xcd, 0xef, 1}, .len = 4}, none = {0};
    Bytes absent = {0}, bytes = bytes_over("ELF", 3);
    assert_str(symbol_cache_name(&arena, &id, bytes, STR("/bin/x")), "abcdef01.sym");
    Str content = symbol_cache_name(&arena, &none, bytes, STR("/bin/x"));
    assert_true(str_starts_with(content, STR("content-")));
    assert_true(str_equal(content, symbol_cache_name(&arena, &none, bytes, STR("/y"))));
    assert_true(
        str_starts_with(symbol_cache_name(&arena, &none, absent, STR("/bin/x")), STR("path-")));
    assert_str(symbol_cache_name(&arena, &none, absent, STR("")), "");
    arena_deinit(&arena);
}

static void file_write(const char *path, size_t size)
{
    StrBuf content = {0};
    Error err;
    strbuf_add_repeated(&content, 'x', size);
    assert_ok(
        os_write_file(str_from_c(path), bytes_from_str(strbuf_str(&content)), OUTPUT_REPLACE, &err),
        &err);
    strbuf_deinit(&content);
}

static int folder_of(const char *path)
{
    Error err;
    int folder = symbol_cache_open(str_dir_name(str_from_c(path)), &err);
    assert_ok(folder >= 0, &err);
    return folder;
}

static void save(const char *path, const PlaceTable *t, const FileProbeVec *probes,
                 uint64_t max_bytes)
{
    int folder = folder_of(path);
    StrBuf file = {0};
    if (symbol_cache_pack(t, probes, &file))
        symbol_cache_write(folder, str_base_name(str_from_c(path)), strbuf_str(&file), max_bytes);
    strbuf_deinit(&file);
    close(folder);
}

static bool load(const char *path)
{
    PlaceTable t;
    FileProbeVec probes = {0};
    int folder = folder_of(path);
    place_table_init(&t);
    bool ok = symbol_cache_load(folder, str_base_name(str_from_c(path)), &files, &t, &probes);
    close(folder);
    place_table_deinit(&t);
    vec_free(&probes);
    return ok;
}

static void a_changed_file_makes_its_table_worthless(void **state)
{
    (void)state;
    char dir[] = "/tmp/assay-test-XXXXXX", module[64], path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(module, sizeof(module), "%s/module", dir);
    snprintf(path, sizeof(path), "%s/c/k.sym", dir);
    file_write(module, 10);
    PlaceTable t;
    FileProbeVec probes = {0};
    table_make(&t);
    FileProbe present = {str_from_c(module), true, {0}},
              absent = {STR("/nowhere/x.debug"), false, {0}};
    Error err;
    assert_ok(os_file_identity(present.path, &present.identity, &err), &err);
    vec_push(NULL, &probes, present);
    vec_push(NULL, &probes, absent);
    assert_false(load(path));
    save(path, &t, &probes, 0);
    assert_true(load(path));
    file_write(module, 11);
    assert_false(load(path));
    place_table_deinit(&t);
    vec_free(&probes);
    unlink(path);
    unlink(module);
    snprintf(path, sizeof(path), "%s/c", dir);
    rmdir(path);
    rmdir(dir);
}

static void a_planted_link_is_neither_read_nor_written_through(void **state)
{
    (void)state;
    char dir[] = "/tmp/assay-test-XXXXXX", path[64], victim[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/k.sym", dir);
    snprintf(victim, sizeof(victim), "%s/victim", dir);
    PlaceTable t;
    FileProbeVec probes = {0};
    table_make(&t);
    save(path, &t, &probes, 0);
    assert_true(load(path));
    assert_int_equal(rename(path, victim), 0);
    assert_int_equal(symlink(victim, path), 0);
    assert_false(load(path));
    file_write(victim, 7);
    save(path, &t, &probes, 0);
    assert_true(load(path));
    struct stat st;
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_size, 7);
    place_table_deinit(&t);
    unlink(path);
    unlink(victim);
    rmdir(dir);
}

static void set_age(const char *path, time_t seconds)
{
    struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_oldest_files_make_room_and_leftovers_go(void **state)
{
    (void)state;
    char dir[] = "/tmp/assay-test-XXXXXX", paths[4][64];
    assert_non_null(mkdtemp(dir));
    static const char *const names[] = {"old.sym", "newer.sym", "x.sym.12-3.tmp", "others.txt"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/%s", dir, names[i]);
        file_write(paths[i], 3000);
        set_age(paths[i], 10000 - (time_t)i * 100);
    }
    PlaceTable t;
    FileProbeVec probes = {0};
    table_make(&t);
    char path[64];
    snprintf(path, sizeof(path), "%s/k.sym", dir);
    save(path, &t, &probes, 5000);
    assert_int_not_equal(access(paths[0], F_OK), 0);
    assert_int_equal(access(paths[1], F_OK), 0);
    assert_int_not_equal(access(paths[2], F_OK), 0);
    assert_int_equal(access(paths[3], F_OK), 0); // not of the cache
    assert_int_equal(access(path, F_OK), 0);
    place_table_deinit(&t);
    unlink(paths[1]);
    unlink(paths[3]);
    unlink(path);
    rmdir(dir);
}

// The process that writes with root's rights is asked by a recorder that reads programs of
// strangers.
static void a_name_that_leads_out_of_the_folder_is_not_written(void **state)
{
    (void)state;
    char dir[] = "/tmp/assay-cache-XXXXXX", inner[64];
    assert_non_null(mkdtemp(dir));
    snprintf(inner, sizeof(inner), "%s/inner", dir);
    assert_int_equal(mkdir(inner, 0700), 0);
    int folder = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const Str names[] = {STR("../x.sym"), STR("../inner/x.sym"),
                         STR("/x.sym"),   STR("x.sym\0.sym"),
                         STR(""),         STR(".."),
                         STR("x"),        STR("x.sym/")};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        symbol_cache_write(folder, names[i], STR("content"), 0);
    close(folder);
    assert_int_equal(rmdir(inner), 0); // they are empty
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_read_back_as_it_was),
        cmocka_unit_test(no_cut_and_no_flipped_bit_is_believed),
        cmocka_unit_test(numbers_out_of_range_are_refused_behind_a_right_checksum),
        cmocka_unit_test(files_are_named_by_build_id_content_or_path),
        cmocka_unit_test(a_changed_file_makes_its_table_worthless),
        cmocka_unit_test(a_planted_link_is_neither_read_nor_written_through),
        cmocka_unit_test(the_oldest_files_make_room_and_leftovers_go),
        cmocka_unit_test(a_name_that_leads_out_of_the_folder_is_not_written),
    };
    return RUN_TESTS(tests);
}
