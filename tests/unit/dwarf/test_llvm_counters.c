// SPDX-License-Identifier: Apache-2.0
// Counters of profiles in debug information, built here byte by byte.

#include "dwarf/dwarf.h"
#include "harness.h"

// 1: unit, 2: function {name, low_pc}, 3: variable {name, location}, 4: annotation with a
// text, 5: with 8 bytes, 6: with a LEB128, 7: block.
static const uint8_t abbrev[] = {
    1, 0x11, 1,    0,    0,                                  //
    2, 0x2e, 1,    0x03, 0x08, 0x11, 0x01, 0,    0,          //
    3, 0x34, 1,    0x03, 0x08, 0x02, 0x18, 0,    0,          //
    4, 0x80, 0xc0, 0x01, 0,    0x03, 0x08, 0x1c, 0x08, 0, 0, //
    5, 0x80, 0xc0, 0x01, 0,    0x03, 0x08, 0x1c, 0x07, 0, 0, //
    6, 0x80, 0xc0, 0x01, 0,    0x03, 0x08, 0x1c, 0x0f, 0, 0, //
    7, 0x0b, 1,    0,    0,    0,
};

// The head of a unit, a function at 0x1122, and its counters at 0x4000.
#define UNIT                                                                                       \
    "\4\0\0\0\0\0\10"                                                                              \
    "\1"
#define FUNCTION                                                                                   \
    "\2"                                                                                           \
    "f\0"                                                                                          \
    "\x22\x11\0\0\0\0\0\0"
#define VARIABLE                                                                                   \
    "\3"                                                                                           \
    "__profc_f\0"                                                                                  \
    "\11\3\0\x40\0\0\0\0\0\0"
#define NAME                                                                                       \
    "\4"                                                                                           \
    "Function Name\0"                                                                              \
    "a.c:f\0"
#define HASH                                                                                       \
    "\5"                                                                                           \
    "CFG Hash\0"                                                                                   \
    "\1\2\3\4\5\6\7\x88"
#define COUNT                                                                                      \
    "\6"                                                                                           \
    "Num Counters\0"                                                                               \
    "\x83\1"
#define END "\0"

typedef struct Given {
    size_t count;
    DwarfCounters last;
} Given;

static void take(void *ctx, const DwarfCounters *c)
{
    Given *g = ctx;
    g->count++;
    g->last = *c;
}

// What a unit of these bytes gives; the number that was left out.
static size_t read_unit(const char *text, size_t len, Given *ret)
{
    uint8_t info[512];
    uint32_t size = (uint32_t)len;
    DwarfSections s = {.abbrev = bytes_over(abbrev, sizeof(abbrev))};
    DwarfFile *f;
    Error err;
    size_t left_out = 0;
    assert_true(len + 4 <= sizeof(info));
    memcpy(info, &size, 4);
    memcpy(info + 4, text, len);
    s.info = bytes_over(info, len + 4);
    *ret = (Given){0};
    if (!dwarf_open(&s, NULL, &f, &err))
        return 0;
    if (dwarf_unit_count(f))
        left_out = dwarf_unit_counters(f, 0, take, ret);
    dwarf_close(f);
    return left_out;
}

#define READ(text, given) read_unit(text, sizeof(text) - 1, given)

static void annotated_counters_are_given(void **state)
{
    (void)state;
    Given g;
    assert_int_equal(READ(UNIT FUNCTION VARIABLE NAME HASH COUNT END END END, &g), 0);
    assert_int_equal(g.count, 1);
    assert_int_equal(g.last.address, 0x4000);
    assert_int_equal(g.last.count, 131);
    assert_int_equal(g.last.low, 0x1122);
    assert_true(g.last.hash == 0x8807060504030201);
}

static void counters_of_which_something_is_missing_are_counted(void **state)
{
    (void)state;
    Given g;
    assert_int_equal(READ(UNIT FUNCTION VARIABLE NAME HASH END END END, &g), 1);
    assert_int_equal(
        READ(UNIT FUNCTION VARIABLE NAME COUNT END VARIABLE NAME HASH COUNT END END END, &g), 1);
    assert_int_equal(g.count, 1);
    assert_int_equal(READ(UNIT FUNCTION VARIABLE HASH COUNT END END END, &g), 1);
    // A location that is not an address.
    assert_int_equal(READ(UNIT FUNCTION "\3"
                                        "__profc_f\0"
                                        "\2\x91\x10" NAME HASH COUNT END END END,
                          &g),
                     1);
    assert_int_equal(g.count, 0);
}

static void variables_elsewhere_are_none(void **state)
{
    (void)state;
    Given g;
    // In no function, in a block of one, of another name, and annotations of a function.
    assert_int_equal(READ(UNIT VARIABLE NAME HASH COUNT END END, &g), 0);
    assert_int_equal(g.count, 0);
    assert_int_equal(READ(UNIT FUNCTION "\7" VARIABLE NAME HASH COUNT END END END END, &g), 0);
    assert_int_equal(g.count, 0);
    assert_int_equal(READ(UNIT FUNCTION "\3"
                                        "profc\0"
                                        "\11\3\0\x40\0\0\0\0\0\0" NAME HASH COUNT END END END,
                          &g),
                     0);
    assert_int_equal(g.count, 0);
    assert_int_equal(READ(UNIT FUNCTION NAME HASH COUNT END END, &g), 0);
    assert_int_equal(g.count, 0);
    // Behind a block the function's own are its own again.
    assert_int_equal(READ(UNIT FUNCTION "\7" END VARIABLE NAME HASH COUNT END END END, &g), 0);
    assert_int_equal(g.count, 1);
}

static void a_unit_that_is_cut_gives_what_is_whole(void **state)
{
    (void)state;
    static const char whole[] = UNIT FUNCTION VARIABLE NAME HASH COUNT END END END;
    static const size_t closed = sizeof(UNIT FUNCTION VARIABLE NAME HASH COUNT END) - 1;
    for (size_t cut = 0; cut < sizeof(whole); cut++) {
        Given g;
        assert_int_equal(read_unit(whole, cut, &g), 0);
        assert_int_equal(g.count, cut >= closed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotated_counters_are_given),
        cmocka_unit_test(counters_of_which_something_is_missing_are_counted),
        cmocka_unit_test(variables_elsewhere_are_none),
        cmocka_unit_test(a_unit_that_is_cut_gives_what_is_whole),
    };
    return RUN_TESTS(tests);
}
