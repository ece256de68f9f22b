// SPDX-License-Identifier: Apache-2.0
// perf.data -> Profile, from files built here record by record.

#include "harness.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyse/weights.h"
#include "base/strbuf.h"
#include "import/import.h"
#include "model/facts.h"
#include "perfdata/perfdata.h"

enum {
    ATTR_LEN = 112,
    USER = PERF_RECORD_MISC_USER,
    KERNEL = PERF_RECORD_MISC_KERNEL,
    CHAIN_DEFERRED = 22,
    FIRST_ID = 70,
    SECOND_ID = 71,
};

#define KERNEL_PC 0xffffffff81000100ull

static void add(StrBuf *b, uint64_t value, size_t len)
{
    strbuf_add(b, str_over((const char *)&value, len));
}

static void begin(StrBuf *b)
{
    strbuf_add(b, STR("PERFILE2"));
    add(b, 16, 8);
}

static void add_record(StrBuf *b, uint32_t type, uint16_t misc, const StrBuf *payload)
{
    add(b, type, 4);
    add(b, misc, 2);
    add(b, 8 + payload->len, 2);
    strbuf_add(b, strbuf_str(payload));
}

static void add_event(StrBuf *b, struct perf_event_attr attr, uint64_t id)
{
    StrBuf payload = {0};
    attr.size = ATTR_LEN;
    strbuf_add(&payload, str_over((const char *)&attr, ATTR_LEN));
    add(&payload, id, 8);
    add_record(b, PERFDATA_HEADER_ATTR, 0, &payload);
    strbuf_deinit(&payload);
}

static void name_event(StrBuf *b, uint64_t id, const char *name)
{
    char text[16] = "";
    StrBuf payload = {0};
    snprintf(text, sizeof(text), "%s", name);
    add(&payload, 2, 8);
    add(&payload, id, 8);
    strbuf_add(&payload, str_over(text, sizeof(text)));
    add_record(b, PERFDATA_EVENT_UPDATE, 0, &payload);
    strbuf_deinit(&payload);
}

static const uint64_t plain = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                              PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;

static struct perf_event_attr clock_attr(uint64_t sample_type)
{
    return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_CPU_CLOCK,
                                    .sample_type = sample_type,
                                    .sample_freq = 999,
                                    .freq = 1,
                                    .sample_id_all = 1};
}

// TID, TIME, IDENTIFIER at the end of what is no sample.
static void add_id_all(StrBuf *payload, uint32_t pid, uint64_t time, uint64_t id)
{
    add(payload, pid, 4);
    add(payload, pid, 4);
    add(payload, time, 8);
    add(payload, id, 8);
}

static void add_chain_sample(StrBuf *b, uint64_t id, uint16_t misc, uint64_t time,
                             const uint64_t *chain, size_t count)
{
    StrBuf payload = {0};
    add(&payload, id, 8);
    add(&payload, chain[1], 8);
    add(&payload, 42, 4);
    add(&payload, 42, 4);
    add(&payload, time, 8);
    add(&payload, 1000, 8); // period
    add(&payload, count, 8);
    for (size_t i = 0; i < count; i++)
        add(&payload, chain[i], 8);
    add_record(b, PERF_RECORD_SAMPLE, misc, &payload);
    strbuf_deinit(&payload);
}

static void add_user_sample(StrBuf *b, uint64_t id, uint64_t time, uint64_t pc)
{
    uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, pc};
    add_chain_sample(b, id, USER, time, chain, 2);
}

static void add_comm(StrBuf *b, uint64_t time, const char *name)
{
    char text[16] = "";
    StrBuf payload = {0};
    snprintf(text, sizeof(text), "%s", name);
    add(&payload, 42, 4);
    add(&payload, 42, 4);
    strbuf_add(&payload, str_over(text, sizeof(text)));
    add_id_all(&payload, 42, time, FIRST_ID);
    add_record(b, PERF_RECORD_COMM, 0, &payload);
    strbuf_deinit(&payload);
}

