// SPDX-License-Identifier: Apache-2.0
// disasm/x86_length against the whole decoder.

#include "harness.h"

#include "disasm/disasm.h"
#include "disasm/x86_length.h"

static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3, 0x64};
static const uint8_t rexes[] = {0, 0x40, 0x41, 0x48, 0x4f};

// Writes the instruction and fills up with `filler`, which is also its SIB byte.
static Bytes instruction(uint8_t to[16], uint8_t prefix, uint8_t rex, unsigned opcode,
                         uint8_t modrm, uint8_t filler)
{
    size_t len = 0;
    memset(to, filler, 16);
    if (prefix)
        to[len++] = prefix;
    if (rex)
        to[len++] = rex;
    if (opcode > 255)
        to[len++] = 0x0f;
    to[len++] = (uint8_t)opcode;
    to[len] = modrm;
    return bytes_over(to, 16);
}

static void check(Disasm *d, Arena *arena, Bytes code, size_t *known)
{
    DisasmInstruction whole;
    uint32_t common = x86_length_common(code);
    if (!common)
        return;
    ++*known;
    assert_true(disasm_next(d, arena, code, 0x1000, &whole));
    bool is_bad = str_equal(whole.text, STR("(bad)"));
    if (common == whole.length && !is_bad)
        return;
    for (size_t i = 0; i < code.len; i++)
        print_error("%02x ", code.ptr[i]);
    print_error("%u, is %u: %" STR_FMT "\n", common, whole.length, STR_ARG(whole.text));
    fail();
}

static void a_common_length_is_that_of_the_whole_decoder(void **state)
{
    (void)state;
    Arena own = {0};
    Disasm *d;
    uint8_t text[16];
    size_t known = 0;
    if (!disasm_open(&own, DISASM_X86_64, &d, NULL))
        skip();
    for (unsigned opcode = 0; opcode < 512; opcode++) {
        Arena arena = {0};
        for (size_t p = 0; p < ARRAY_LEN(prefixes); p++)
            for (size_t r = 0; r < ARRAY_LEN(rexes); r++)
                for (unsigned modrm = 0; modrm < 256; modrm++)
                    check(d, &arena,
                          instruction(text, prefixes[p], rexes[r], opcode, (uint8_t)modrm,
                                      modrm & 8 ? 0x25 : 0x64),
                          &known);
        arena_deinit(&arena);
    }
    // Were nothing known, nothing would be checked.
    assert_true(known > 100000);
    disasm_close(d);
    arena_deinit(&own);
}

static void what_may_be_cut_is_left_to_others(void **state)
{
    (void)state;
    static const uint8_t ret[X86_LENGTH_MAX] = {0xc3};
    assert_int_equal(x86_length_common(bytes_over(ret, X86_LENGTH_MAX)), 1);
    assert_int_equal(x86_length_common(bytes_over(ret, X86_LENGTH_MAX - 1)), 0);
    assert_int_equal(x86_length_common((Bytes){0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_length_is_that_of_the_whole_decoder),
        cmocka_unit_test(what_may_be_cut_is_left_to_others),
    };
    return RUN_TESTS(tests);
}
