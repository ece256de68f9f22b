// SPDX-License-Identifier: Apache-2.0
// Notes and counts of gcc, built here in the forms of gcc 4.2 to 15 and in both byte
// orders, and the solving of flow graphs.

#include "harness.h"

#include "base/strbuf.h"
#include "gcov/gcov.h"

typedef struct Form {
    uint32_t version; // 1202 for gcc 12.2
    bool big;
} Form;

static const Form forms[] = {{402, false}, {406, true},  {407, false},  {408, true},
                             {800, false}, {903, true},  {1102, false}, {1202, false},
                             {1202, true}, {1501, false}};

static void put(StrBuf *b, Form f, uint32_t v)
{
    if (f.big)
        v = __builtin_bswap32(v);
    strbuf_add_bytes(b, bytes_over(&v, sizeof(v)));
}

static void put_version(StrBuf *b, Form f)
{
    uint32_t major = f.version / 100, minor = f.version % 100;
    uint32_t first = major >= 8 ? 'A' + major / 10 : '0' + major;
    uint32_t second = major >= 8 ? '0' + major % 10 : '0' + minor / 10;
    put(b, f, first << 24 | second << 16 | ('0' + minor % 10) << 8 | '*');
}

// Length in bytes with the NUL since gcc 12; before in words, padded.
static void put_text(StrBuf *b, Form f, const char *text)
{
    size_t len = strlen(text) + 1, padded = f.version >= 1200 ? len : align_up(len, 4);
    put(b, f, (uint32_t)(f.version >= 1200 ? len : padded / 4));
    strbuf_add(b, str_from_c(text));
    strbuf_add_repeated(b, '\0', padded - len + 1);
}

static void put_record(StrBuf *b, Form f, uint32_t tag, const StrBuf *body)
{
    assert(f.version >= 1200 || body->len % 4 == 0);
    put(b, f, tag);
    put(b, f, (uint32_t)(f.version >= 1200 ? body->len : body->len / 4));
    strbuf_add(b, strbuf_str(body));
}

enum { TAG_FUNCTION = 0x01000000, TAG_BLOCKS = 0x01410000, TAG_ARCS = 0x01430000 };
enum { TAG_LINES = 0x01450000, TAG_COUNTERS = 0x01a10000, TAG_CONDITIONS = 0x01470000 };
enum { STAMP = 0x51a3, IDENT = 77, LINES_SUM = 5, GRAPH_SUM = 6 };

static void put_function(StrBuf *b, Form f)
{
    StrBuf body = {0};
    put(&body, f, IDENT);
    put(&body, f, LINES_SUM);
    if (f.version >= 407)
        put(&body, f, GRAPH_SUM);
    put_text(&body, f, "pick");
    if (f.version >= 800)
        put(&body, f, 0); // not artificial
    put_text(&body, f, "pick.c");
    put(&body, f, 10);
    if (f.version >= 800) {
        put(&body, f, 5);
        put(&body, f, 14);
        if (f.version >= 900)
            put(&body, f, 2); // end column: left unread
    }
    put_record(b, f, TAG_FUNCTION, &body);
    strbuf_deinit(&body);
}

static void put_arcs(StrBuf *b, Form f, uint32_t from, const uint32_t *targets_and_flags, size_t n)
{
    StrBuf body = {0};
    put(&body, f, from);
    for (size_t i = 0; i < 2 * n; i++)
        put(&body, f, targets_and_flags[i]);
    put_record(b, f, TAG_ARCS, &body);
    strbuf_deinit(&body);
}

// Since gcc 4.8 the exit is block 1, before it was the last.
static uint32_t renumber(Form f, uint32_t block)
{
    static const uint32_t old[] = {0, 5, 1, 2, 3, 4};
    return f.version < 408 ? old[block] : block;
}