// MMAP2 of [start, start + 0x1000) from the file's beginning, with a build-id.
static void add_mmap(StrBuf *b, uint64_t start, const char *path, uint8_t build_id_byte)
{
    StrBuf payload = {0};
    char text[512] = "";
    uint8_t object[24] = {20};
    memset(object + 4, build_id_byte, 20);
    snprintf(text, sizeof(text), "%s", path);
    add(&payload, 42, 4);
    add(&payload, 42, 4);
    add(&payload, start, 8);
    add(&payload, 0x1000, 8);
    add(&payload, 0, 8);
    strbuf_add(&payload, str_over((const char *)object, sizeof(object)));
    add(&payload, 5, 4); // PROT_READ | PROT_EXEC
    add(&payload, 2, 4);
    strbuf_add(&payload, str_over(text, sizeof(text)));
    add_id_all(&payload, 42, 1, FIRST_ID);
    add_record(b, PERF_RECORD_MMAP2, USER | PERF_RECORD_MISC_MMAP_BUILD_ID, &payload);
    strbuf_deinit(&payload);
}

static void add_round(StrBuf *b)
{
    StrBuf empty = {0};
    add_record(b, PERFDATA_FINISHED_ROUND, 0, &empty);
}

static void assert_note(const Profile *p, const char *key, const char *part)
{
    for (size_t i = 0; i < p->notes.key.len; i++)
        if (str_equal(profile_text(p, p->notes.key.at[i]), str_from_c(key)) &&
            str_find(profile_text(p, p->notes.text.at[i]), str_from_c(part)) != SIZE_MAX)
            return;
    fail_msg("no note '%s' with '%s'", key, part);
}

static uint64_t leaf_address(const Profile *p, size_t sample)
{
    return p->frames.address.at[p->stacks.frame.at[p->samples.stack.at[sample].v].v];
}

static void assert_import(const StrBuf *b, const ImportOptions *o, Profile *p)
{
    Error err = {0};
    assert_ok(import_perf_data(bytes_from_str(strbuf_str(b)), o, p, &err), &err);
    assert_ok(profile_check(p, &err), &err);
}

// ---- Tests -------------------------------------------------------------------

