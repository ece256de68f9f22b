// SPDX-License-Identifier: Apache-2.0
// Branches come out by line and column, whatever their number.

#include "harness.h"

#include "coverage/llvm/branches.h"

enum { BRANCHES_MAX = 200 };

static void no_branches_are_no_array(void **state)
{
    (void)state;
    cover_branches_sort(NULL, 0); // a sanitizer says more
}

static void branches_of_any_number_are_sorted(void **state)
{
    (void)state;
    static CoverRegion region[BRANCHES_MAX];
    static CoverBranch branch[BRANCHES_MAX];
    uint32_t random = 1;
    for (size_t len = 1; len <= BRANCHES_MAX; len++) {
        for (size_t i = 0; i < len; i++) {
            random = random * 1664525 + 1013904223;
            region[i].column = random >> 8 & 15;
            branch[i] = (CoverBranch){.region = &region[i], .line = random >> 16 & 31};
        }
        cover_branches_sort(branch, len);
        for (size_t i = 1; i < len; i++) {
            assert_true(branch[i - 1].line <= branch[i].line);
            if (branch[i - 1].line == branch[i].line)
                assert_true(branch[i - 1].region->column <= branch[i].region->column);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_branches_are_no_array),
        cmocka_unit_test(branches_of_any_number_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
