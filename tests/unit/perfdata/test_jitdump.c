// SPDX-License-Identifier: Apache-2.0
// jit-PID.dump to the text of a map.

#include "perfdata/jitdump.h"

#include "harness.h"

typedef struct Dump {
    uint8_t bytes[512];
    size_t len;
    bool swapped;
} Dump;

static void put(Dump *d, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        d->bytes[d->len + (d->swapped ? size - 1 - i : i)] = (uint8_t)(value >> 8 * i);
    d->len += size;
}

static void put_header(Dump *d)
{
    put(d, 0x4a695444, 4);
    put(d, 1, 4);
    put(d, 40, 4);
    put(d, 62, 4);
    put(d, 0, 8);
    put(d, 0, 8);
    put(d, 0, 8);
}

static void put_load(Dump *d, const char *name, uint64_t address, uint64_t size, uint64_t index)
{
    size_t len = strlen(name) + 1;
    put(d, 0, 4);
    put(d, 16 + 40 + len + 4, 4);
    put(d, 0, 8);
    put(d, 1, 4);
    put(d, 1, 4);
    put(d, address, 8);
    put(d, address, 8);
    put(d, size, 8);
    put(d, index, 8);
    memcpy(d->bytes + d->len, name, len);
    d->len += len;
    put(d, 0x90909090, 4);
}

static void put_move(Dump *d, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
    put(d, 1, 4);
    put(d, 16 + 48, 4);
    put(d, 0, 8);
    put(d, 1, 4);
    put(d, 1, 4);
    put(d, from, 8);
    put(d, from, 8);
    put(d, to, 8);
    put(d, size, 8);
    put(d, index, 8);
}

static Dump whole_dump(bool swapped)
{
    Dump d = {.swapped = swapped};
    put_header(&d);
    put_load(&d, "first", 0x1000, 0x20, 1);
    put(&d, 2, 4); // DEBUG_INFO, left out
    put(&d, 16, 4);
    put(&d, 0, 8);
    put_load(&d, "two\nlines", 0x2000, 0x30, 2);
    put_move(&d, 0x1000, 0x3000, 0x20, 1);
    put_move(&d, 0x9000, 0x9900, 0x20, 77); // of a function that is not known
    return d;
}

static void check_whole(bool swapped)
{
    Dump d = whole_dump(swapped);
    StrBuf text = {0};
    JitdumpStats stats;
    Error err;
    assert_ok(jitdump_to_map(bytes_over(d.bytes, d.len), &text, &stats, &err), &err);
    assert_str(strbuf_str(&text), "1000 20 first\n2000 30 two lines\n3000 20 first\n");
    assert_int_equal(stats.functions, 2);
    assert_int_equal(stats.moved, 1);
    assert_int_equal(stats.unknown, 0);
    assert_false(stats.cut);
    strbuf_deinit(&text);
}

static void functions_and_their_moves_become_lines(void **state)
{
    (void)state;
    check_whole(false);
}

static void the_other_byte_order_is_read_too(void **state)
{
    (void)state;
    check_whole(true);
}

static void a_dump_cut_anywhere_gives_its_whole_records(void **state)
{
    (void)state;
    Dump d = whole_dump(false);
    for (size_t len = 0; len < d.len; len++) {
        StrBuf text = {0};
        JitdumpStats stats;
        Error err = {0};
        bool ok = jitdump_to_map(bytes_over(d.bytes, len), &text, &stats, &err);
        assert_int_equal(ok, len >= 40);
        if (!ok) {
            assert_true(err.text[0] != 0);
            assert_int_equal(text.len, 0);
        } else if (len > 40 && stats.functions == 0) {
            assert_true(stats.cut);
        }
        strbuf_deinit(&text);
    }
}

static void what_is_no_jitdump_is_an_error(void **state)
{
    (void)state;
    StrBuf text = {0};
    JitdumpStats stats;
    Error err;
    Dump d = whole_dump(false);
    d.bytes[4] = 9;
    assert_error(jitdump_to_map(bytes_over(d.bytes, d.len), &text, &stats, &err), &err,
                 ERROR_FORMAT, "version 9");
    d.bytes[0] = 'x';
    assert_error(jitdump_to_map(bytes_over(d.bytes, d.len), &text, &stats, &err), &err,
                 ERROR_FORMAT, "not a jitdump");
    assert_int_equal(text.len, 0);
}

static void only_the_agreed_name_is_one(void **state)
{
    (void)state;
    assert_true(jitdump_is_name(STR("jit-123.dump")));
    assert_false(jitdump_is_name(STR("jit-.dump")));
    assert_false(jitdump_is_name(STR("jit-12x.dump")));
    assert_false(jitdump_is_name(STR("jit-123.dump.old")));
    assert_false(jitdump_is_name(STR("libjit-123.dump")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_their_moves_become_lines),
        cmocka_unit_test(the_other_byte_order_is_read_too),
        cmocka_unit_test(a_dump_cut_anywhere_gives_its_whole_records),
        cmocka_unit_test(what_is_no_jitdump_is_an_error),
        cmocka_unit_test(only_the_agreed_name_is_one),
    };
    return RUN_TESTS(tests);
}
