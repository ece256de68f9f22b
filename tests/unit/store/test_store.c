// SPDX-License-Identifier: Apache-2.0
// The .assay recording: what is written is what is read, and what damage does.

#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "model/facts.h"
#include "model/schema.h"
#include "os/file.h"
#include "store/format_internal.h"
#include "store/store.h"

static char folder[] = "/tmp/assay-store-XXXXXX";

// Of one test: what it writes, what it reads, and the file.
static Arena arena;
static Profile p, q;
static Error err;
static Str path;

static int begin(void **state)
{
    (void)state;
    profile_init(&p);
    q = (Profile){0};
    err = (Error){0};
    path = arena_printf(&arena, "%s/a.assay", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    profile_deinit(&p);
    profile_deinit(&q);
    unlink(path.ptr);
    arena_deinit(&arena);
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

// Two rows in each table of coverage: the first is 0, the other the largest of its type, or row 1
// of the table that it refers to.
static void fill_coverage(void)
{
    static const TableId tables[] = {
        TABLE_LINE_COUNTS,   TABLE_FUNCTION_COUNTS,  TABLE_BRANCH_COUNTS,
        TABLE_REGION_COUNTS, TABLE_CONDITION_COUNTS, TABLE_COVER_TOTALS,
        TABLE_BRANCH_SITES,  TABLE_SEGMENTS,         TABLE_EXCERPTS,
        TABLE_EXCERPT_LINES, TABLE_DECISIONS,        TABLE_DECISION_CONDITIONS};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const TableSchema *t = profile_schema_find(tables[i]);
        for (size_t c = 0; c < t->column_count; c++) {
            const Column *column = &t->columns[c];
            RawVec *v = column_vec(&p, column);
            size_t size = column_type_size(column->type);
            column_resize(&p, v, column->type, 2);
            if (column->refers_to == TABLE_NONE)
                memset((char *)v->at + size, 0xff, size);
            else
                ((uint32_t *)v->at)[1] = 1;
        }
    }
}

// A profile with a row in every table, mutable rows, and values at the edges of
// their types.
static void fill(unsigned samples)
{
    ModuleId exe = profile_module(&p, MODULE_FILE, STR("/bin/prog"), STR("00ff"));
    FunctionId hot = profile_function(&p, STR("hot<int>()"), STR("_Z3hot"), STR("a.cc"), 7);
    ProcessId process = profile_add_process(&p, 42, 1, profile_str(&p, STR("prog")), 0);
    ThreadId thread = profile_add_thread(&p, process, 43, profile_str(&p, STR("worker")), 5);
    MetricId time =
        profile_add_metric(&p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    profile_add_metric(&p, STR("page-faults"), STR(""), METRIC_SUM, STR("page-faults"));
    for (unsigned i = 0; i < samples; i++) {
        StackId stack = {0};
        for (unsigned depth = 0; depth < 1 + i % 7; depth++)
            stack = profile_stack(&p, stack, profile_frame(&p, exe, 0x1000 + i % 13 * 16, 0));
        size_t row = profile_add_sample(&p, i % 3 ? (int64_t)i * 1000 : TIME_NONE, thread, stack,
                                        i % 2 ? 1 : SAMPLE_CPU_NONE);
        profile_sample_set(&p, row, time, i % 5 ? 1000 : INT64_MIN);
    }
    if (samples) {
        FrameId inner = {1};
        FrameId outer = profile_frame_add_inliner(&p, inner);
        profile_frame_resolve(&p, inner, hot, profile_str(&p, STR("a.cc")), 9);
        profile_frame_resolve(&p, outer, hot, profile_str(&p, STR("b.cc")), UINT32_MAX);
    }
    profile_frame(&p, (ModuleId){0}, UINT64_MAX, FRAME_KERNEL);
    RunRow run = RUN_NOT_KNOWN;
    run.name = profile_str(&p, STR("./old"));
    run.conditions = profile_str(&p, STR("load=0.5\ngovernor=powersave"));
    run.wall_ns = INT64_MAX;
    run.status = 139;
    run.round = 7;
    run.flags = RUN_WARMUP;
    profile_add_run_value(&p, profile_add_run(&p, &run), time, -0.5);
    profile_add_run_count(&p, profile_add_run(&p, &RUN_NOT_KNOWN), time, 1e300, UINT64_MAX, 1,
                          profile_str(&p, STR("CPU0")));
    profile_add_point(&p, time, 17, 2.5, 9, 4, profile_str(&p, STR("CPU1")));
    profile_add_interval(&p, thread, 3, 3, profile_str(&p, STR("exec")), (StrId){0});
    profile_source_line(&p, profile_str(&p, STR("a.cc")), 9, STR("  x += \t\"\xff\";"));
    profile_note(&p, NOTE_WARNING, STR("lost-samples"), "%d lost", 3);
    profile_set_fact(&p, STR(FACT_COMMAND), STR("prog --x"));
    fill_coverage();
}

static void assert_same_column(const Profile *a, const Profile *b, const TableSchema *t,
                               const Column *c)
{
    const RawVec *va = column_vec_const(a, c);
    const RawVec *vb = column_vec_const(b, c);
    if (va->len != vb->len)
        fail_msg("table '%s' column '%s': %zu rows against %zu", t->name, c->name, va->len,
                 vb->len);
    size_t size = va->len * column_type_size(c->type);
    if (size && memcmp(va->at, vb->at, size) != 0)
        fail_msg("table '%s' column '%s' differs", t->name, c->name);
}

static void assert_same_profile(const Profile *a, const Profile *b)
{
    assert_int_equal(a->strings.texts.len, b->strings.texts.len);
    for (uint32_t i = 0; i < a->strings.texts.len; i++)
        assert_true(str_equal(intern_get(&a->strings, i), intern_get(&b->strings, i)));
    for (size_t t = 0; t < profile_schema_count; t++)
        for (size_t c = 0; c < profile_schema[t].column_count; c++)
            assert_same_column(a, b, &profile_schema[t], &profile_schema[t].columns[c]);
    assert_int_equal(a->samples.value_columns, b->samples.value_columns);
    for (size_t m = 0; m < a->samples.value_columns; m++) {
        assert_int_equal(a->samples.values[m].len, b->samples.values[m].len);
        assert_memory_equal(a->samples.values[m].at, b->samples.values[m].at,
                            a->samples.values[m].len * sizeof(int64_t));
    }
}

static void write_profile(void)
{
    assert_ok(store_write(path, &(StoreOptions){.force = true}, &p, &err), &err);
}

static bool read_file(void)
{
    Bytes file;
    assert_ok(os_read_file(&arena, path, SIZE_MAX, &file, &err), &err);
    return store_read(file, &q, &err);
}

// Reads the file into `q`.
static void read_profile(void)
{
    assert_ok(read_file(), &err);
}

// The name of the growing file.
static Str part_path(void)
{
    return arena_printf(&arena, "%" STR_FMT ".part", STR_ARG(path));
}

static void what_is_written_is_what_is_read(void **state)
{
    (void)state;
    fill(500);
    write_profile();
    read_profile();
    assert_same_profile(&p, &q);
    assert_int_equal(profile_fact(&q, STR(FACT_INCOMPLETE)).len, 0);
}

static void a_profile_without_samples_is_kept(void **state)
{
    (void)state;
    write_profile();
    read_profile();
    assert_same_profile(&p, &q);
}

static void several_flushes_give_the_same_profile(void **state)
{
    (void)state;
    StoreWriter *w;
    fill(100);
    assert_true(store_writer_open(path, NULL, &w, &err));
    for (int round = 0; round < 5; round++) {
        assert_true(store_writer_flush(w, &p, &err));
        profile_add_sample(&p, 77 + round, (ThreadId){0}, (StackId){1}, 0);
        p.threads.end_ns.at[0] = 1000 + round;
        profile_set_fact(&p, STR(FACT_COMMAND), round % 2 ? STR("odd") : STR("even"));
    }
    assert_true(store_writer_finish(w, &p, &err));
    read_profile();
    assert_same_profile(&p, &q);
}

static void samples_that_were_dropped_after_a_flush_are_in_the_file(void **state)
{
    (void)state;
    StoreWriter *w;
    fill(100);
    StackId last = {p.samples.stack.at[99].v};
    assert_true(store_writer_open(path, NULL, &w, &err));
    for (int round = 0; round < 3; round++) {
        assert_true(store_writer_flush(w, &p, &err));
        profile_drop_samples(&p);
        assert_int_equal(p.samples.stack.len, 0);
        size_t row = profile_add_sample(&p, 77 + round, (ThreadId){0}, last, 0);
        profile_sample_set(&p, row, (MetricId){0}, round);
    }
    assert_int_equal(p.samples.dropped.rows, 102);
    assert_int_equal(p.samples.dropped.of_stack.at[last.v] > 2, true);
    assert_int_equal(p.samples.dropped.not_zero.at[0], 101); // 100 and the one of round 1
    assert_true(store_writer_finish(w, &p, &err));
    read_profile();
    assert_int_equal(q.samples.stack.len, 103);
    assert_int_equal(q.samples.stack.at[99].v, last.v);
    assert_int_equal(q.samples.values[0].at[99], 1000);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(q.samples.time_ns.at[100 + round], 77 + round);
        assert_int_equal(q.samples.values[0].at[100 + round], round);
    }
}

static void an_unfinished_recording_opens_up_to_its_last_flush(void **state)
{
    (void)state;
    StoreWriter *w;
    fill(100);
    assert_true(store_writer_open(path, NULL, &w, &err));
    assert_true(store_writer_flush(w, &p, &err));
    Bytes part;
    assert_true(os_read_file(&arena, part_path(), SIZE_MAX, &part, &err));
    assert_true(store_read(part, &q, &err));
    assert_int_equal(q.samples.stack.len, 100);
    assert_true(profile_fact(&q, STR(FACT_INCOMPLETE)).len > 0);
    profile_deinit(&q);
    store_writer_abandon(w);
    assert_false(os_file_exists(path));
}

static void an_existing_file_is_kept_unless_forced(void **state)
{
    (void)state;
    StoreWriter *w;
    write_profile();
    assert_false(store_writer_open(path, NULL, &w, &err));
    assert_non_null(strstr(err.text, "exists"));
    assert_non_null(strstr(err.hint, "--force"));
    assert_true(store_writer_open(path, &(StoreOptions){.force = true}, &w, &err));
    assert_true(store_writer_finish(w, &p, &err));
}

static void a_file_that_appears_meanwhile_is_not_replaced(void **state)
{
    (void)state;
    StoreWriter *w;
    assert_true(store_writer_open(path, NULL, &w, &err));
    assert_true(os_write_file(path, bytes_from_str(STR("mine")), OUTPUT_KEEP, &err));
    assert_false(store_writer_finish(w, &p, &err));
    Bytes content;
    assert_true(os_read_file(&arena, path, 100, &content, &err));
    assert_true(bytes_equal(content, "mine", 4));
    unlink(part_path().ptr);
}

static void cut_at_each_byte_it_gives_its_whole_part_or_an_error(void **state)
{
    (void)state;
    fill(60);
    write_profile();
    Bytes whole;
    assert_true(os_read_file(&arena, path, SIZE_MAX, &whole, &err));
    size_t samples_before = 0;
    for (size_t len = 0; len < whole.len; len++) {
        uint8_t *copy = malloc(len ? len : 1); // its own size, for the sanitizer
        bytes_copy(copy, bytes_slice(whole, 0, len));
        err = (Error){0};
        if (store_read(bytes_over(copy, len), &q, &err)) {
            assert_true(profile_fact(&q, STR(FACT_INCOMPLETE)).len > 0);
            assert_true(q.samples.stack.len >= samples_before);
            samples_before = q.samples.stack.len;
            profile_deinit(&q);
        } else {
            assert_true(err.text[0] != '\0');
            assert_true(len < 16);
        }
        free(copy);
    }
    assert_int_equal(samples_before, 60);
}

static void a_flipped_bit_never_passes_as_a_whole_recording(void **state)
{
    (void)state;
    fill(20);
    write_profile();
    Bytes whole;
    assert_true(os_read_file(&arena, path, SIZE_MAX, &whole, &err));
    uint8_t *bytes = malloc(whole.len);
    bytes_copy(bytes, whole);
    for (size_t bit = 0; bit < whole.len * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (store_read(bytes_over(bytes, whole.len), &q, &err)) {
            assert_true(profile_fact(&q, STR(FACT_INCOMPLETE)).len > 0);
            assert_true(bit / 8 >= whole.len - 24); // the trailer says only "finished"
            profile_deinit(&q);
        }
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
}

static void a_newer_version_is_refused_by_name(void **state)
{
    (void)state;
    uint8_t head[16] = {0x89, 'A', 'S', 'S', 'A', 'Y', '\n', 0x1a, 99, 0, 0, 0};
    uint32_t checksum = (uint32_t)bytes_hash(bytes_over(head, 12));
    memcpy(head + 12, &checksum, 4);
    assert_false(store_read(bytes_over(head, 16), &p, &err));
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "99"));
}

