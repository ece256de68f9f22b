// SPDX-License-Identifier: Apache-2.0
// Files: reading whole, mapping, and writing without half-written ones.

#include "os/file.h"

#include "harness.h"
#include "os/map_guard.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static Arena arena;

static Str in_folder(const char *name)
{
    return arena_printf(&arena, "%s/%s", folder, name);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/assay-file-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    const char *const names[] = {"a", "b", "c/d/e", "c/d", "c", "link"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)remove(in_folder(names[i]).ptr);
    int rc = rmdir(folder);
    arena_deinit(&arena);
    return rc;
}

static void what_is_written_is_read_and_mapped_back(void **state)
{
    (void)state;
    Error err;
    Bytes text = bytes_from_str(STR("one\ntwo\n")), back;
    MappedFile m;
    FileIdentity id;
    assert_ok(os_write_file(in_folder("a"), text, OUTPUT_KEEP, &err), &err);
    assert_ok(os_read_file(&arena, in_folder("a"), 100, &back, &err), &err);
    assert_true(bytes_equal(back, text.ptr, text.len));
    assert_int_equal(back.ptr[back.len], 0);
    assert_ok(os_map_file(in_folder("a"), &m, &err), &err);
    assert_true(bytes_equal(m.bytes, text.ptr, text.len));
    assert_ok(os_file_identity(in_folder("a"), &id, &err), &err);
    assert_int_equal(id.inode, m.identity.inode);
    assert_int_equal(id.size_bytes, text.len);
    os_unmap_file(&m);
    os_unmap_file(&m);
}

static void one_buffer_serves_one_file_after_the_other(void **state)
{
    (void)state;
    Error err;
    U8Vec buffer = {0};
    uint8_t start[4];
    FileIdentity id = {0};
    Bytes text = bytes_from_str(STR("one\ntwo\n"));
    assert_ok(os_write_file(in_folder("a"), text, OUTPUT_KEEP, &err), &err);
    assert_ok(os_write_file(in_folder("b"), (Bytes){0}, OUTPUT_KEEP, &err), &err);
    assert_ok(os_load_file(in_folder("a"), &buffer, &id, &err), &err);
    assert_true(bytes_equal(bytes_over(buffer.at, buffer.len), text.ptr, text.len));
    assert_int_equal(id.size_bytes, text.len);
    assert_ok(os_load_file(in_folder("b"), &buffer, NULL, &err), &err);
    assert_int_equal(buffer.len, 0);
    assert_error(os_load_file(in_folder("none"), &buffer, &id, &err), &err, ERROR_NOT_FOUND,
                 "none");
    assert_false(os_load_file(str_from_c(folder), &buffer, &id, &err));
    vec_free(&buffer);
    assert_int_equal(os_read_start(in_folder("a"), start, sizeof(start)), 4);
    assert_memory_equal(start, "one\n", 4);
    assert_int_equal(os_read_start(in_folder("b"), start, sizeof(start)), 0);
    assert_int_equal(os_read_start(in_folder("none"), start, sizeof(start)), 0);
    assert_int_equal(os_read_start(str_from_c(folder), start, sizeof(start)), 0);
}

static void an_existing_file_is_kept_unless_asked(void **state)
{
    (void)state;
    Error err;
    Bytes back;
    assert_ok(os_write_file(in_folder("a"), bytes_from_str(STR("old")), OUTPUT_KEEP, &err), &err);
    assert_error(os_write_file(in_folder("a"), bytes_from_str(STR("new")), OUTPUT_KEEP, &err), &err,
                 ERROR_LIMIT, "exists");
    assert_ok(os_read_file(&arena, in_folder("a"), 100, &back, &err), &err);
    assert_true(bytes_equal(back, "old", 3));
    assert_ok(os_write_file(in_folder("a"), bytes_from_str(STR("new")), OUTPUT_REPLACE, &err),
              &err);
    assert_ok(os_read_file(&arena, in_folder("a"), 100, &back, &err), &err);
    assert_true(bytes_equal(back, "new", 3));
}

static void a_file_that_comes_up_meanwhile_is_not_replaced(void **state)
{
    (void)state;
    Error err;
    Bytes back;
    OutputFile out;
    assert_ok(os_output_open(in_folder("b"), OUTPUT_KEEP, &out, &err), &err);
    fputs("late", out.stream);
    assert_ok(os_write_file(in_folder("b"), bytes_from_str(STR("first")), OUTPUT_KEEP, &err), &err);
    assert_error(os_output_commit(&out, &err), &err, ERROR_LIMIT, "exists");
    assert_ok(os_read_file(&arena, in_folder("b"), 100, &back, &err), &err);
    assert_true(bytes_equal(back, "first", 5));
}

static void an_abandoned_file_leaves_nothing(void **state)
{
    (void)state;
    Error err;
    OutputFile out;
    assert_ok(os_output_open(in_folder("a"), OUTPUT_KEEP, &out, &err), &err);
    fputs("text", out.stream);
    os_output_abort(&out);
    os_output_abort(&out);
    assert_false(os_file_exists(in_folder("a"))); // and clean_up finds the folder empty
}