// An if with an else: 0 entry, 2 condition, 3 and 4 sides, 5 join, 1 exit.
static void build_notes(StrBuf *b, Form f)
{
    StrBuf body = {0};
    strbuf_clear(b);
    put(b, f, 0x67636e6f);
    put_version(b, f);
    put(b, f, STAMP);
    if (f.version >= 1200)
        put(b, f, 0xcafe);
    if (f.version >= 900)
        put_text(b, f, "/src");
    if (f.version >= 800)
        put(b, f, 1);
    put_function(b, f);
    for (unsigned i = 0; i < (f.version >= 800 ? 1u : 6u); i++)
        put(&body, f, f.version >= 800 ? 6 : 0);
    put_record(b, f, TAG_BLOCKS, &body);
    static const uint32_t arcs[][3] = {{0, 2, GCOV_ARC_ON_TREE | GCOV_ARC_FALL_THROUGH},
                                       {2, 3, GCOV_ARC_FALL_THROUGH},
                                       {2, 4, GCOV_ARC_ON_TREE},
                                       {3, 5, GCOV_ARC_ON_TREE | GCOV_ARC_FALL_THROUGH},
                                       {4, 5, GCOV_ARC_FALL_THROUGH},
                                       {5, 1, GCOV_ARC_ON_TREE | GCOV_ARC_FALL_THROUGH}};
    for (size_t i = 0, n; i < ARRAY_LEN(arcs); i += n) {
        uint32_t out[4];
        for (n = 0; i + n < ARRAY_LEN(arcs) && arcs[i + n][0] == arcs[i][0]; n++) {
            out[2 * n] = renumber(f, arcs[i + n][1]);
            out[2 * n + 1] = arcs[i + n][2];
        }
        put_arcs(b, f, renumber(f, arcs[i][0]), out, n);
    }
    strbuf_clear(&body);
    put(&body, f, renumber(f, 3));
    put(&body, f, 0);
    put_text(&body, f, "pick.h");
    put(&body, f, 12);
    put(&body, f, 13);
    put(&body, f, 0);
    put(&body, f, 0); // the empty name ends the list
    put_record(b, f, TAG_LINES, &body);
    strbuf_deinit(&body);
}

// Counts of the two arcs off the tree: condition to side, other side to join.
static void build_counts(StrBuf *b, Form f, uint32_t graph, uint64_t first, uint64_t second)
{
    StrBuf body = {0};
    strbuf_clear(b);
    put(b, f, 0x67636461);
    put_version(b, f);
    put(b, f, STAMP);
    if (f.version >= 1200)
        put(b, f, 0xcafe);
    put(&body, f, 3); // runs
    put(&body, f, 0);
    put_record(b, f, 0xa1000000, &body);
    strbuf_clear(&body);
    put(&body, f, IDENT);
    put(&body, f, LINES_SUM);
    if (f.version >= 407)
        put(&body, f, graph);
    put_record(b, f, TAG_FUNCTION, &body);
    strbuf_clear(&body);
    put(&body, f, (uint32_t)first);
    put(&body, f, (uint32_t)(first >> 32));
    put(&body, f, (uint32_t)second);
    put(&body, f, (uint32_t)(second >> 32));
    put_record(b, f, TAG_COUNTERS, &body);
    put(b, f, 0); // the end
    strbuf_deinit(&body);
}

typedef struct Fixture {
    Arena arena;
    StrBuf notes_file, counts_file;
    GcovNotes notes;
    Error err;
} Fixture;

static bool parse_notes(Fixture *f)
{
    return gcov_notes_parse(&f->notes, bytes_from_str(strbuf_str(&f->notes_file)), &f->err);
}

static void open_notes(Fixture *f, Form form)
{
    *f = (Fixture){0};
    build_notes(&f->notes_file, form);
    assert_ok(parse_notes(f), &f->err);
}

// Reads the graph of the only function, with the counts that it has by now.
static GcovFunction *read_graph(Fixture *f)
{
    assert_int_equal(f->notes.functions.len, 1);
    GcovFunction *fn = &f->notes.functions.at[0];
    gcov_graphs_clear(&f->notes);
    assert_ok(gcov_graph_read(&f->notes, fn, &f->err), &f->err);
    return fn;
}

static bool add_counts(Fixture *f)
{
    return gcov_data_add(&f->notes, bytes_from_str(strbuf_str(&f->counts_file)), &f->err);
}

static void teardown(Fixture *f)
{
    strbuf_deinit(&f->notes_file);
    strbuf_deinit(&f->counts_file);
    gcov_notes_deinit(&f->notes);
    arena_deinit(&f->arena);
}