static void unknown_encodings_and_types_are_in_the_error(void **state)
{
    (void)state;
    // A block of table 7 (processes): rows from 0, one row, one column: 1, encoding 77, one byte.
    const uint8_t payload[] = {0, 1, 1, 1, 77, 1, 0};
    uint8_t file[STORE_HEADER_LEN + STORE_BLOCK_HEAD_LEN + sizeof(payload)] = STORE_MAGIC;
    put_u32(file + 8, STORE_VERSION);
    put_u32(file + 12, (uint32_t)bytes_hash(bytes_over(file, 12)));
    uint8_t *head = file + STORE_HEADER_LEN;
    put_u16(head, TABLE_PROCESSES);
    put_u32(head + 4, sizeof(payload));
    put_u32(head + 8, sizeof(payload));
    put_u64(head + 16, store_checksum(bytes_over(head, 16), bytes_over(payload, sizeof(payload))));
    memcpy(head + STORE_BLOCK_HEAD_LEN, payload, sizeof(payload));
    assert_error(store_read(bytes_over(file, sizeof(file)), &q, &err), &err, ERROR_FORMAT,
                 "unknown encoding 77");
    // A block of a type that only a newer program knows and that must not be passed over.
    put_u16(head, 4711);
    put_u16(head + 2, STORE_FLAG_REQUIRED);
    put_u64(head + 16, store_checksum(bytes_over(head, 16), bytes_over(payload, sizeof(payload))));
    assert_error(store_read(bytes_over(file, sizeof(file)), &q, &err), &err, ERROR_FORMAT,
                 "block 0: unknown type 4711 at offset 0x10");
}

static void references_to_rows_that_are_not_there_are_refused(void **state)
{
    (void)state;
    fill(3);
    p.samples.stack.at[1].v = 1000000;
    write_profile();
    assert_false(read_file());
    assert_non_null(strstr(err.text, "samples"));
    p.samples.stack.at[1].v = 1;
    p.stacks.parent.at[1].v = 1;
    write_profile();
    assert_false(read_file());
    assert_non_null(strstr(err.text, "stacks"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_what_is_read),
        TEST(a_profile_without_samples_is_kept),
        TEST(several_flushes_give_the_same_profile),
        TEST(samples_that_were_dropped_after_a_flush_are_in_the_file),
        TEST(an_unfinished_recording_opens_up_to_its_last_flush),
        TEST(an_existing_file_is_kept_unless_forced),
        TEST(a_file_that_appears_meanwhile_is_not_replaced),
        TEST(cut_at_each_byte_it_gives_its_whole_part_or_an_error),
        TEST(a_flipped_bit_never_passes_as_a_whole_recording),
        TEST(a_newer_version_is_refused_by_name),
        TEST(references_to_rows_that_are_not_there_are_refused),
        TEST(unknown_encodings_and_types_are_in_the_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
