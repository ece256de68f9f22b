// SPDX-License-Identifier: Apache-2.0
// perf.data: file and pipe form, compressed records, damage.

#include "harness.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/strbuf.h"
#include "perfdata/perfdata.h"

enum { ATTR_LEN = 112 };

static void add_u16(StrBuf *b, uint16_t v)
{
    strbuf_add(b, str_over((const char *)&v, 2));
}

static void add_u32(StrBuf *b, uint32_t v)
{
    strbuf_add(b, str_over((const char *)&v, 4));
}

static void add_u64(StrBuf *b, uint64_t v)
{
    strbuf_add(b, str_over((const char *)&v, 8));
}

static void add_attr(StrBuf *b)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = ATTR_LEN};
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
    strbuf_add(b, str_over((const char *)&attr, ATTR_LEN));
}

static void add_record(StrBuf *b, uint32_t type, uint16_t misc, Str payload)
{
    add_u32(b, type);
    add_u16(b, misc);
    add_u16(b, (uint16_t)(8 + payload.len));
    strbuf_add(b, payload);
}

static void add_samples(StrBuf *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t payload[2] = {0x1000 + i, 42};
        add_record(b, PERF_RECORD_SAMPLE, 2, str_over((const char *)payload, sizeof(payload)));
    }
}

// A file with one event of two ids, the given data, and a HOSTNAME feature.
static void build_file(StrBuf *b, Str data)
{
    enum { IDS_AT = 104, ATTRS_AT = IDS_AT + 16, DATA_AT = ATTRS_AT + ATTR_LEN + 16 };
    strbuf_add(b, STR("PERFILE2"));
    add_u64(b, 104);
    add_u64(b, ATTR_LEN + 16);
    add_u64(b, ATTRS_AT);
    add_u64(b, ATTR_LEN + 16);
    add_u64(b, DATA_AT);
    add_u64(b, data.len);
    add_u64(b, 0);
    add_u64(b, 0);
    add_u64(b, 1 << 3);
    for (int i = 0; i < 3; i++)
        add_u64(b, 0);
    add_u64(b, 7001);
    add_u64(b, 7002);
    add_attr(b);
    add_u64(b, IDS_AT);
    add_u64(b, 16);
    strbuf_add(b, data);
    add_u64(b, b->len + 16);
    add_u64(b, 12);
    add_u32(b, 8);
    strbuf_add(b, str_over("host\0\0\0\0", 8));
}

static void build_pipe(StrBuf *b)
{
    strbuf_add(b, STR("PERFILE2"));
    add_u64(b, 16);
    StrBuf payload = {0};
    add_attr(&payload);
    add_u64(&payload, 7001);
    add_record(b, PERFDATA_HEADER_ATTR, 0, strbuf_str(&payload));
    strbuf_clear(&payload);
    add_u64(&payload, 2);
    add_u64(&payload, 7001);
    strbuf_add(&payload, str_over("cpu-clock:u\0\0\0\0\0", 16));
    add_record(b, PERFDATA_EVENT_UPDATE, 0, strbuf_str(&payload));
    // Trace data lies behind its record and is not counted in it.
    strbuf_clear(&payload);
    add_u32(&payload, 5);
    add_record(b, PERFDATA_TRACING_DATA, 0, strbuf_str(&payload));
    strbuf_add(b, STR("\1\2\3\4\5\0\0\0"));
    add_samples(b, 3);
    strbuf_deinit(&payload);
}

// Counts samples; the result is how reading ended.
static PerfDataNext read_all(PerfDataReader *r, unsigned *samples, Error *err)
{
    PerfDataRecord record;
    PerfDataNext next;
    *samples = 0;
    while ((next = perfdata_next(r, &record, err)) == PERFDATA_RECORD) {
        assert_true(record.bytes.len >= 8);
        *samples += record.type == PERF_RECORD_SAMPLE;
    }
    return next;
}

// Of one test: a file, what stands in its data part, and who reads it.
static Arena arena;
static Error err;
static StrBuf data, file;
static PerfDataReader *r;

static int begin(void **state)
{
    (void)state;
    err = (Error){0};
    r = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (r)
        perfdata_close(r);
    strbuf_deinit(&data);
    strbuf_deinit(&file);
    arena_deinit(&arena);
    return 0;
}

static void open_first(size_t len)
{
    if (r)
        perfdata_close(r);
    assert_ok(perfdata_open(&arena, bytes_over(file.ptr, len), &r, &err), &err);
}

static void a_file_gives_events_features_and_records(void **state)
{
    (void)state;
    add_samples(&data, 5);
    build_file(&file, strbuf_str(&data));
    open_first(file.len);
    const PerfData *info = perfdata_info(r);
    assert_int_equal(info->events.len, 1);
    assert_int_equal(info->events.at[0].ids.len, 2);
    assert_int_equal(info->events.at[0].ids.at[1], 7002);
    assert_int_equal(info->events.at[0].attr.type, PERF_TYPE_SOFTWARE);
    assert_str(info->hostname, "host");
    unsigned samples;
    assert_int_equal(read_all(r, &samples, &err), PERFDATA_END);
    assert_int_equal(samples, 5);
}

