// SPDX-License-Identifier: Apache-2.0
// CPython's frames, code objects and tables of lines, in a process that is not there.

#include "harness.h"

#include "fake_memory.h"
#include "runtimes/python.h"

enum {
    // Offsets in the memory.
    RUNTIME = 0,
    INTERPRETER = 0x100,
    STATE_A = 0x200,
    STATE_B = 0x300,
    CFRAME = 0x400,
    FRAMES = 0x500, // of 0x60 bytes each
    CODE = 0x800,
    NAME = 0xa00,
    FILE_NAME = 0xb00,
    LINES = 0xc00,
    CODE_TYPE = 0x1000,
};

static FakeMemory memory;

// Like CPython 3.11.
static const Python python = {.minor = 11,
                              .at = {.interpreters = 40,
                                     .threads = 16,
                                     .thread_next = 8,
                                     .thread_id = 152,
                                     .thread_native_id = 160,
                                     .thread_frame = 56,
                                     .cframe_frame = 8,
                                     .frame_previous = 48,
                                     .frame_code = 32,
                                     .frame_instruction = 56,
                                     .frame_entry = 68,
                                     .code_file = 112,
                                     .code_name = 128,
                                     .code_first_line = 72,
                                     .code_lines = 136,
                                     .code_bytes = 184,
                                     .text_ascii = 48,
                                     .text_wide = 72},
                              .entry = PYTHON_ENTRY_FIRST,
                              .entry_value = 1,
                              .code_mask = ~(uint64_t)0,
                              .runtime = FAKE_BASE + RUNTIME,
                              .code_type = FAKE_BASE + CODE_TYPE};

static void put_text(size_t at, const char *text)
{
    fake_put(&memory, at + 16, strlen(text), 8);
    fake_put(&memory, at + 32, 1 << 2 | 1 << 5 | 1 << 6, 4); // 1 byte a character, compact, ASCII
    fake_text(&memory, at + 48, text);
}

// Thread 7 is in walk, called by itself, which C code has called; thread 8 in nothing.
static void make_process(void)
{
    static const uint8_t lines[] = {0x80 | 13 << 3 | 1,
                                    2,
                                    0x80 | 10 << 3 | 0,
                                    1,
                                    1,
                                    0x80 | 15 << 3 | 0,
                                    0x80 | 14 << 3 | 0,
                                    3,
                                    0,
                                    1,
                                    1};
    memory = (FakeMemory){0};
    fake_put(&memory, RUNTIME + 40, FAKE_BASE + INTERPRETER, 8);
    fake_put(&memory, INTERPRETER + 16, FAKE_BASE + STATE_A, 8);
    fake_put(&memory, STATE_A + 8, FAKE_BASE + STATE_B, 8);
    fake_put(&memory, STATE_A + 160, 8, 8);
    fake_put(&memory, STATE_B + 160, 7, 8);
    fake_put(&memory, STATE_B + 56, FAKE_BASE + CFRAME, 8);
    fake_put(&memory, CFRAME + 8, FAKE_BASE + FRAMES, 8);
    for (size_t i = 0; i < 2; i++) {
        size_t frame = FRAMES + i * 0x60;
        fake_put(&memory, frame + 32, FAKE_BASE + CODE, 8);
        fake_put(&memory, frame + 48, i ? 0 : FAKE_BASE + FRAMES + 0x60, 8);
        fake_put(&memory, frame + 56, FAKE_BASE + CODE + 184 + 4 * i, 8);
        fake_put(&memory, frame + 68, i, 1);
        fake_put(&memory, frame + 72, 0, 8);
    }
    fake_put(&memory, CODE + 8, FAKE_BASE + CODE_TYPE, 8);
    fake_put(&memory, CODE + 72, 10, 4);
    fake_put(&memory, CODE + 112, FAKE_BASE + FILE_NAME, 8);
    fake_put(&memory, CODE + 128, FAKE_BASE + NAME, 8);
    fake_put(&memory, CODE + 136, FAKE_BASE + LINES, 8);
    put_text(NAME, "Tree.walk");
    put_text(FILE_NAME, "/app/a.py");
    fake_put(&memory, LINES + 16, sizeof(lines), 8);
    memcpy(memory.bytes + LINES + 32, lines, sizeof(lines));
    fake_put(&memory, 0x2000, 0, 8);
}

static void frames_of_a_thread_are_read_with_function_and_line(void **state)
{
    (void)state;
    make_process();
    ProcessMemory m = fake_memory(&memory);
    PythonFrame f[4];
    uint64_t thread = 0;
    StrBuf name = {0}, file = {0}, lines = {0};
    PythonCode code;
    assert_true(python_thread_find(&python, &m, 7, &thread));
    assert_int_equal(thread, FAKE_BASE + STATE_B);
    assert_int_equal(python_frames(&python, &m, thread, f, 4), 2);
    assert_int_equal(python_frames(&python, &m, thread, f, 1), 1);
    assert_int_equal(python_frames(&python, &m, thread, f, 4), 2);
    assert_false(python_is_entry(&python, &f[0]));
    assert_true(python_is_entry(&python, &f[1]));
    assert_true(python_code_read(&python, &m, f[0].code, &code));
    assert_true(python_code_name(&python, &m, &code, &name, &file));
    assert_true(python_code_lines(&m, &code, &lines));
    assert_str(strbuf_str(&name), "Tree.walk");
    assert_str(strbuf_str(&file), "/app/a.py");
    assert_int_equal(code.first_line, 10);
    Bytes table = bytes_from_str(strbuf_str(&lines));
    assert_int_equal(python_line(&python, &f[0], &code, table), 11);
    assert_int_equal(python_line(&python, &f[1], &code, table), 11 + 0);
    strbuf_deinit(&lines);
    assert_false(python_thread_find(&python, &m, 9, &thread));
    strbuf_deinit(&name);
    strbuf_deinit(&file);
}