static void a_link_keeps_pointing_at_the_replaced_file(void **state)
{
    (void)state;
    Error err;
    struct stat st;
    assert_ok(os_write_file(in_folder("a"), bytes_from_str(STR("x")), OUTPUT_KEEP, &err), &err);
    assert_int_equal(symlink("a", in_folder("link").ptr), 0);
    assert_ok(os_write_file(in_folder("link"), bytes_from_str(STR("yz")), OUTPUT_REPLACE, &err),
              &err);
    assert_int_equal(lstat(in_folder("link").ptr, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(in_folder("a").ptr, &st), 0);
    assert_int_equal(st.st_size, 2);
}

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    Error err;
    assert_error(os_write_file(STR("/nonexistent/x"), (Bytes){0}, OUTPUT_KEEP, &err), &err,
                 ERROR_NOT_FOUND, "/nonexistent/x");
    Bytes many = bytes_over(arena_alloc(&arena, 1 << 16, 1), 1 << 16);
    assert_error(os_write_file(STR("/dev/full"), many, OUTPUT_REPLACE, &err), &err, ERROR_OS,
                 "No space");
}

static void odd_names_and_kinds_are_errors(void **state)
{
    (void)state;
    Error err;
    Bytes b;
    MappedFile m;
    assert_error(os_read_file(&arena, STR(""), 10, &b, &err), &err, ERROR_USAGE, "empty");
    assert_error(os_read_file(&arena, STR("a\0b"), 10, &b, &err), &err, ERROR_USAGE, "NUL");
    assert_false(os_map_file(str_from_c(folder), &m, &err));
    assert_false(os_map_file(STR("/dev/null"), &m, &err));
    assert_false(os_read_file(&arena, str_from_c(folder), 10, &b, &err));
    assert_ok(os_read_file(&arena, STR("/proc/self/maps"), 1 << 20, &b, &err), &err);
    assert_true(b.len > 100);
    assert_error(os_read_file(&arena, STR("/proc/self/maps"), 50, &b, &err), &err, ERROR_LIMIT,
                 "more than 50");
}

static void folders_are_made_with_those_above(void **state)
{
    (void)state;
    Error err;
    assert_ok(os_make_folders(in_folder("c/d/e"), &err), &err);
    assert_ok(os_make_folders(in_folder("c/d/e"), &err), &err);
    assert_true(os_file_exists(in_folder("c/d/e")));
    assert_ok(os_write_file(in_folder("a"), (Bytes){0}, OUTPUT_KEEP, &err), &err);
    assert_false(os_make_folders(in_folder("a"), &err));
}

static void a_file_cut_short_while_it_is_mapped_reads_as_zeros(void **state)
{
    (void)state;
    enum { SIZE = 5 * 4096 + 7 };
    static uint8_t content[SIZE];
    Error err;
    MappedFile m, other;
    memset(content, 'x', SIZE);
    Str path = in_folder("a");
    assert_ok(os_write_file(path, bytes_over(content, SIZE), OUTPUT_KEEP, &err), &err);
    assert_ok(os_map_file(path, &m, &err), &err);
    assert_ok(os_map_file(path, &other, &err), &err);
    uint32_t before = map_guard_cut_count();
    assert_int_equal(truncate(path.ptr, 4096 + 5), 0);
    assert_int_equal(m.bytes.ptr[0], 'x');
    assert_int_equal(m.bytes.ptr[4096 + 4], 'x');
    assert_int_equal(m.bytes.ptr[3 * 4096], 0);
    assert_int_equal(m.bytes.ptr[2 * 4096], 0);
    assert_int_equal(m.bytes.ptr[SIZE - 1], 0);
    // Two faults of one mapping are one loss; the other mapping has its own.
    assert_int_equal(map_guard_cut_count(), before + 1);
    assert_int_equal(other.bytes.ptr[SIZE - 1], 0);
    assert_int_equal(map_guard_cut_count(), before + 2);
    os_unmap_file(&m);
    os_unmap_file(&other);
}

int main(void)
{
#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, clean_up)
    const struct CMUnitTest tests[] = {
        FILE_TEST(what_is_written_is_read_and_mapped_back),
        FILE_TEST(one_buffer_serves_one_file_after_the_other),
        FILE_TEST(an_existing_file_is_kept_unless_asked),
        FILE_TEST(a_file_that_comes_up_meanwhile_is_not_replaced),
        FILE_TEST(an_abandoned_file_leaves_nothing),
        FILE_TEST(a_link_keeps_pointing_at_the_replaced_file),
        FILE_TEST(what_cannot_be_written_is_told),
        FILE_TEST(odd_names_and_kinds_are_errors),
        FILE_TEST(folders_are_made_with_those_above),
        FILE_TEST(a_file_cut_short_while_it_is_mapped_reads_as_zeros),
    };
    return RUN_TESTS(tests);
}
