// SPDX-License-Identifier: Apache-2.0
// Records of a perf ring, whole and hostile.

#include "perfdata/perf_record.h"

#include "base/strbuf.h"

#include "harness.h"

#include <sys/mman.h>

static const struct perf_event_attr attr = {
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
    .sample_regs_user = 1u << 6 | 1u << 7 | 1u << 8,
    .sample_id_all = 1,
};

static void add_u64(StrBuf *b, uint64_t v)
{
    strbuf_add_bytes(b, bytes_over(&v, sizeof(v)));
}

static void add_pair(StrBuf *b, uint32_t x, uint32_t y)
{
    add_u64(b, x | (uint64_t)y << 32);
}

static StrBuf begin(uint32_t type, uint16_t misc)
{
    StrBuf b = {0};
    struct perf_event_header h = {.type = type, .misc = misc};
    strbuf_add_bytes(&b, bytes_over(&h, sizeof(h)));
    return b;
}

static Bytes end(StrBuf *b)
{
    uint16_t size = (uint16_t)b->len;
    memcpy(b->ptr + offsetof(struct perf_event_header, size), &size, sizeof(size));
    return bytes_from_str(strbuf_str(b));
}

static void add_id_all(StrBuf *b)
{
    add_pair(b, 10, 11);
    add_u64(b, 777); // time
    add_pair(b, 3, 0);
    add_u64(b, 42); // id
}

// 16 bytes of stack reserved, `copied` of them filled.
static StrBuf sample(uint64_t copied)
{
    StrBuf b = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    add_u64(&b, 42);
    add_u64(&b, 0x401000);
    add_pair(&b, 10, 11);
    add_u64(&b, 555);
    add_pair(&b, 1, 0);
    add_u64(&b, 1001001);
    add_u64(&b, 2); // callchain
    add_u64(&b, (uint64_t)PERF_CONTEXT_KERNEL);
    add_u64(&b, 0xffffffff81000000);
    add_u64(&b, PERF_SAMPLE_REGS_ABI_64);
    add_u64(&b, 66);
    add_u64(&b, 77);
    add_u64(&b, 88);
    add_u64(&b, 16); // stack
    add_u64(&b, 0x1111);
    add_u64(&b, 0x2222);
    add_u64(&b, copied);
    return b;
}

static void a_sample_is_read_with_registers_and_stack(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    StrBuf b = sample(8);
    PerfSample s;
    PerfRecord r;
    assert_true(perf_record_parse(&l, end(&b), &s, &r));
    assert_int_equal(r.type, PERF_RECORD_SAMPLE);
    assert_int_equal(r.pid, 10);
    assert_int_equal(r.tid, 11);
    assert_int_equal(r.time, 555);
    assert_int_equal(r.cpu, 1);
    assert_int_equal(r.id, 42);
    assert_int_equal(s.ip, 0x401000);
    assert_int_equal(s.period, 1001001);
    assert_int_equal(s.callchain.count, 2);
    assert_int_equal(u64_list_get(s.callchain, 1), 0xffffffff81000000);
    assert_int_equal(s.regs[6], 66);
    assert_int_equal(s.regs[8], 88);
    assert_int_equal(s.stack.len, 8);
    assert_false(s.stack_cut);
    assert_int_equal(perf_record_time(&l, bytes_from_str(strbuf_str(&b))), 555);
    strbuf_deinit(&b);
}

static void a_dump_that_was_filled_is_known_to_be_cut(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    StrBuf b = sample(16);
    PerfSample s;
    PerfRecord r;
    assert_true(perf_record_parse(&l, end(&b), &s, &r));
    assert_int_equal(s.stack.len, 16);
    assert_true(s.stack_cut);
    strbuf_deinit(&b);
    b = sample(17); // more than there is room for
    assert_false(perf_record_parse(&l, end(&b), &s, &r));
    strbuf_deinit(&b);
}

static void a_record_cut_at_each_byte_is_refused(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    StrBuf b = sample(16);
    Bytes whole = end(&b);
    PerfSample s;
    PerfRecord r;
    for (size_t n = 0; n < whole.len; n++) {
        uint8_t copy[256];
        memcpy(copy, whole.ptr, n);
        uint16_t size = (uint16_t)n;
        if (n >= sizeof(struct perf_event_header))
            memcpy(copy + offsetof(struct perf_event_header, size), &size, 2);
        assert_false(perf_record_parse(&l, bytes_over(copy, n), &s, &r));
    }
    strbuf_deinit(&b);
}

static void counts_larger_than_the_record_are_refused(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    const size_t chain_at = 8 + 6 * 8, stack_at = chain_at + 3 * 8 + 4 * 8;
    const uint64_t huge[] = {3000, UINT64_MAX, UINT64_MAX / 8 + 2, 1ull << 61};
    for (size_t i = 0; i < ARRAY_LEN(huge); i++) {
        const size_t places[] = {chain_at, stack_at};
        for (size_t j = 0; j < ARRAY_LEN(places); j++) {
            StrBuf b = sample(16);
            PerfSample s;
            PerfRecord r;
            memcpy(b.ptr + places[j], &huge[i], 8);
            assert_false(perf_record_parse(&l, end(&b), &s, &r));
            strbuf_deinit(&b);
        }
    }
}

