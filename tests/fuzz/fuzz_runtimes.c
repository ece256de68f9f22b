// SPDX-License-Identifier: Apache-2.0
// Fuzzes what is read of the memory of processes with a runtime: V8, CPython and HotSpot. Input: u8
// that chooses, for HotSpot two bytes for each of its fields, then the memory from BASE on.

#include "runtimes/hotspot.h"
#include "runtimes/python.h"
#include "runtimes/v8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x7f0000100000ull
enum { PLACES_MAX = 64, READS_MAX = 20000, LINES_OF_CODE = 300 };

typedef struct Memory {
    Bytes bytes;
    size_t reads;
} Memory;

// One question may not cost more reads than that: each is a system call.
static bool read_memory(void *ctx, uint64_t addr, void *to, size_t size)
{
    Memory *m = ctx;
    uint64_t at = addr - BASE;
    assert(m->reads++ < READS_MAX);
    if (at > m->bytes.len || size > m->bytes.len - at)
        return false;
    memcpy(to, m->bytes.ptr + at, size);
    return true;
}

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
                                   [V8_TYPE_SHARED] = 0x100,
                                   [V8_TYPE_SCRIPT] = 0x101,
                                   [V8_TYPE_SCOPE_INFO] = 0x102,
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

// Like CPython 3.11; other versions read the same in other places.
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
                              .runtime = BASE,
                              .code_type = BASE + 0x1000};

static void ask_v8(const ProcessMemory *m, Memory *memory, StrBuf *name, StrBuf *file)
{
    uint64_t function;
    for (uint64_t i = 0; i < PLACES_MAX; i++) {
        memory->reads = 0;
        (void)v8_function_name(&v8, m, BASE + 64 * i + 1, name, file);
        if (v8_frame_function(&v8, m, BASE + 64 * i, &function))
            (void)v8_function_name(&v8, m, function, name, NULL);
    }
}

static void ask_python_code(const Python *p, const ProcessMemory *m, const PythonFrame *f,
                            StrBuf *name, StrBuf *file)
{
    PythonCode code;
    StrBuf lines = {0};
    if (python_code_read(p, m, f->code, &code)) {
        (void)python_code_name(p, m, &code, name, file);
        if (python_code_lines(m, &code, &lines))
            for (unsigned minor = 9; minor <= 11; minor++)
                for (uint64_t at = 0; at < LINES_OF_CODE; at++)
                    (void)python_line_in_table(minor, bytes_from_str(strbuf_str(&lines)),
                                               code.first_line, at);
    }
    strbuf_deinit(&lines);
}

static void ask_python(const ProcessMemory *m, Memory *memory, unsigned minor, StrBuf *name,
                       StrBuf *file)
{
    static PythonFrame frames[PYTHON_FRAMES_MAX];
    Python p = python;
    uint64_t state;
    p.minor = minor;
    p.entry = (PythonEntry)(minor % 3);
    if (minor & 1)
        p.at.thread_native_id = PYTHON_NONE;
    if (!python_thread_find(&p, m, 7, &state))
        state = BASE + 0x300;
    (void)python_thread_check(&p, m, state, 7);
    uint32_t count = python_frames(&p, m, state, frames, PYTHON_FRAMES_MAX);
    for (uint32_t i = 0; i < MIN(count, (uint32_t)PLACES_MAX); i++) {
        memory->reads = 0;
        (void)python_is_entry(&p, &frames[i]);
        ask_python_code(&p, m, &frames[i], name, file);
    }
}

static void ask_hotspot(const ProcessMemory *m, Memory *memory, Bytes fields, StrBuf *name,
                        StrBuf *file)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 8};
    Hotspot h = {.block_size = 16, .pool_size = 32};
    HotspotCode code;
    HotspotFrame frame;
    for (size_t i = 0; i < HOTSPOT_FIELD_COUNT && 2 * i + 1 < fields.len; i++)
        h.field[i] =
            (HotspotFieldPlace){fields.ptr[2 * i], sizes[fields.ptr[2 * i + 1] % ARRAY_LEN(sizes)]};
    // Static fields have addresses.
    h.field[HOTSPOT_CODE_CACHE_HEAPS].offset += BASE;
    h.field[HOTSPOT_CODE_CACHE_HEAP].offset += BASE;
    for (uint64_t i = 0; i < PLACES_MAX; i++) {
        uint64_t pc = BASE + 0x1000 + 37 * i;
        memory->reads = 0;
        if (hotspot_code_find(&h, m, pc, &code)) {
            assert(memchr(code.name, 0, sizeof(code.name)));
            (void)hotspot_frame(&code, m, pc, i & 1, &frame);
            (void)hotspot_method_name(&h, m, code.method, name, file);
        }
        (void)hotspot_method_name(&h, m, BASE + 8 * i, name, file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    StrBuf name = {0}, file = {0};
    Bytes rest = bytes_over(data + 1, size - 1);
    size_t head = data[0] % 3 == 2 ? 2 * HOTSPOT_FIELD_COUNT : 0;
    Memory memory = {.bytes = bytes_slice(rest, head, rest.len)};
    ProcessMemory m = {read_memory, &memory};
    if (data[0] % 3 == 0)
        ask_v8(&m, &memory, &name, &file);
    else if (data[0] % 3 == 1)
        ask_python(&m, &memory, 9 + data[0] / 3 % 6, &name, &file);
    else
        ask_hotspot(&m, &memory, bytes_slice(rest, 0, head), &name, &file);
    strbuf_deinit(&name);
    strbuf_deinit(&file);
    return 0;
}
