// SPDX-License-Identifier: Apache-2.0
// base/arena, vec, table, intern: memory and what is kept in it.

#include "harness.h"

#include "base/arena.h"
#include "base/intern.h"
#include "base/table.h"
#include "base/vec.h"

static Arena arena;

static int clear(void **state)
{
    (void)state;
    arena_deinit(&arena);
    assert_int_equal(arena.taken_bytes, 0);
    return 0;
}

static bool is_zero(const void *memory, size_t size)
{
    const uint8_t *p = memory;
    for (size_t i = 0; i < size; i++)
        if (p[i])
            return false;
    return true;
}

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 64, 1000, 16 * 1024, 32 * 1024, 40000, 3, 300000, 1};
    uint8_t *blocks[ARRAY_LEN(sizes)];
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        size_t align = (size_t)1 << i % 5;
        blocks[i] = arena_alloc(&arena, sizes[i], align);
        assert_int_equal((uintptr_t)blocks[i] % align, 0);
        assert_true(is_zero(blocks[i], sizes[i]));
        memset(blocks[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        assert_int_equal(blocks[i][0], i + 1);
        assert_int_equal(blocks[i][sizes[i] - 1], i + 1);
    }
    assert_int_equal((uintptr_t)arena_alloc(&arena, 100000, 64) % 64, 0);
    assert_true(arena.used_bytes <= arena.taken_bytes);
}

static void a_block_keeps_its_bytes_while_it_grows(void **state)
{
    (void)state;
    uint8_t *p = NULL;
    size_t size = 0;
    for (size_t next = 1; next < 1000000; next = next * 3 + 1) {
        p = arena_grow(&arena, p, size, next, 8);
        for (size_t i = 0; i < size; i += 97)
            assert_int_equal(p[i], 0x5a);
        assert_true(is_zero(p + size, next - size));
        memset(p, 0x5a, next);
        size = next;
        if (size % 2)
            arena_alloc(&arena, 5, 1); // so that it cannot always grow in place
    }
}

static void two_large_blocks_grow_in_turn(void **state)
{
    (void)state;
    uint32_t *a = arena_alloc(&arena, 40000, 4);
    uint32_t *b = arena_alloc(&arena, 40000, 4);
    a[0] = 1;
    b[0] = 2;
    a = arena_grow(&arena, a, 40000, 400000, 4);
    b = arena_grow(&arena, b, 40000, 4000000, 4);
    a = arena_grow(&arena, a, 400000, 4000000, 4);
    assert_int_equal(a[0], 1);
    assert_int_equal(b[0], 2);
    assert_int_equal(a[999999], 0);
}

static void copies_are_followed_by_a_nul(void **state)
{
    (void)state;
    Str s = arena_str(&arena, STR("abc"));
    assert_str(s, "abc");
    assert_int_equal(s.ptr[3], '\0');
    assert_string_equal(arena_c_str(&arena, (Str){0}), "");
    assert_str(arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
    Bytes b = arena_bytes(&arena, bytes_over("\1\2", 2));
    assert_true(bytes_equal(b, "\1\2", 2));
    assert_int_equal((uintptr_t)b.ptr % 8, 0);
}

static void a_vec_grows_in_an_arena_and_on_the_heap(void **state)
{
    (void)state;
    U32Vec in_arena = {0};
    U32Vec on_heap = {0};
    for (uint32_t i = 0; i < 20000; i++) {
        vec_push(&arena, &in_arena, i);
        vec_push(NULL, &on_heap, i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(in_arena.at[i], i);
        assert_int_equal(on_heap.at[i], i);
    }
    uint32_t *more = vec_extend(NULL, &on_heap, 3);
    assert_int_equal(on_heap.len, 20003);
    assert_true(is_zero(more, 3 * sizeof(*more)));
    assert_int_equal(vec_pop(&on_heap), 0);
    assert_int_equal(vec_last(&in_arena), 19999);
    vec_reserve(NULL, &on_heap, 100000);
    assert_true(on_heap.cap >= 120002);
    vec_free(&on_heap);
    assert_null(on_heap.at);
}

static bool has_row(const Table *t, uint64_t hash, uint32_t wanted)
{
    uint32_t row;
    for (TableProbe p = table_probe(t, hash); table_next(t, &p, &row);)
        if (row == wanted)
            return true;
    return false;
}

static void a_table_finds_every_row_also_of_equal_hashes(void **state)
{
    (void)state;
    Table t = {0};
    assert_false(has_row(&t, 1, 0));
    for (uint32_t i = 0; i < 5000; i++)
        table_insert(&t, i % 3 == 0 ? 42 : hash_u64(i), i);
    assert_int_equal(t.len, 5000);
    for (uint32_t i = 0; i < 5000; i += 7) {
        assert_true(has_row(&t, i % 3 == 0 ? 42 : hash_u64(i), i));
        assert_false(has_row(&t, hash_u64(i + 100000), i));
    }
    table_deinit(&t);
    assert_false(has_row(&t, 42, 0));
}

static void a_reserved_table_does_not_move(void **state)
{
    (void)state;
    Table t = {0};
    table_reserve(&t, 1000);
    const TableSlot *slots = t.slots;
    for (uint32_t i = 0; i < 1000; i++)
        table_insert(&t, hash_u64(i), i);
    assert_ptr_equal(t.slots, slots);
    table_deinit(&t);
}

static void equal_texts_share_a_number_in_order_of_first_use(void **state)
{
    (void)state;
    Intern in;
    intern_init(&in, &arena);
    assert_int_equal(intern_add(&in, STR("b")), 1);
    assert_int_equal(intern_add(&in, STR("a")), 2);
    assert_int_equal(intern_add(&in, STR("b")), 1);
    assert_int_equal(intern_add(&in, STR("")), 0);
    assert_int_equal(intern_add(&in, STR("b\0c")), 3);
    assert_str(intern_get(&in, 1), "b");
    intern_deinit(&in);
}

static void a_hundred_thousand_texts_stay_apart(void **state)
{
    (void)state;
    Intern in;
    intern_init(&in, &arena);
    char text[32];
    for (uint32_t i = 0; i < 100000; i++) {
        int len = snprintf(text, sizeof(text), "name %u", i);
        assert_int_equal(intern_add(&in, str_over(text, (size_t)len)), i + 1);
    }
    assert_str(intern_get(&in, 77778), "name 77777");
    assert_int_equal(intern_add(&in, STR("name 77777")), 77778);
    intern_deinit(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arena_memory_is_zeroed_aligned_and_apart, clear),
        cmocka_unit_test_teardown(a_block_keeps_its_bytes_while_it_grows, clear),
        cmocka_unit_test_teardown(two_large_blocks_grow_in_turn, clear),
        cmocka_unit_test_teardown(copies_are_followed_by_a_nul, clear),
        cmocka_unit_test_teardown(a_vec_grows_in_an_arena_and_on_the_heap, clear),
        cmocka_unit_test_teardown(a_table_finds_every_row_also_of_equal_hashes, clear),
        cmocka_unit_test_teardown(a_reserved_table_does_not_move, clear),
        cmocka_unit_test_teardown(equal_texts_share_a_number_in_order_of_first_use, clear),
        cmocka_unit_test_teardown(a_hundred_thousand_texts_stay_apart, clear),
    };
    return RUN_TESTS(tests);
}
