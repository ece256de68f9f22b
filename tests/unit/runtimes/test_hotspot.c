// SPDX-License-Identifier: Apache-2.0
// HotSpot's code cache and methods in a process that is not there.

#include "harness.h"

#include "fake_memory.h"
#include "runtimes/hotspot.h"

enum {
    // Offsets in the memory.
    HEAPS = 0x10,
    HEAP_LIST = 0x40,
    HEAP = 0x80,
    SEGMENTS = 0x200,
    METHOD = 0x300,
    CONST_METHOD = 0x380,
    POOL = 0x400,
    KLASS = 0x500,
    SYMBOLS = 0x600,
    NAMES = 0x700,
    CODE = 0x1000, // of the heap: 16 segments of 128 bytes
    BLOB = CODE + 4 * 128,
    CODE_START = BLOB + 0x80,
};

static const Hotspot hotspot = {
    .field = {[HOTSPOT_CODE_CACHE_HEAPS] = {FAKE_BASE + HEAPS, 8},
              [HOTSPOT_ARRAY_LENGTH] = {0, 4},
              [HOTSPOT_ARRAY_DATA] = {8, 8},
              [HOTSPOT_HEAP_MEMORY] = {0, 8},
              [HOTSPOT_HEAP_SEGMENTS] = {0x40, 8},
              [HOTSPOT_HEAP_SEGMENT_SHIFT] = {0x80, 4},
              [HOTSPOT_SPACE_LOW] = {0, 8},
              [HOTSPOT_SPACE_HIGH] = {8, 8},
              [HOTSPOT_BLOCK_USED] = {8, 1},
              [HOTSPOT_BLOB_NAME] = {0, 8},
              [HOTSPOT_BLOB_SIZE] = {8, 4},
              [HOTSPOT_BLOB_FRAME_COMPLETE] = {12, 2},
              [HOTSPOT_BLOB_FRAME_SIZE] = {16, 4},
              [HOTSPOT_BLOB_CODE_OFFSET] = {20, 4},
              [HOTSPOT_NMETHOD_METHOD] = {24, 8},
              [HOTSPOT_METHOD_CONST] = {8, 8},
              [HOTSPOT_CONST_CONSTANTS] = {8, 8},
              [HOTSPOT_CONST_NAME_INDEX] = {16, 2},
              [HOTSPOT_POOL_HOLDER] = {0, 8},
              [HOTSPOT_POOL_SOURCE_INDEX] = {8, 2},
              [HOTSPOT_POOL_LENGTH] = {12, 4},
              [HOTSPOT_KLASS_NAME] = {0, 8},
              [HOTSPOT_SYMBOL_LENGTH] = {4, 2},
              [HOTSPOT_SYMBOL_BODY] = {6, 1}},
    .block_size = 16,
    .pool_size = 32,
};

static FakeMemory memory;

static uint64_t symbol(size_t at, const char *text)
{
    fake_put(&memory, SYMBOLS + at + 4, strlen(text), 2);
    fake_text(&memory, SYMBOLS + at + 6, text);
    return FAKE_BASE + SYMBOLS + at;
}

