// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto -> Profile.

#include "harness.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "import/import.h"
#include "model/facts.h"

static void add_varint(StrBuf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_add_char(b, (char)(v | 0x80));
    strbuf_add_char(b, (char)v);
}

static void add_number(StrBuf *b, unsigned field, uint64_t v)
{
    add_varint(b, field << 3);
    add_varint(b, v);
}

static void add_message(StrBuf *b, unsigned field, Str content)
{
    add_varint(b, field << 3 | 2);
    add_varint(b, content.len);
    strbuf_add(b, content);
}

static void add_numbers_message(StrBuf *b, unsigned field, size_t count, const uint64_t *numbers)
{
    StrBuf m = {0};
    for (size_t i = 0; i < count; i++)
        if (numbers[i])
            add_number(&m, (unsigned)i + 1, numbers[i]);
    add_message(b, field, strbuf_str(&m));
    strbuf_deinit(&m);
}
#define ADD(b, field, ...)                                                                         \
    add_numbers_message(b, field, ARRAY_LEN(((uint64_t[]){__VA_ARGS__})), (uint64_t[]){__VA_ARGS__})

static void add_location(StrBuf *b, uint64_t id, uint64_t address, uint64_t inner, uint64_t outer)
{
    StrBuf m = {0};
    add_number(&m, 1, id);
    add_number(&m, 2, 1);
    add_number(&m, 3, address);
    ADD(&m, 4, inner, 10);
    if (outer)
        ADD(&m, 4, outer, 20);
    add_message(b, 4, strbuf_str(&m));
    strbuf_deinit(&m);
}

// Two samples: main -> outer [inlines] inner, and main alone. The sample comes
// before what it refers to; its numbers are packed once and single once.
static void build(StrBuf *b)
{
    static const char *const strings[] = {"",     "cpu",   "nanoseconds", "samples", "count",
                                          "main", "outer", "inner",       "a.c",     "/bin/prog",
                                          "ab12", "tid",   "thread",      "worker",  "time"};
    StrBuf m = {0};
    add_message(&m, 1, STR("\1\2"));
    add_message(&m, 2, STR("\x90\x4e\1")); // 10000, 1
    ADD(&m, 3, 11, 0, 77);
    ADD(&m, 3, 12, 13);
    ADD(&m, 3, 14, 0, 5000);
    add_message(b, 2, strbuf_str(&m));
    strbuf_clear(&m);
    add_number(&m, 1, 2);
    add_number(&m, 2, 300);
    add_number(&m, 2, 2);
    add_message(b, 2, strbuf_str(&m));
    strbuf_deinit(&m);
    add_location(b, 1, 0x1010, 3, 2);
    add_location(b, 2, 0x1020, 1, 0);
    ADD(b, 5, 1, 5, 5, 8, 1);
    ADD(b, 5, 2, 6, 6, 8, 5);
    ADD(b, 5, 3, 7, 7, 8, 9);
    ADD(b, 3, 1, 0x1000, 0x2000, 0, 9, 10);
    ADD(b, 1, 1, 2);
    ADD(b, 1, 3, 4);
    add_number(b, 14, 1); // cpu is what is meant
    add_number(b, 9, 1700000000000000000);
    add_number(b, 10, 2500000000);
    ADD(b, 11, 1, 2);
    add_number(b, 12, 10000000);
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        add_message(b, 6, str_from_c(strings[i]));
}

static Str function_name(const Profile *p, FrameId f)
{
    return profile_text(p, p->functions.name.at[p->frames.function.at[f.v].v]);
}

static void assert_is_the_profile(const Profile *p)
{
    Error err;
    assert_ok(profile_check(p, &err), &err);
    assert_int_equal(p->metrics.name.len, 2);
    assert_str(profile_text(p, p->metrics.unit.at[0]), "ns");
    assert_str(profile_text(p, p->metrics.unit.at[1]), "");
    assert_int_equal(p->samples.stack.len, 2);
    assert_int_equal(p->samples.values[0].at[0], 10000);
    assert_int_equal(p->samples.values[1].at[1], 2);
    assert_int_equal(p->samples.time_ns.at[0], 5000);
    assert_int_equal(p->threads.tid.at[p->samples.thread.at[0].v], 77);
    assert_str(profile_text(p, p->threads.name.at[p->samples.thread.at[0].v]), "worker");
    StackId leaf = p->samples.stack.at[0];
    FrameId inner = p->stacks.frame.at[leaf.v];
    assert_str(function_name(p, inner), "inner");
    assert_int_equal(p->frames.line.at[inner.v], 10);
    FrameId outer = p->frames.inlined_in.at[inner.v];
    assert_str(function_name(p, outer), "outer");
    assert_int_equal(p->frames.line.at[outer.v], 20);
    assert_str(function_name(p, p->stacks.frame.at[p->stacks.parent.at[leaf.v].v]), "main");
    assert_str(profile_text(p, p->modules.build_id.at[p->frames.module.at[inner.v].v]), "ab12");
}