static void a_pipe_brings_its_events_with_the_records(void **state)
{
    (void)state;
    build_pipe(&file);
    open_first(file.len);
    unsigned samples;
    assert_int_equal(read_all(r, &samples, &err), PERFDATA_END);
    assert_int_equal(samples, 3);
    assert_int_equal(perfdata_info(r)->events.len, 1);
    assert_str(perfdata_info(r)->events.at[0].name, "cpu-clock:u");
}

// One stream over two records, cut in the middle of a sample.
static void compressed_records_are_one_stream(void **state)
{
    (void)state;
    StrBuf plain = {0};
    add_samples(&plain, 40);
    ZSTD_CStream *z = ZSTD_createCStream();
    ZSTD_initCStream(z, 1);
    size_t cuts[3] = {0, plain.len / 2 + 5, plain.len};
    for (int part = 0; part < 2; part++) {
        char packed[4096];
        ZSTD_inBuffer in = {plain.ptr + cuts[part], cuts[part + 1] - cuts[part], 0};
        ZSTD_outBuffer out = {packed, sizeof(packed), 0};
        ZSTD_compressStream(z, &out, &in);
        ZSTD_flushStream(z, &out);
        add_record(&data, PERFDATA_COMPRESSED, 0, str_over(packed, out.pos));
    }
    ZSTD_freeCStream(z);
    build_file(&file, strbuf_str(&data));
    open_first(file.len);
    unsigned samples;
    assert_int_equal(read_all(r, &samples, &err), PERFDATA_END);
    assert_int_equal(samples, 40);
    strbuf_deinit(&plain);
}

static void a_data_part_that_was_never_closed_is_read_to_the_end(void **state)
{
    (void)state;
    add_samples(&data, 5);
    build_file(&file, strbuf_str(&data));
    memset(file.ptr + 48, 0, 8); // size of the data
    size_t len = file.len - 16 - 12;
    unsigned samples;
    open_first(len);
    assert_int_equal(read_all(r, &samples, &err), PERFDATA_END);
    assert_int_equal(samples, 5);
    open_first(len - 3);
    assert_int_equal(read_all(r, &samples, &err), PERFDATA_CUT);
    assert_int_equal(samples, 4);
    assert_non_null(strstr(err.text, "offset"));
}

static void cut_at_each_byte_it_ends_or_fails_with_a_reason(void **state)
{
    (void)state;
    StrBuf whole[2] = {0};
    add_samples(&data, 3);
    build_file(&whole[0], strbuf_str(&data));
    build_pipe(&whole[1]);
    for (size_t form = 0; form < 2; form++) {
        for (size_t len = 0; len < whole[form].len; len++) {
            Arena scratch = {0};
            err = (Error){0};
            char *copy = malloc(len ? len : 1); // its own size, for the sanitizer
            memcpy(copy, whole[form].ptr, len);
            unsigned samples;
            if (perfdata_open(&scratch, bytes_over(copy, len), &r, &err)) {
                PerfDataNext end = read_all(r, &samples, &err);
                assert_true(end == PERFDATA_END || err.text[0] != '\0');
                perfdata_close(r);
                r = NULL;
            } else {
                assert_true(err.text[0] != '\0');
            }
            free(copy);
            arena_deinit(&scratch);
        }
        strbuf_deinit(&whole[form]);
    }
}

static void a_record_of_impossible_size_is_an_error_with_its_offset(void **state)
{
    (void)state;
    build_file(&file, str_over("\x09\0\0\0\0\0\x03\0", 8));
    unsigned samples;
    open_first(file.len);
    assert_int_equal(read_all(r, &samples, &err), PERFDATA_BAD);
    assert_non_null(strstr(err.text, "0xf8"));
}

static void other_files_are_refused(void **state)
{
    (void)state;
    uint8_t big_endian[16] = "2ELIFREP";
    assert_error(perfdata_open(&arena, bytes_over(big_endian, 16), &r, &err), &err,
                 ERROR_UNSUPPORTED, "big-endian");
    assert_error(perfdata_open(&arena, bytes_over("not one at all ..", 17), &r, &err), &err,
                 ERROR_FORMAT, "not perf.data");
    assert_false(perfdata_is(bytes_over("PERF", 4)));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_gives_events_features_and_records),
        TEST(a_pipe_brings_its_events_with_the_records),
        TEST(compressed_records_are_one_stream),
        TEST(a_data_part_that_was_never_closed_is_read_to_the_end),
        TEST(cut_at_each_byte_it_ends_or_fails_with_a_reason),
        TEST(a_record_of_impossible_size_is_an_error_with_its_offset),
        TEST(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