static void every_form_of_notes_and_counts_gives_the_same_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        Fixture f;
        open_notes(&f, forms[i]);
        assert_int_equal(f.notes.version, forms[i].version);
        assert_str(f.notes.folder, forms[i].version >= 900 ? "/src" : "");
        GcovFunction *fn = read_graph(&f);
        assert_str(fn->name, "pick");
        assert_str(f.notes.files.at[fn->file], "pick.c");
        assert_int_equal(fn->block_count, 6);
        assert_int_equal(fn->end_line, forms[i].version >= 800 ? 14 : 10);
        assert_int_equal(f.notes.places.len, 2);
        assert_str(f.notes.files.at[f.notes.places.at[1].file], "pick.h");
        assert_int_equal(f.notes.places.at[1].line, 13);

        build_counts(&f.counts_file, forms[i], GRAPH_SUM, 5ull << 32 | 1, 7);
        assert_ok(add_counts(&f), &f.err);
        assert_ok(add_counts(&f), &f.err); // a second run
        assert_true(fn->has_counts);
        assert_false(fn->is_zero);
        assert_true(read_graph(&f) == fn);
        assert_ok(gcov_solve(&f.arena, &f.notes, fn, &f.err), &f.err);
        uint64_t side = 2 * (5ull << 32 | 1), other = 14;
        assert_true(fn->blocks[0] == side + other);
        assert_true(fn->blocks[renumber(forms[i], 3)] == side);
        assert_true(fn->blocks[renumber(forms[i], 4)] == other);
        assert_true(fn->blocks[fn->exit_block] == side + other);
        assert_true(f.notes.arcs.at[0].is_unconditional);
        assert_false(f.notes.arcs.at[1].is_unconditional);
        teardown(&f);
    }
}

static void a_negative_length_says_that_all_counters_are_zero(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 0, 0);
    int32_t length = -16; // two counters of 8 bytes, not written
    memcpy(f.counts_file.ptr + f.counts_file.len - 24, &length, sizeof(length));
    f.counts_file.len -= 16;
    assert_ok(add_counts(&f), &f.err);
    GcovFunction *fn = read_graph(&f);
    assert_true(fn->has_counts);
    assert_true(fn->is_zero);
    assert_ok(gcov_solve(&f.arena, &f.notes, fn, &f.err), &f.err);
    assert_int_equal(fn->blocks[0], 0);
    teardown(&f);
}

static void counts_of_another_compilation_are_not_added(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 1, 2);
    f.counts_file.ptr[8] ^= 1; // the stamp
    assert_error(add_counts(&f), &f.err, ERROR_NOT_FOUND, "stamp");
    assert_false(f.notes.functions.at[0].has_counts);
    build_counts(&f.counts_file, form, GRAPH_SUM + 1, 1, 2);
    assert_ok(add_counts(&f), &f.err);
    assert_int_equal(f.notes.mismatched, 1);
    assert_false(f.notes.functions.at[0].has_counts);
    teardown(&f);
}

static void clang_of_before_2013_has_one_stamp_which_pairs_no_files(void **state)
{
    (void)state;
    Form form = {402, false};
    uint32_t llvm = 0x4c4c564d;
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 1, 2);
    Bytes notes = bytes_from_str(strbuf_str(&f.notes_file));
    Bytes counts = bytes_from_str(strbuf_str(&f.counts_file));
    assert_true(gcov_same_build(notes, counts));
    assert_true(f.notes.sums_blocks);
    memcpy(f.notes_file.ptr + 8, &llvm, sizeof(llvm));
    memcpy(f.counts_file.ptr + 8, &llvm, sizeof(llvm));
    assert_false(gcov_same_build(notes, counts));
    assert_ok(parse_notes(&f), &f.err);
    assert_true(f.notes.is_of_llvm);
    assert_false(f.notes.sums_blocks);
    assert_ok(add_counts(&f), &f.err);
    assert_true(f.notes.functions.at[0].has_counts);
    teardown(&f);
}

static void records_of_other_kinds_are_passed_over_and_counted(void **state)
{
    (void)state;
    Form form = {1501, false};
    Fixture f = {0};
    StrBuf body = {0};
    build_notes(&f.notes_file, form);
    put(&body, form, 1);
    put_record(&f.notes_file, form, TAG_CONDITIONS, &body);
    assert_ok(parse_notes(&f), &f.err);
    assert_int_equal(f.notes.skipped_records, 1);
    strbuf_deinit(&body);
    teardown(&f);
}