static void what_the_profile_says_of_itself_is_kept(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    Error err = {0};
    build(&b);
    assert_ok(import_pprof(bytes_over(b.ptr, b.len), b.len, &p, &err), &err);
    assert_str(profile_fact(&p, STR(FACT_COMMAND)), "prog");
    assert_str(profile_fact(&p, STR(FACT_START_REALTIME)), "1700000000000000000");
    assert_str(profile_fact(&p, STR(FACT_WALL_NS)), "2500000000");
    assert_str(profile_fact(&p, STR(FACT_RATE_ASKED)), "100");
    profile_deinit(&p);
    strbuf_deinit(&b);
}

// As pprof has it; Go's profiles of time have their samples first.
static void the_last_sample_type_is_shown_first(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    Error err = {0};
    build(&b);
    add_number(&b, 14, 0); // the last number of a field holds
    assert_ok(import_pprof(bytes_over(b.ptr, b.len), b.len, &p, &err), &err);
    assert_str(profile_text(&p, p.metrics.name.at[0]), "samples");
    assert_str(profile_text(&p, p.metrics.name.at[1]), "cpu");
    assert_int_equal(p.samples.values[0].at[1], 2);
    assert_int_equal(p.samples.values[1].at[0], 10000);
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void parts_may_come_in_any_order(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    Error err = {0};
    build(&b);
    assert_true(import_is_known(bytes_over("\x0a\x04\x08\x01\x10\x02", 6)));
    assert_ok(import_pprof(bytes_over(b.ptr, b.len), b.len, &p, &err), &err);
    assert_is_the_profile(&p);
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void gzip_is_unpacked(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    Error err = {0};
    build(&b);
    char packed[4096];
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    size_t len = libdeflate_gzip_compress(c, b.ptr, b.len, packed, sizeof(packed));
    libdeflate_free_compressor(c);
    const ImportFormat *format;
    assert_true(import_is_known(bytes_over(packed, len)));
    assert_ok(import_bytes(bytes_over(packed, len), NULL, &p, &format, &err), &err);
    assert_string_equal(format->name, "pprof");
    assert_is_the_profile(&p);
    profile_deinit(&p);
    packed[len / 2] ^= 0x55;
    assert_error(import_bytes(bytes_over(packed, len), NULL, &p, &format, &err), &err, ERROR_FORMAT,
                 "gzip");
    strbuf_deinit(&b);
}

static void cut_at_each_byte_it_is_an_error_or_a_valid_profile(void **state)
{
    (void)state;
    StrBuf b = {0};
    build(&b);
    for (size_t len = 0; len < b.len; len++) {
        char *copy = malloc(len ? len : 1); // its own size, for the sanitizer
        memcpy(copy, b.ptr, len);
        Profile p;
        Error err = {0};
        if (import_pprof(bytes_over(copy, len), len, &p, &err)) {
            assert_ok(profile_check(&p, &err), &err);
            profile_deinit(&p);
        } else {
            assert_true(err.text[0] != '\0');
        }
        free(copy);
    }
    strbuf_deinit(&b);
}

static void an_unknown_wire_type_is_in_the_error(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    Error err = {0};
    build(&b);
    add_varint(&b, 5 << 3 | 7);
    assert_error(import_pprof(bytes_from_str(strbuf_str(&b)), b.len, &p, &err), &err, ERROR_FORMAT,
                 "unknown protobuf wire type 7");
    strbuf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_profile_says_of_itself_is_kept),
        cmocka_unit_test(the_last_sample_type_is_shown_first),
        cmocka_unit_test(parts_may_come_in_any_order),
        cmocka_unit_test(gzip_is_unpacked),
        cmocka_unit_test(cut_at_each_byte_it_is_an_error_or_a_valid_profile),
        cmocka_unit_test(an_unknown_wire_type_is_in_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