static void records_of_two_rings_come_in_the_order_of_time(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_comm(&b, 5, "prog");
    add_user_sample(&b, FIRST_ID, 30, 0x30);
    add_user_sample(&b, FIRST_ID, 50, 0x50);
    add_user_sample(&b, FIRST_ID, 20, 0x20); // the next ring
    add_user_sample(&b, FIRST_ID, 40, 0x40);
    add_round(&b);
    add_user_sample(&b, FIRST_ID, 70, 0x70);
    add_user_sample(&b, FIRST_ID, 45, 0x45);
    add_round(&b);
    assert_import(&b, NULL, &p);
    const uint64_t want[] = {0x20, 0x30, 0x40, 0x45, 0x50, 0x70};
    assert_int_equal(p.samples.stack.len, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(leaf_address(&p, i), want[i]);
        assert_int_equal(p.samples.time_ns.at[i], want[i] == 0x45 ? 40
                                                  : want[i] == 0x50
                                                      ? 45
                                                      : (int64_t)(want[i] >> 4) * 10 - 5);
    }
    assert_str(profile_text(&p, p.threads.name.at[0]), "prog");
    assert_str(profile_fact(&p, STR(FACT_COLLECTOR)), "import perf.data");
    assert_str(profile_fact(&p, STR(FACT_RATE_ASKED)), "999");
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void samples_add_to_the_event_that_their_id_names(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    struct perf_event_attr faults = clock_attr(plain & ~(uint64_t)PERF_SAMPLE_CALLCHAIN);
    faults.config = PERF_COUNT_SW_PAGE_FAULTS;
    faults.freq = 0;
    faults.sample_period = 7;
    faults.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_event(&b, faults, SECOND_ID);
    name_event(&b, FIRST_ID, "cpu-clock:u");
    add_user_sample(&b, FIRST_ID, 10, 0x10);
    StrBuf payload = {0}; // the second event's layout: no period, no chain
    add(&payload, SECOND_ID, 8);
    add(&payload, 0x20, 8);
    add(&payload, 42, 4);
    add(&payload, 42, 4);
    add(&payload, 20, 8);
    add_record(&b, PERF_RECORD_SAMPLE, USER, &payload);
    assert_import(&b, NULL, &p);
    assert_int_equal(p.metrics.name.len, 2);
    assert_str(profile_text(&p, p.metrics.name.at[0]), "cpu time");
    assert_str(profile_text(&p, p.metrics.event.at[0]), "cpu-clock:u");
    assert_str(profile_text(&p, p.metrics.name.at[1]), "page-faults");
    assert_int_equal(p.samples.values[0].at[0], 1000);
    assert_int_equal(p.samples.values[1].at[0], 0);
    assert_int_equal(p.samples.values[0].at[1], 0);
    assert_int_equal(p.samples.values[1].at[1], 7);
    assert_int_equal(leaf_address(&p, 1), 0x20);
    profile_deinit(&p);
    strbuf_deinit(&payload);
    strbuf_deinit(&b);
}

static void a_chain_has_its_kernel_and_user_parts(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL_PC, KERNEL_PC + 0x100,
                              (uint64_t)PERF_CONTEXT_USER,   0x400010,  0x400020};
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_mmap(&b, 0x400000, "/no/such/prog", 1);
    add_chain_sample(&b, FIRST_ID, KERNEL, 10, chain, ARRAY_LEN(chain));
    assert_import(&b, NULL, &p);
    const uint64_t want[] = {KERNEL_PC, KERNEL_PC + 0xff, 0x10, 0x1f};
    StackId at = p.samples.stack.at[0];
    for (size_t i = 0; i < ARRAY_LEN(want); i++, at = p.stacks.parent.at[at.v]) {
        uint32_t frame = p.stacks.frame.at[at.v].v;
        assert_int_equal(p.frames.address.at[frame], want[i]);
        Str path = profile_text(&p, p.modules.path.at[p.frames.module.at[frame].v]);
        assert_str(path, i < 2 ? "[kernel]" : "/no/such/prog");
    }
    assert_int_equal(at.v, 0);
    assert_note(&p, "missing-files", "1 recorded file is");
    profile_deinit(&p);
    strbuf_deinit(&b);
}

// A file with two symbols, whose first code stands at the offset 0x500 and the address 0x2500, in
// the features FILE and FILE2 of simpleperf.
static void add_simpleperf_file(StrBuf *b, bool is_packed)
{
    StrBuf payload = {0}, file = {0};
    if (is_packed) {
        strbuf_add(&file, STR("\x0a\x0d/no/such/prog\x10\x02\x18\x80\x4a"));
        strbuf_add(&file, STR("\x22\x0b\x08\x80\x4a\x10\x20\x1a\x04leaf"));
        strbuf_add(&file, STR("\x22\x0f\x08\xa0\x4a\x10\x20\x1a\x08_Z4mainv"));
        strbuf_add(&file, STR("\x32\x03\x08\x80\x0a"));
    } else {
        strbuf_add(&file, str_over("/no/such/prog", 14));
        add(&file, 2, 4);
        add(&file, 0x2500, 8);
        add(&file, 2, 4);
        add(&file, 0x2520, 8); // not sorted
        add(&file, 0x20, 4);
        strbuf_add(&file, str_over("_Z4mainv", 9));
        add(&file, 0x2500, 8);
        add(&file, 0x20, 4);
        strbuf_add(&file, str_over("leaf", 5));
        add(&file, 0x500, 8);
    }
    add(&payload, is_packed ? 132 : 128, 8);
    add(&payload, file.len, 4);
    strbuf_add(&payload, strbuf_str(&file));
    add_record(b, PERFDATA_HEADER_FEATURE, 0, &payload);
    strbuf_deinit(&payload);
    strbuf_deinit(&file);
}