// A heap whose block from segment 4 to 9 is the method app.Main.run, with a frame of 6 words that
// is complete after 12 bytes.
static void make_heap(void)
{
    memory = (FakeMemory){0};
    fake_put(&memory, HEAPS, FAKE_BASE + HEAPS + 8, 8);
    fake_put(&memory, HEAPS + 8, 1, 4);
    fake_put(&memory, HEAPS + 16, FAKE_BASE + HEAP_LIST, 8);
    fake_put(&memory, HEAP_LIST, FAKE_BASE + HEAP, 8);
    fake_put(&memory, HEAP, FAKE_BASE + CODE, 8);
    fake_put(&memory, HEAP + 8, FAKE_BASE + CODE + 16 * 128, 8);
    fake_put(&memory, HEAP + 0x40, FAKE_BASE + SEGMENTS, 8);
    fake_put(&memory, HEAP + 0x48, FAKE_BASE + SEGMENTS + 16, 8);
    fake_put(&memory, HEAP + 0x80, 7, 4);
    memset(memory.bytes + SEGMENTS, 0xff, 16);
    for (size_t i = 4; i < 10; i++)
        memory.bytes[SEGMENTS + i] = (uint8_t)MIN(i - 4, (size_t)2); // 2: go on there
    fake_put(&memory, BLOB + 8, 1, 1);
    fake_put(&memory, BLOB + 16, fake_text(&memory, NAMES, "nmethod"), 8);
    fake_put(&memory, BLOB + 16 + 8, 5 * 128, 4);
    fake_put(&memory, BLOB + 16 + 12, 12, 2);
    fake_put(&memory, BLOB + 16 + 16, 6, 4);
    fake_put(&memory, BLOB + 16 + 20, CODE_START - BLOB - 16, 4);
    fake_put(&memory, BLOB + 16 + 24, FAKE_BASE + METHOD, 8);
    fake_put(&memory, METHOD + 8, FAKE_BASE + CONST_METHOD, 8);
    fake_put(&memory, CONST_METHOD + 8, FAKE_BASE + POOL, 8);
    fake_put(&memory, CONST_METHOD + 16, 1, 2);
    fake_put(&memory, POOL, FAKE_BASE + KLASS, 8);
    fake_put(&memory, POOL + 8, 2, 2);
    fake_put(&memory, POOL + 12, 3, 4);
    fake_put(&memory, POOL + 32 + 8, symbol(0, "run"), 8);
    fake_put(&memory, POOL + 32 + 16, symbol(0x20, "Main.java"), 8);
    fake_put(&memory, KLASS, symbol(0x40, "app/Main"), 8);
    fake_put(&memory, CODE + 16 * 128, 0, 8);
}

static bool find(uint64_t at, HotspotCode *ret)
{
    ProcessMemory m = fake_memory(&memory);
    return hotspot_code_find(&hotspot, &m, FAKE_BASE + at, ret);
}

static void code_is_found_by_its_segments(void **state)
{
    (void)state;
    HotspotCode c;
    make_heap();
    assert_true(find(CODE_START + 300, &c));
    assert_int_equal(c.kind, HOTSPOT_COMPILED);
    assert_int_equal(c.method, FAKE_BASE + METHOD);
    assert_int_equal(c.frame_words, 6);
    assert_int_equal(c.frame_complete, FAKE_BASE + CODE_START + 12);
    assert_false(find(CODE + 10 * 128, &c)); // free
    assert_false(find(CODE + 16 * 128, &c)); // behind the heap
    memory.bytes[BLOB + 8] = 0;              // not used any more
    assert_false(find(CODE_START, &c));
}

static void methods_have_class_name_and_source(void **state)
{
    (void)state;
    StrBuf name = {0}, file = {0};
    make_heap();
    ProcessMemory m = fake_memory(&memory);
    assert_true(hotspot_method_name(&hotspot, &m, FAKE_BASE + METHOD, &name, &file));
    assert_str(strbuf_str(&name), "app.Main.run");
    assert_str(strbuf_str(&file), "Main.java");
    fake_put(&memory, CONST_METHOD + 16, 3, 2); // outside of the pool
    assert_false(hotspot_method_name(&hotspot, &m, FAKE_BASE + METHOD, &name, &file));
    strbuf_deinit(&name);
    strbuf_deinit(&file);
}

static void every_read_may_fail(void **state)
{
    (void)state;
    make_heap();
    bool found = false, named = false;
    for (memory.fail = 1; memory.fail < 100 && !(found && named); memory.fail++) {
        HotspotCode c;
        StrBuf name = {0};
        found = find(CODE_START, &c);
        ProcessMemory m = fake_memory(&memory);
        named = hotspot_method_name(&hotspot, &m, FAKE_BASE + METHOD, &name, NULL);
        strbuf_deinit(&name);
    }
    assert_true(found && named);
}

