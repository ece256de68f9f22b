// SPDX-License-Identifier: Apache-2.0
// Functions of V8 in a process that is not there.

#include "harness.h"

#include "fake_memory.h"
#include "runtimes/v8.h"

enum {
    TYPE_ONE_BYTE = 0x28, // a sequential string of one byte a character
    TYPE_CONS = 0x21,
    TYPE_SHARED = 0x100,
    TYPE_SCRIPT,
    TYPE_SCOPE,
    TYPE_OTHER,
    // Offsets in the memory.
    MAPS = 0,
    FUNCTION = 0x400,
    SHARED = 0x500,
    SCRIPT = 0x600,
    SCOPE = 0x700,
    NAME = 0x900,
    FILE_NAME = 0xa00,
    FRAME = 0xc00,
};

static const V8 v8 = {.constant = {[V8_FP_FUNCTION] = -16,
                                   [V8_FP_CONTEXT] = -8,
                                   [V8_OBJECT_MAP] = 0,
                                   [V8_MAP_TYPE] = 12,
                                   [V8_FUNCTION_SHARED] = 24,
                                   [V8_SHARED_NAME] = 8,
                                   [V8_SHARED_SCRIPT] = 16,
                                   [V8_SCRIPT_NAME] = 16,
                                   [V8_STRING_LENGTH] = 12,
                                   [V8_ONE_BYTE_CHARS] = 16,
                                   [V8_TWO_BYTE_CHARS] = 16,
                                   [V8_CONS_FIRST] = 16,
                                   [V8_CONS_SECOND] = 24,
                                   [V8_THIN_ACTUAL] = 16,
                                   [V8_TYPE_SHARED] = TYPE_SHARED,
                                   [V8_TYPE_SCRIPT] = TYPE_SCRIPT,
                                   [V8_TYPE_SCOPE_INFO] = TYPE_SCOPE,
                                   [V8_FIRST_NONSTRING] = 0x80,
                                   [V8_REPRESENTATION_MASK] = 7,
                                   [V8_ENCODING_MASK] = 8,
                                   [V8_ONE_BYTE_TAG] = 8,
                                   [V8_SEQ_TAG] = 0,
                                   [V8_CONS_TAG] = 1,
                                   [V8_THIN_TAG] = 5,
                                   [V8_SCOPE_FIRST_VARS] = 3,
                                   [V8_SCOPE_LOCALS] = 2},
                      .scope_header = 8};

static FakeMemory memory;

// An object with a map of that type; its tagged address.
static uint64_t object(size_t at, uint16_t type)
{
    uint64_t map = fake_put(&memory, MAPS + (size_t)(type & 0xff) * 16 % 0x300, 0, 8) + 1;
    fake_put(&memory, (size_t)(map - 1 - FAKE_BASE) + 12, type, 2);
    return fake_put(&memory, at, map, 8) + 1;
}

static uint64_t string(size_t at, const char *text)
{
    uint64_t s = object(at, TYPE_ONE_BYTE);
    fake_put(&memory, at + 12, strlen(text), 4);
    fake_text(&memory, at + 16, text);
    return s;
}

// A function "walk" of /app/a.js; its name stands in a ScopeInfo behind 2 locals.
static uint64_t make_function(void)
{
    memory = (FakeMemory){0};
    uint64_t function = object(FUNCTION, TYPE_OTHER), shared = object(SHARED, TYPE_SHARED);
    uint64_t script = object(SCRIPT, TYPE_SCRIPT), scope = object(SCOPE, TYPE_SCOPE);
    uint64_t name = string(NAME, "walk"), file = string(FILE_NAME, "/app/a.js");
    fake_put(&memory, FUNCTION + 24, shared, 8);
    fake_put(&memory, SHARED + 8, scope, 8);
    fake_put(&memory, SHARED + 16, script, 8);
    fake_put(&memory, SCRIPT + 16, file, 8);
    fake_put(&memory, SCOPE + 8 + 16, 2ull << 32, 8);
    fake_put(&memory, SCOPE + 8 + 8 * (3 + 4) + 8, name, 8);
    fake_put(&memory, FILE_NAME + 0x100, 0, 8);
    return function;
}

static void check_name(uint64_t function, const char *want, const char *want_script)
{
    StrBuf name = {0}, script = {0};
    ProcessMemory m = fake_memory(&memory);
    assert_true(v8_function_name(&v8, &m, function, &name, &script));
    assert_str(strbuf_str(&name), want);
    assert_str(strbuf_str(&script), want_script);
    strbuf_deinit(&name);
    strbuf_deinit(&script);
}

static void the_name_stands_in_the_scope_info(void **state)
{
    (void)state;
    check_name(make_function(), "walk", "/app/a.js");
}

