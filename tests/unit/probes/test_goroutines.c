// SPDX-License-Identifier: Apache-2.0
// The version of Go that a file states, and where its goroutines have their numbers.

#include "harness.h"
#include "probes/goroutines.h"

// A section with this version, cut to `len` bytes.
static uint16_t offset_of(const char *version, uint8_t flags, size_t len)
{
    uint8_t info[128] = "\xff Go buildinf:\x08";
    info[15] = flags;
    info[32] = (uint8_t)strlen(version);
    memcpy(info + 33, version, strlen(version));
    return go_goid_offset_by_info(bytes_over(info, len));
}

static void known_versions_have_an_offset(void **state)
{
    (void)state;
    assert_int_equal(offset_of("go1.18", 2, 128), 152);
    assert_int_equal(offset_of("go1.22.1", 2, 128), 152);
    assert_int_equal(offset_of("go1.23", 2, 128), 160);
    assert_int_equal(offset_of("go1.24.9", 2, 128), 160);
    assert_int_equal(offset_of("go1.26.8", 2, 128), 152);
    assert_int_equal(offset_of("go1.26-devel_1a2b", 2, 128), 152);
}

static void others_have_none(void **state)
{
    (void)state;
    assert_int_equal(offset_of("go1.17.5", 2, 128), 0);
    assert_int_equal(offset_of("go1.99", 2, 128), 0);
    assert_int_equal(offset_of("go2.1", 2, 128), 0);
    assert_int_equal(offset_of("devel +1a2b", 2, 128), 0);
    assert_int_equal(offset_of("", 2, 128), 0);
    assert_int_equal(offset_of("go1.22", 0, 128), 0); // the version is elsewhere
    assert_int_equal(go_goid_offset_by_info(bytes_over("no Go at all, and as long as a head", 35)),
                     0);
}

static void cut_at_each_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < 33 + strlen("go1.2"); i++)
        assert_int_equal(offset_of("go1.22.1", 2, i), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_versions_have_an_offset),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(cut_at_each_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
