// SPDX-License-Identifier: Apache-2.0
// Rows by number.

#include "harness.h"

#include "base/sort.h"
#include "base/table.h"

enum { COUNT = 5000 };

static SortRow rows[COUNT], spare[COUNT];

static void rows_are_in_order_of_their_keys_and_equal_ones_as_they_were(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (SortRow){hash_u64(i) >> (i % 3 * 20) & ~0xfull, i};
    const SortRow *sorted = sort_rows(rows, spare, COUNT);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        seen += sorted[i].row;
        assert_int_equal(sorted[i].key,
                         hash_u64(sorted[i].row) >> (sorted[i].row % 3 * 20) & ~0xfull);
        if (i == 0)
            continue;
        assert_true(sorted[i - 1].key <= sorted[i].key);
        if (sorted[i - 1].key == sorted[i].key)
            assert_true(sorted[i - 1].row < sorted[i].row);
    }
    assert_int_equal(seen, (uint64_t)COUNT * (COUNT - 1) / 2);
}

static void no_rows_and_equal_rows_stay_where_they_are(void **state)
{
    (void)state;
    assert_ptr_equal(sort_rows(rows, spare, 0), rows);
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (SortRow){7, i};
    assert_ptr_equal(sort_rows(rows, spare, COUNT), rows);
    assert_int_equal(rows[COUNT - 1].row, COUNT - 1);
}

static void a_partition_point_is_the_first_that_is_not_before(void **state)
{
    (void)state;
    static const int values[] = {1, 3, 3, 3, 8};
    static const size_t below[] = {0, 0, 1, 1, 4, 4, 4, 4, 4, 5};
    for (int wanted = 0; wanted < (int)ARRAY_LEN(below); wanted++)
        assert_int_equal(PARTITION_POINT(i, ARRAY_LEN(values), values[i] < wanted), below[wanted]);
    assert_int_equal(PARTITION_POINT(i, 0, values[i] < 9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_order_of_their_keys_and_equal_ones_as_they_were),
        cmocka_unit_test(no_rows_and_equal_rows_stay_where_they_are),
        cmocka_unit_test(a_partition_point_is_the_first_that_is_not_before),
    };
    return RUN_TESTS(tests);
}