static void a_name_without_a_scope_is_a_string_of_parts(void **state)
{
    (void)state;
    uint64_t function = make_function();
    uint64_t whole = object(SCOPE + 0x100, TYPE_CONS);
    fake_put(&memory, SCOPE + 0x110, string(NAME, "get "), 8);
    fake_put(&memory, SCOPE + 0x118, string(NAME + 0x80, "size"), 8);
    fake_put(&memory, SHARED + 8, whole, 8);
    check_name(function, "get size", "/app/a.js");
}

static void a_function_without_a_name_is_anonymous(void **state)
{
    (void)state;
    uint64_t function = make_function();
    fake_put(&memory, SHARED + 8, 0, 8);
    check_name(function, "(anonymous)", "/app/a.js");
}

static void a_string_that_contains_itself_ends(void **state)
{
    (void)state;
    uint64_t function = make_function(), whole = object(SCOPE + 0x100, TYPE_CONS);
    fake_put(&memory, SCOPE + 0x110, whole, 8);
    fake_put(&memory, SCOPE + 0x118, whole, 8);
    fake_put(&memory, SHARED + 8, whole, 8);
    check_name(function, "(anonymous)", "/app/a.js");
}

// Each part consists of the next one twice, and the last is empty: 131 071 strings, of 17 objects.
static void a_string_of_endless_parts_is_left(void **state)
{
    (void)state;
    enum { PARTS = 0x1000, DEPTH = 16, READS_MAX = 1000 };
    uint64_t function = make_function(), below = string(PARTS, "");
    for (size_t i = 1; i <= DEPTH; i++) {
        size_t at = PARTS + 0x40 * i;
        uint64_t part = object(at, TYPE_CONS);
        fake_put(&memory, at + 16, below, 8);
        fake_put(&memory, at + 24, below, 8);
        below = part;
    }
    fake_put(&memory, SHARED + 8, below, 8);
    check_name(function, "(anonymous)", "/app/a.js");
    assert_true(memory.reads < READS_MAX);
}

static void what_is_no_function_has_no_name(void **state)
{
    (void)state;
    uint64_t function = make_function();
    StrBuf name = {0};
    ProcessMemory m = fake_memory(&memory);
    assert_false(v8_function_name(&v8, &m, function + 1, &name, NULL)); // no tagged pointer
    object(SHARED, TYPE_OTHER);
    assert_false(v8_function_name(&v8, &m, function, &name, NULL));
    make_function();
    object(SCRIPT, TYPE_OTHER); // V8's own functions have no script
    assert_false(v8_function_name(&v8, &m, function, &name, NULL));
    assert_int_equal(name.len, 0);
    strbuf_deinit(&name);
}

static void every_read_may_fail(void **state)
{
    (void)state;
    uint64_t function = make_function();
    unsigned whole = 0;
    for (memory.fail = 1; memory.fail < 100 && !whole; memory.fail++) {
        StrBuf name = {0}, script = {0};
        ProcessMemory m = fake_memory(&memory);
        bool ok = v8_function_name(&v8, &m, function, &name, &script);
        assert_true(ok == (name.len > 0));
        if (ok && str_equal(strbuf_str(&name), STR("walk")))
            whole = memory.fail;
        strbuf_deinit(&name);
        strbuf_deinit(&script);
    }
    assert_true(whole > 8);
}

static void frames_of_functions_have_a_context(void **state)
{
    (void)state;
    uint64_t function = make_function(), found = 0, fp = FAKE_BASE + FRAME + 16;
    ProcessMemory m = fake_memory(&memory);
    fake_put(&memory, FRAME, function, 8);
    fake_put(&memory, FRAME + 8, FAKE_BASE + 0x801, 8);
    assert_true(v8_frame_function(&v8, &m, fp, &found));
    assert_int_equal(found, function);
    fake_put(&memory, FRAME + 8, 6ull << 1, 8); // the kind of another frame
    assert_false(v8_frame_function(&v8, &m, fp, &found));
    assert_false(v8_frame_function(&v8, &m, fp + 1, &found));
    assert_false(v8_frame_function(&v8, &m, 0, &found));
    assert_false(v8_frame_function(&v8, &m, FAKE_BASE + 8 * FAKE_BYTES, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_stands_in_the_scope_info),
        cmocka_unit_test(a_name_without_a_scope_is_a_string_of_parts),
        cmocka_unit_test(a_function_without_a_name_is_anonymous),
        cmocka_unit_test(a_string_that_contains_itself_ends),
        cmocka_unit_test(a_string_of_endless_parts_is_left),
        cmocka_unit_test(what_is_no_function_has_no_name),
        cmocka_unit_test(every_read_may_fail),
        cmocka_unit_test(frames_of_functions_have_a_context),
    };
    return RUN_TESTS(tests);
}