static void records_of_unknown_kinds_are_refused_by_name(void **state)
{
    (void)state;
    Form form = {1501, false};
    Fixture f = {0};
    StrBuf body = {0};
    build_notes(&f.notes_file, form);
    put(&body, form, 1);
    put_record(&f.notes_file, form, 0x01530000, &body);
    assert_error(parse_notes(&f), &f.err, ERROR_FORMAT, "record 0x01530000");
    assert_non_null(strstr(f.err.text, "gcc 15.1"));
    assert_non_null(strstr(f.err.hint, "gcov"));
    teardown(&f);

    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 1, 2);
    f.counts_file.len -= 4; // the end
    put_record(&f.counts_file, form, 0x01b20000, &body);
    put(&f.counts_file, form, 0);
    assert_error(add_counts(&f), &f.err, ERROR_FORMAT, "record 0x01b20000");
    assert_true(f.notes.functions.at[0].has_counts); // it stands in front
    strbuf_deinit(&body);
    teardown(&f);
}

static void counts_of_functions_that_the_notes_do_not_have_are_told(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 1, 2);
    size_t ident = 16 + 16 + 8; // behind the header and the summary
    assert_int_equal(f.counts_file.ptr[ident], IDENT);
    f.counts_file.ptr[ident] = IDENT + 1;
    assert_ok(add_counts(&f), &f.err);
    assert_int_equal(f.notes.mismatched, 1);
    teardown(&f);
}

static void more_counts_than_arcs_are_refused(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 1, 2);
    uint32_t length = 24;
    memcpy(f.counts_file.ptr + f.counts_file.len - 24, &length, sizeof(length));
    strbuf_add(&f.counts_file, STR("\0\0\0\0\0\0\0\0"));
    assert_ok(add_counts(&f), &f.err);
    assert_error(gcov_graph_read(&f.notes, &f.notes.functions.at[0], &f.err), &f.err, ERROR_FORMAT,
                 "more counts");
    teardown(&f);
}

static void an_unknown_writer_is_refused_by_name(void **state)
{
    (void)state;
    Fixture f = {0};
    build_notes(&f.notes_file, (Form){1700, false});
    assert_error(parse_notes(&f), &f.err, ERROR_UNSUPPORTED, "gcc 17.0");
    teardown(&f);
}

static void arcs_to_blocks_that_are_not_there_are_refused(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f = {0};
    build_notes(&f.notes_file, form);
    put_arcs(&f.notes_file, form, 2, (const uint32_t[]){6, 0}, 1);
    assert_ok(parse_notes(&f), &f.err);
    GcovFunction *fn = &f.notes.functions.at[0];
    assert_error(gcov_graph_read(&f.notes, fn, &f.err), &f.err, ERROR_FORMAT, "arc of a block");
    assert_int_equal(fn->block_count, 0);
    assert_int_equal(f.notes.arcs.len, 0);
    teardown(&f);
}

static void fewer_counts_than_arcs_are_refused(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 1, 2);
    uint32_t length = 8; // one counter, and the other is left behind it
    memcpy(f.counts_file.ptr + f.counts_file.len - 24, &length, sizeof(length));
    f.counts_file.len -= 8;
    memset(f.counts_file.ptr + f.counts_file.len - 4, 0, 4);
    assert_ok(add_counts(&f), &f.err);
    assert_error(gcov_graph_read(&f.notes, &f.notes.functions.at[0], &f.err), &f.err, ERROR_FORMAT,
                 "fewer counts");
    teardown(&f);
}

static void put_counted(StrBuf *b, Form form, uint32_t ident, uint64_t count)
{
    StrBuf body = {0};
    put(&body, form, ident);
    put(&body, form, LINES_SUM);
    put(&body, form, GRAPH_SUM);
    put_record(b, form, TAG_FUNCTION, &body);
    strbuf_clear(&body);
    put(&body, form, (uint32_t)count);
    put(&body, form, 0);
    put_record(b, form, TAG_COUNTERS, &body);
    strbuf_deinit(&body);
}

// One that was linked from another unit has an empty record, and the order may differ.
static void functions_are_found_behind_one_that_is_not_there(void **state)
{
    (void)state;
    Form form = {1202, false};
    StrBuf none = {0};
    Fixture f;
    open_notes(&f, form);
    for (uint32_t i = 1; i < 4; i++) {
        vec_push(NULL, &f.notes.functions, f.notes.functions.at[0]);
        vec_last(&f.notes.functions).ident = IDENT + i;
    }
    build_counts(&f.counts_file, form, GRAPH_SUM, 3, 4);
    f.counts_file.len -= 4; // the end
    put_record(&f.counts_file, form, TAG_FUNCTION, &none);
    put_counted(&f.counts_file, form, IDENT + 3, 8);
    put_counted(&f.counts_file, form, IDENT + 2, 9);
    put(&f.counts_file, form, 0);
    assert_ok(add_counts(&f), &f.err);
    assert_int_equal(f.notes.mismatched, 0);
    const GcovFunction *functions = f.notes.functions.at;
    assert_false(functions[1].has_counts);
    assert_int_equal(f.notes.counters.at[functions[2].counters_first], 9);
    assert_int_equal(f.notes.counters.at[functions[3].counters_first], 8);
    teardown(&f);
}