static void the_stack_part_is_found_without_reading_it(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    StrBuf b = sample(8);
    Bytes whole = end(&b);
    PerfStackPart part;
    assert_true(perf_sample_stack_part(&l, bytes_slice(whole, 0, whole.len - 24),
                                       (uint32_t)whole.len, &part));
    assert_int_equal(part.size, 16);
    assert_int_equal(part.size_at + 16 + part.size, whole.len);
    // A head that ends before it, and a record that is too small for it.
    assert_false(perf_sample_stack_part(&l, bytes_slice(whole, 0, part.size_at),
                                        (uint32_t)whole.len, &part));
    assert_false(perf_sample_stack_part(&l, whole, (uint32_t)whole.len - 8, &part));
    strbuf_deinit(&b);
}

static void a_mapping_has_a_build_id_or_an_inode(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    for (int with_id = 0; with_id < 2; with_id++) {
        StrBuf b = begin(PERF_RECORD_MMAP2, with_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
        add_pair(&b, 10, 11);
        add_u64(&b, 0x7f0000);
        add_u64(&b, 0x1000);
        add_u64(&b, 0x2000);
        if (with_id) {
            uint8_t object[24] = {20, 0, 0, 0, 0xab, 0xcd};
            strbuf_add_bytes(&b, bytes_over(object, sizeof(object)));
        } else {
            add_pair(&b, 8, 1);
            add_u64(&b, 1234);
            add_u64(&b, 0);
        }
        add_pair(&b, PROT_READ | PROT_EXEC, MAP_PRIVATE);
        strbuf_add(&b, STR("/lib/x.so\0\0\0\0\0\0\0"));
        add_id_all(&b);
        PerfSample s;
        PerfRecord r;
        assert_true(perf_record_parse(&l, end(&b), &s, &r));
        assert_str(r.u.mmap.path, "/lib/x.so");
        assert_true(r.u.mmap.exec);
        assert_int_equal(r.u.mmap.build_id.len, with_id ? 20 : 0);
        assert_int_equal(r.u.mmap.inode, with_id ? 0 : 1234);
        assert_int_equal(r.time, 777);
        assert_int_equal(r.id, 42);
        strbuf_deinit(&b);
    }
}

static void names_and_tasks_are_read(void **state)
{
    (void)state;
    PerfLayout l = perf_layout(&attr);
    PerfSample s;
    PerfRecord r;
    StrBuf b = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    add_pair(&b, 10, 10);
    strbuf_add(&b, STR("prog\0\0\0\0"));
    add_id_all(&b);
    assert_true(perf_record_parse(&l, end(&b), &s, &r));
    assert_true(r.u.comm.exec);
    assert_str(r.u.comm.name, "prog");
    strbuf_deinit(&b);
    b = begin(PERF_RECORD_FORK, 0);
    add_pair(&b, 20, 10);
    add_pair(&b, 21, 11);
    add_u64(&b, 99);
    add_id_all(&b);
    assert_true(perf_record_parse(&l, end(&b), &s, &r));
    assert_int_equal(r.u.task.pid, 20);
    assert_int_equal(r.u.task.parent_pid, 10);
    assert_int_equal(r.u.task.tid, 21);
    assert_int_equal(r.u.task.parent_tid, 11);
    assert_int_equal(r.u.task.time, 99);
    strbuf_deinit(&b);
    // Too short for the part that every record ends with.
    b = begin(PERF_RECORD_LOST, 0);
    add_u64(&b, 1);
    assert_false(perf_record_parse(&l, end(&b), &s, &r));
    assert_int_equal(perf_record_time(&l, bytes_from_str(strbuf_str(&b))), 0);
    strbuf_deinit(&b);
}

static void a_group_of_counters_is_read_with_the_sample(void **state)
{
    (void)state;
    struct perf_event_attr group = {
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST};
    PerfLayout l = perf_layout(&group);
    StrBuf b = begin(PERF_RECORD_SAMPLE, 0);
    add_u64(&b, 1);
    add_pair(&b, 10, 11);
    add_u64(&b, 2);
    for (uint64_t i = 1; i <= 2; i++) {
        add_u64(&b, i * 100);
        add_u64(&b, i);
        add_u64(&b, 0);
    }
    PerfSample s;
    PerfRecord r;
    assert_true(perf_record_parse(&l, end(&b), &s, &r));
    assert_int_equal(s.read_count, 2);
    assert_int_equal(s.read[1].value, 200);
    assert_int_equal(s.read[1].id, 2);
    strbuf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_read_with_registers_and_stack),
        cmocka_unit_test(a_dump_that_was_filled_is_known_to_be_cut),
        cmocka_unit_test(a_record_cut_at_each_byte_is_refused),
        cmocka_unit_test(counts_larger_than_the_record_are_refused),
        cmocka_unit_test(the_stack_part_is_found_without_reading_it),
        cmocka_unit_test(a_mapping_has_a_build_id_or_an_inode),
        cmocka_unit_test(names_and_tasks_are_read),
        cmocka_unit_test(a_group_of_counters_is_read_with_the_sample),
    };
    return RUN_TESTS(tests);
}