// 3.14 keeps 2 bits of interning before the kind, its development versions 16.
static void texts_of_both_layouts_of_3_14_are_read(void **state)
{
    (void)state;
    static const uint32_t states[] = {2u | 1 << 2 | 1 << 5 | 1 << 6,
                                      2u | 1 << 16 | 1 << 19 | 1 << 20};
    Python p = python;
    p.minor = 14;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        make_process();
        fake_put(&memory, NAME + 32, states[i], 4);
        fake_put(&memory, FILE_NAME + 32, states[i], 4);
        ProcessMemory m = fake_memory(&memory);
        StrBuf name = {0}, file = {0};
        PythonCode code;
        assert_true(python_code_read(&p, &m, FAKE_BASE + CODE, &code));
        assert_true(python_code_name(&p, &m, &code, &name, &file));
        assert_str(strbuf_str(&name), "Tree.walk");
        assert_str(strbuf_str(&file), "/app/a.py");
        strbuf_deinit(&name);
        strbuf_deinit(&file);
    }
}

static void what_is_no_code_has_no_name(void **state)
{
    (void)state;
    make_process();
    ProcessMemory m = fake_memory(&memory);
    PythonCode code;
    assert_false(python_code_read(&python, &m, FAKE_BASE + NAME, &code));
    assert_false(python_code_read(&python, &m, FAKE_BASE + CODE + 1, &code));
    assert_false(python_code_read(&python, &m, 0, &code));
}

static void frames_in_a_ring_end(void **state)
{
    (void)state;
    make_process();
    fake_put(&memory, FRAMES + 48, FAKE_BASE + FRAMES, 8);
    ProcessMemory m = fake_memory(&memory);
    PythonFrame f[PYTHON_FRAMES_MAX];
    assert_int_equal(python_frames(&python, &m, FAKE_BASE + STATE_B, f, PYTHON_FRAMES_MAX),
                     PYTHON_FRAMES_MAX);
    fake_put(&memory, STATE_B + 8, FAKE_BASE + STATE_A, 8);
    uint64_t thread;
    assert_false(python_thread_find(&python, &m, 9, &thread));
}

static void every_read_may_fail(void **state)
{
    (void)state;
    make_process();
    for (memory.fail = 1; memory.fail < 60; memory.fail++) {
        ProcessMemory m = fake_memory(&memory);
        PythonFrame f[4];
        uint64_t thread;
        StrBuf name = {0}, file = {0}, lines = {0};
        PythonCode code;
        if (python_thread_find(&python, &m, 7, &thread) &&
            python_frames(&python, &m, thread, f, 4) == 2 &&
            python_code_read(&python, &m, f[0].code, &code) &&
            python_code_name(&python, &m, &code, &name, &file) &&
            python_code_lines(&m, &code, &lines))
            (void)python_line(&python, &f[0], &code, bytes_from_str(strbuf_str(&lines)));
        strbuf_deinit(&lines);
        strbuf_deinit(&name);
        strbuf_deinit(&file);
    }
}

static uint32_t line_at(unsigned minor, Bytes table, uint64_t offset)
{
    return python_line_in_table(minor, table, 100, offset);
}

static void lines_are_found_in_the_table_of_each_version(void **state)
{
    (void)state;
    // 4 bytes of line 101 without columns, 2 of line 102, 2 without a line, 2 of line 92.
    static const uint8_t locations[] = {
        0x80 | 13 << 3 | 1, 2, 0x80 | 11 << 3, 1, 1, 0x80 | 15 << 3, 0x80 | 14 << 3, 21, 0, 1, 1};
    Bytes t = bytes_over(locations, sizeof(locations));
    const uint32_t want[] = {101, 101, 102, 0, 92, 0};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(line_at(12, t, 2 * i), want[i]);
    // 3.10: 4 bytes of line 101, 2 without a line, 2 of line 100.
    static const uint8_t ranges[] = {4, 1, 2, 0x80, 2, 0xff};
    t = bytes_over(ranges, sizeof(ranges));
    assert_int_equal(line_at(10, t, 0), 101);
    assert_int_equal(line_at(10, t, 4), 0);
    assert_int_equal(line_at(10, t, 6), 100);
    assert_int_equal(line_at(10, t, 8), 0);
    // 3.9: from byte 4 on line 102, from byte 6 on line 101.
    static const uint8_t steps[] = {4, 2, 2, 0xff};
    t = bytes_over(steps, sizeof(steps));
    assert_int_equal(line_at(9, t, 0), 100);
    assert_int_equal(line_at(9, t, 4), 102);
    assert_int_equal(line_at(9, t, 7), 101);
}

static void tables_cut_at_each_byte_end(void **state)
{
    (void)state;
    static const uint8_t locations[] = {0x80 | 14 << 3 | 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0x80 | 11 << 3,     0xff};
    for (size_t len = 0; len <= sizeof(locations); len++)
        for (unsigned minor = 9; minor <= 13; minor++)
            (void)line_at(minor, bytes_over(locations, len), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_a_thread_are_read_with_function_and_line),
        cmocka_unit_test(texts_of_both_layouts_of_3_14_are_read),
        cmocka_unit_test(what_is_no_code_has_no_name),
        cmocka_unit_test(frames_in_a_ring_end),
        cmocka_unit_test(every_read_may_fail),
        cmocka_unit_test(lines_are_found_in_the_table_of_each_version),
        cmocka_unit_test(tables_cut_at_each_byte_end),
    };
    return RUN_TESTS(tests);
}