static void simpleperf_has_stacks_and_symbols_of_its_own(void **state)
{
    (void)state;
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        StrBuf b = {0}, payload = {0};
        Profile p;
        struct perf_event_attr attr =
            clock_attr(plain | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
        attr.exclude_callchain_user = 1;
        attr.sample_regs_user = 0xff0fff;
        attr.sample_stack_user = 8192;
        begin(&b);
        add_event(&b, attr, FIRST_ID);
        add_simpleperf_file(&b, is_packed);
        add_mmap(&b, 0x400000, "/no/such/prog", 1);
        const uint64_t sample[] = {FIRST_ID,
                                   0x400513,
                                   42ull << 32 | 42,
                                   10,
                                   1000,
                                   4,
                                   (uint64_t)PERF_CONTEXT_USER,
                                   0x400513,
                                   0x40052f,
                                   0,
                                   0 /* no registers */,
                                   0 /* no stack */};
        strbuf_add(&payload, str_over((const char *)sample, sizeof(sample)));
        add_record(&b, PERF_RECORD_SAMPLE, USER, &payload);
        assert_import(&b, NULL, &p);
        const char *const want[] = {"leaf", "main()"};
        StackId at = p.samples.stack.at[0];
        for (size_t i = 0; i < ARRAY_LEN(want); i++, at = p.stacks.parent.at[at.v]) {
            FunctionId function = p.frames.function.at[p.stacks.frame.at[at.v].v];
            assert_str(profile_text(&p, p.functions.name.at[function.v]), want[i]);
        }
        assert_int_equal(at.v, 0);
        profile_deinit(&p);
        strbuf_deinit(&payload);
        strbuf_deinit(&b);
    }
}

// A sample of two counters, {value, id} each, the leader's first.
static void add_group_sample(StrBuf *b, uint32_t tid, uint64_t time, uint64_t leader,
                             uint64_t member)
{
    StrBuf payload = {0};
    const uint64_t words[] = {
        FIRST_ID, 0x400010, (uint64_t)tid << 32 | 42, time, 1000, 2, leader, FIRST_ID,
        member,   SECOND_ID};
    strbuf_add(&payload, str_over((const char *)words, sizeof(words)));
    add_record(b, PERF_RECORD_SAMPLE, USER, &payload);
    strbuf_deinit(&payload);
}

static int64_t total_of(const Profile *p, unsigned metric)
{
    int64_t total = 0;
    for (size_t i = 0; i < p->samples.stack.len; i++)
        total += p->samples.values[metric].at[i];
    return total;
}

// Threads of a CPU share its counters; threads that inherited a counter have one each.
static void group_reads_count_each_member_once(void **state)
{
    (void)state;
    for (unsigned is_inherited = 0; is_inherited < 2; is_inherited++) {
        StrBuf b = {0};
        Profile p;
        struct perf_event_attr attr =
            clock_attr((plain & ~(uint64_t)PERF_SAMPLE_CALLCHAIN) | PERF_SAMPLE_READ);
        attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
        attr.inherit = is_inherited != 0;
        begin(&b);
        add_event(&b, attr, FIRST_ID);
        attr.config = PERF_COUNT_SW_PAGE_FAULTS;
        add_event(&b, attr, SECOND_ID);
        add_group_sample(&b, 42, 10, 1003, 100);
        add_group_sample(&b, 43, 20, 2009, 150);
        add_group_sample(&b, 42, 30, 3001, 170);
        assert_import(&b, NULL, &p);
        assert_int_equal(total_of(&p, 0), is_inherited ? 3001 + 2009 : 3001);
        assert_int_equal(total_of(&p, 1), is_inherited ? 170 + 150 : 170);
        profile_deinit(&p);
        strbuf_deinit(&b);
    }
}