static void counts_before_a_cut_stay(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 3, 4);
    f.counts_file.len -= 4; // all but the end
    assert_error(gcov_data_add(&f.notes, bytes_from_str(strbuf_str(&f.counts_file)), &f.err),
                 &f.err, ERROR_FORMAT, "cut short");
    gcov_data_none(&f.notes);
    assert_true(f.notes.functions.at[0].has_counts);
    assert_false(f.notes.functions.at[0].is_zero);
    teardown(&f);
}

// Cut at each byte: refused, or the whole records in front; never read past the end.
static void files_cut_at_any_byte_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    build_counts(&f.counts_file, form, GRAPH_SUM, 3, 4);
    size_t refused = 0;
    for (size_t cut = 0; cut < f.notes_file.len; cut++) {
        // Of its own, so that a sanitizer sees a byte too far.
        char *copy = heap_alloc(cut);
        GcovNotes n = {0};
        memcpy(copy, f.notes_file.ptr, cut);
        if (!gcov_notes_parse(&n, bytes_over(copy, cut), &f.err))
            refused++;
        else
            for (size_t i = 0; i < n.functions.len; i++)
                (void)!gcov_graph_read(&n, &n.functions.at[i], &f.err);
        gcov_notes_deinit(&n);
        heap_free(copy);
    }
    assert_true(refused > f.notes_file.len / 2);
    for (size_t cut = 0; cut < f.counts_file.len; cut++) {
        char *copy = heap_alloc(cut);
        memcpy(copy, f.counts_file.ptr, cut);
        if (!gcov_data_add(&f.notes, bytes_over(copy, cut), &f.err))
            assert_true(f.err.text[0]);
        heap_free(copy);
    }
    teardown(&f);
}

static void a_graph_that_counts_do_not_determine_is_refused(void **state)
{
    (void)state;
    Form form = {1202, false};
    Fixture f;
    open_notes(&f, form);
    // Two blocks that only lead to each other, both arcs said to be on the tree.
    GcovFunction *fn = read_graph(&f);
    for (size_t i = 0; i < fn->arc_count; i++)
        f.notes.arcs.at[i].flags |= GCOV_ARC_ON_TREE;
    f.notes.arcs.at[1] = (GcovArc){.from = 3, .to = 4, .flags = GCOV_ARC_ON_TREE};
    f.notes.arcs.at[2] = (GcovArc){.from = 4, .to = 3, .flags = GCOV_ARC_ON_TREE};
    f.notes.arcs.at[3] = (GcovArc){.from = 3, .to = 4, .flags = GCOV_ARC_ON_TREE};
    f.notes.arcs.at[4] = (GcovArc){.from = 4, .to = 3, .flags = GCOV_ARC_ON_TREE};
    assert_error(gcov_solve(&f.arena, &f.notes, fn, &f.err), &f.err, ERROR_FORMAT, "'pick'");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_notes_and_counts_gives_the_same_blocks),
        cmocka_unit_test(a_negative_length_says_that_all_counters_are_zero),
        cmocka_unit_test(counts_of_another_compilation_are_not_added),
        cmocka_unit_test(clang_of_before_2013_has_one_stamp_which_pairs_no_files),
        cmocka_unit_test(records_of_other_kinds_are_passed_over_and_counted),
        cmocka_unit_test(records_of_unknown_kinds_are_refused_by_name),
        cmocka_unit_test(counts_of_functions_that_the_notes_do_not_have_are_told),
        cmocka_unit_test(more_counts_than_arcs_are_refused),
        cmocka_unit_test(an_unknown_writer_is_refused_by_name),
        cmocka_unit_test(arcs_to_blocks_that_are_not_there_are_refused),
        cmocka_unit_test(fewer_counts_than_arcs_are_refused),
        cmocka_unit_test(functions_are_found_behind_one_that_is_not_there),
        cmocka_unit_test(counts_before_a_cut_stay),
        cmocka_unit_test(files_cut_at_any_byte_are_read_as_far_as_they_go),
        cmocka_unit_test(a_graph_that_counts_do_not_determine_is_refused),
    };
    return RUN_TESTS(tests);
}