// The frame at byte `at` of some code.
static HotspotFrame frame_at(const uint8_t *code, size_t size, size_t at)
{
    HotspotCode c;
    HotspotFrame f = {0};
    make_heap();
    assert_true(find(CODE_START, &c));
    memcpy(memory.bytes + CODE_START, code, size);
    ProcessMemory m = fake_memory(&memory);
    assert_true(hotspot_frame(&c, &m, FAKE_BASE + CODE_START + at, true, &f));
    return f;
}

static void check_frame(HotspotFrame f, uint64_t words, bool saves_fp)
{
    assert_int_equal(f.cfa_words, words);
    assert_int_equal(f.saves_fp, saves_fp);
}

static void a_frame_is_made_and_removed_step_by_step(void **state)
{
    (void)state;
    static const uint8_t code[] = {
        0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, // 0: mov %eax,-0x14000(%rsp)
        0x55,                                     // 7: push %rbp
        0x48, 0x83, 0xec, 0x20,                   // 8: sub $0x20,%rsp
        0x90, 0x90, 0x90,                         // 12
        0x48, 0x83, 0xc4, 0x20,                   // 15: add $0x20,%rsp
        0x5d,                                     // 19: pop %rbp
        0x49, 0x3b, 0xa7, 0x38, 0x03, 0x00, 0x00, // 20: cmp 0x338(%r15),%rsp
        0x0f, 0x87, 0x01, 0x00, 0x00, 0x00,       // 27: ja
        0xc3,                                     // 33: ret
        0x90, 0x90};
    check_frame(frame_at(code, sizeof(code), 0), 1, false);
    check_frame(frame_at(code, sizeof(code), 7), 1, false);
    check_frame(frame_at(code, sizeof(code), 8), 2, true);
    check_frame(frame_at(code, sizeof(code), 12), 6, true);
    check_frame(frame_at(code, sizeof(code), 15), 6, true);
    check_frame(frame_at(code, sizeof(code), 19), 2, true);
    check_frame(frame_at(code, sizeof(code), 20), 1, false);
    check_frame(frame_at(code, sizeof(code), 27), 1, false);
    check_frame(frame_at(code, sizeof(code), 33), 1, false);
    check_frame(frame_at(code, sizeof(code), 34), 6, true); // behind another way's end
}

static void a_barrier_before_the_frame_is_complete_has_the_frame(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0x41, 0x81,
                                   0x7f, 0x20, 0x01, 0x00, 0x00, 0x00};
    check_frame(frame_at(code, sizeof(code), 1), 2, true);
    check_frame(frame_at(code, sizeof(code), 5), 6, true);
    check_frame(frame_at(code, sizeof(code), 11), 6, true);
}

static void frames_of_callers_are_whole(void **state)
{
    (void)state;
    HotspotCode c = {.kind = HOTSPOT_COMPILED, .frame_words = 4};
    HotspotFrame f;
    ProcessMemory m = fake_memory(&memory);
    assert_true(hotspot_frame(&c, &m, 8, false, &f));
    check_frame(f, 4, true);
    c.frame_words = 0;
    assert_false(hotspot_frame(&c, &m, 8, false, &f));
    c = (HotspotCode){.kind = HOTSPOT_INTERPRETER, .frame_words = 4};
    assert_false(hotspot_frame(&c, &m, 8, false, &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_found_by_its_segments),
        cmocka_unit_test(methods_have_class_name_and_source),
        cmocka_unit_test(every_read_may_fail),
        cmocka_unit_test(a_frame_is_made_and_removed_step_by_step),
        cmocka_unit_test(a_barrier_before_the_frame_is_complete_has_the_frame),
        cmocka_unit_test(frames_of_callers_are_whole),
    };
    return RUN_TESTS(tests);
}