static void the_event_named_is_the_first_with_samples(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    struct perf_event_attr attr = clock_attr(plain);
    begin(&b);
    attr.config = PERF_COUNT_SW_ALIGNMENT_FAULTS;
    add_event(&b, attr, FIRST_ID);
    add_event(&b, clock_attr(plain), SECOND_ID);
    add_user_sample(&b, SECOND_ID, 10, 0x400010);
    assert_import(&b, NULL, &p);
    assert_int_equal(metric_with_samples(&p).v, 1);
    assert_str(profile_fact(&p, STR("event")), "cpu-clock");
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void guests_hypervisor_and_unknown_records_are_counted(void **state)
{
    (void)state;
    StrBuf b = {0}, payload = {0};
    Profile p;
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_GUEST_KERNEL, KERNEL_PC};
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_user_sample(&b, FIRST_ID, 10, 0x10);
    add_chain_sample(&b, FIRST_ID, PERF_RECORD_MISC_GUEST_KERNEL, 11, chain, 2);
    add_chain_sample(&b, FIRST_ID, PERF_RECORD_MISC_GUEST_USER, 12, chain, 2);
    add_chain_sample(&b, FIRST_ID, PERF_RECORD_MISC_HYPERVISOR, 13, chain, 2);
    add(&payload, 0, 8);
    add_id_all(&payload, 42, 14, FIRST_ID);
    add_record(&b, 60, 0, &payload);
    add_record(&b, PERF_RECORD_AUX, 0, &payload);
    add_record(&b, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, &payload);
    add_record(&b, PERF_RECORD_SWITCH_CPU_WIDE, 0, &payload);
    add_record(&b, PERF_RECORD_TEXT_POKE, 0, &payload);
    assert_import(&b, NULL, &p);
    assert_int_equal(p.samples.stack.len, 1);
    assert_note(&p, "skipped-switches", "2 records");
    assert_note(&p, "skipped-text-pokes", "1 records");
    assert_note(&p, "skipped-guest", "2 samples");
    assert_note(&p, "skipped-hypervisor", "1 samples");
    assert_note(&p, "skipped-unknown",
                "1 records of unknown kinds were left out, the first of type 60");
    assert_note(&p, "skipped-trace", "1 records");
    profile_deinit(&p);
    strbuf_deinit(&payload);
    strbuf_deinit(&b);
}

static void a_deferred_chain_joins_the_samples_of_its_cookie(void **state)
{
    (void)state;
    StrBuf b = {0}, payload = {0};
    Profile p;
    const uint64_t waits[] = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL_PC, (uint64_t)-640, 5};
    const uint64_t never[] = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL_PC, (uint64_t)-640, 6};
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_chain_sample(&b, FIRST_ID, KERNEL, 10, waits, 4);
    add_chain_sample(&b, FIRST_ID, KERNEL, 11, never, 4);
    add(&payload, 5, 8);
    add(&payload, 2, 8);
    add(&payload, 0x400010, 8);
    add(&payload, 0x400020, 8);
    add_id_all(&payload, 42, 12, FIRST_ID);
    add_record(&b, CHAIN_DEFERRED, USER, &payload);
    assert_import(&b, NULL, &p);
    assert_int_equal(p.samples.stack.len, 2);
    const uint64_t want[] = {KERNEL_PC, 0x400010, 0x40001f};
    StackId at = p.samples.stack.at[0];
    for (size_t i = 0; i < ARRAY_LEN(want); i++, at = p.stacks.parent.at[at.v])
        assert_int_equal(p.frames.address.at[p.stacks.frame.at[at.v].v], want[i]);
    assert_int_equal(at.v, 0);
    assert_note(&p, "deferred-chains", "1 samples");
    profile_deinit(&p);
    strbuf_deinit(&payload);
    strbuf_deinit(&b);
}

static void a_file_of_another_build_is_named_and_not_used(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    char path[256];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    assert_true(len > 0);
    path[len] = '\0';
    const ImportOptions options = {0};
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_mmap(&b, 0x400000, path, 0xab);
    add_user_sample(&b, FIRST_ID, 10, 0x400010);
    assert_import(&b, &options, &p);
    assert_note(&p, "replaced-files", path);
    assert_str(profile_text(&p, p.modules.build_id.at[1]),
               "abababababababababababababababababababab");
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void threads_that_perf_found_keep_their_process(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    for (uint32_t tid = 42; tid < 44; tid++) {
        StrBuf payload = {0};
        add(&payload, 42, 4);
        add(&payload, tid == 42 ? 7 : 42, 4);
        add(&payload, tid, 4);
        add(&payload, tid == 42 ? 7 : 42, 4);
        add(&payload, 0, 8);
        add_id_all(&payload, 42, 0, 0);
        add_record(&b, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, &payload);
        strbuf_deinit(&payload);
    }
    add_user_sample(&b, FIRST_ID, 10, 0x10);
    assert_import(&b, NULL, &p);
    assert_int_equal(p.processes.pid.len, 1);
    assert_int_equal(p.processes.parent_pid.at[0], 7);
    assert_int_equal(p.threads.tid.len, 2);
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void times_of_a_broken_file_stay_numbers_that_can_be_subtracted(void **state)
{
    (void)state;
    StrBuf b = {0};
    Profile p;
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_user_sample(&b, FIRST_ID, 5, 0x30);
    add_user_sample(&b, FIRST_ID, UINT64_MAX, 0x40);
    add_user_sample(&b, FIRST_ID, 1ull << 63, 0x50);
    assert_import(&b, NULL, &p);
    assert_int_equal(p.samples.stack.len, 3);
    for (size_t i = 0; i < p.samples.time_ns.len; i++)
        assert_true(p.samples.time_ns.at[i] >= 0 && p.samples.time_ns.at[i] <= INT64_MAX / 4);
    profile_deinit(&p);
    strbuf_deinit(&b);
}

static void a_file_cut_anywhere_gives_its_whole_part_or_an_error(void **state)
{
    (void)state;
    StrBuf b = {0};
    begin(&b);
    add_event(&b, clock_attr(plain), FIRST_ID);
    add_comm(&b, 5, "prog");
    add_mmap(&b, 0x400000, "/bin/prog", 1);
    for (uint64_t time = 10; time < 14; time++)
        add_user_sample(&b, FIRST_ID, time, 0x400000 + time);
    size_t last = 0;
    for (size_t len = 0; len <= b.len; len++) {
        // Memory of its own, so that a sanitizer sees a step too far.
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, b.ptr, len);
        Profile p;
        Error err = {0};
        if (import_perf_data(bytes_over(copy, len), NULL, &p, &err)) {
            assert_ok(profile_check(&p, &err), &err);
            assert_in_range(p.samples.stack.len, last, 4);
            last = p.samples.stack.len;
            profile_deinit(&p);
        } else {
            assert_true(err.text[0] != '\0');
            assert_int_equal(last, 0);
        }
        free(copy);
    }
    assert_int_equal(last, 4);
    strbuf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_two_rings_come_in_the_order_of_time),
        cmocka_unit_test(samples_add_to_the_event_that_their_id_names),
        cmocka_unit_test(a_chain_has_its_kernel_and_user_parts),
        cmocka_unit_test(group_reads_count_each_member_once),
        cmocka_unit_test(the_event_named_is_the_first_with_samples),
        cmocka_unit_test(simpleperf_has_stacks_and_symbols_of_its_own),
        cmocka_unit_test(guests_hypervisor_and_unknown_records_are_counted),
        cmocka_unit_test(a_deferred_chain_joins_the_samples_of_its_cookie),
        cmocka_unit_test(a_file_of_another_build_is_named_and_not_used),
        cmocka_unit_test(threads_that_perf_found_keep_their_process),
        cmocka_unit_test(times_of_a_broken_file_stay_numbers_that_can_be_subtracted),
        cmocka_unit_test(a_file_cut_anywhere_gives_its_whole_part_or_an_error),
    };
    return RUN_TESTS(tests);
}
