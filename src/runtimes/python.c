// SPDX-License-Identifier: Apache-2.0
// CPython's threads, frames and code objects.

#include "runtimes/python.h"

#include "base/cursor.h"

enum {
    INTERPRETERS_MAX = 64,
    THREADS_MAX = 4096, // of all interpreters
    TEXT_MAX = 300,
    LINES_MAX = 1 << 16,
    OBJECT_TYPE = 8, // of every object
    OBJECT_SIZE = 16,
    BYTES_AT = 32, // the content of a bytes object
    TEXT_LENGTH = 16,
    TEXT_STATE = 32,
    // The number of a thread in glibc's struct pthread, to which thread_id points (x86-64).
    GLIBC_TID = 720,
    ENTRY_OFFSET_MAX = 512,
};

// ---- Versions ---------------------------------------------------------------------------

static const struct Known {
    unsigned minor;
    PythonEntry entry;
    uint8_t entry_value;
    PythonOffsets at;
} known[] = {
#define UNTIL_3_9                                                                                  \
    {                                                                                              \
        32, 0, 8, 8, 176, PYTHON_NONE, 24, PYTHON_NONE, 24, 32, 104, PYTHON_NONE, 104, 112, 40,    \
            120, PYTHON_NONE, 48, 72                                                               \
    }
    {8, PYTHON_ENTRY_EACH, 0, UNTIL_3_9},
    {9, PYTHON_ENTRY_EACH, 0, UNTIL_3_9},
    {10,
     PYTHON_ENTRY_EACH,
     0,
     {32, 0, 8, 8, 176, PYTHON_NONE, 24, PYTHON_NONE, 24, 32, 96, PYTHON_NONE, 104, 112, 40, 120,
      PYTHON_NONE, 48, 72}},
    {11,
     PYTHON_ENTRY_FIRST,
     1,
     {40, 0, 16, 8, 152, 160, 56, 8, 48, 32, 56, 68, 112, 128, 72, 136, 184, 48, 72}},
    {12,
     PYTHON_ENTRY_SHIM,
     3,
     {40, 0, 72, 8, 136, 144, 56, 0, 8, 0, 56, 70, 112, 128, 68, 136, 192, 40, 56}},
};

static bool offsets_known(unsigned minor, Python *p)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].minor == minor) {
            p->at = known[i].at;
            p->entry = known[i].entry;
            p->entry_value = known[i].entry_value;
            return true;
        }
    return false;
}

// Words of _Py_DebugOffsets.
enum {
    WORD_VERSION = 1,
    WORD_FREE_THREADED = 2,
    WORD_INTERPRETERS = 5,
    WORD_INTERPRETER_NEXT = 8,
    WORD_THREADS = 9,
    WORDS_OF_INTERPRETER_3_13 = 13,
    WORDS_OF_INTERPRETER_3_14 = 16, // threads_main, code_object_generation, tlbc_generation
    WORDS_OF_THREAD = 9,
    WORDS_OF_FRAME_3_13 = 6,
    WORDS_OF_FRAME_3_14 = 8, // stackpointer, tlbc_index
    WORDS_MAX = 96,
};

static bool small(const uint64_t *words, size_t at, uint16_t *ret)
{
    if (words[at] >= UINT16_MAX)
        return false;
    *ret = (uint16_t)words[at];
    return true;
}

static bool offsets_described(const uint64_t *words, unsigned minor, Python *p)
{
    PythonOffsets *o = &p->at;
    size_t thread = 6 + (minor < 14 ? WORDS_OF_INTERPRETER_3_13 : WORDS_OF_INTERPRETER_3_14);
    size_t frame = thread + WORDS_OF_THREAD;
    size_t code = frame + (minor < 14 ? WORDS_OF_FRAME_3_13 : WORDS_OF_FRAME_3_14);
    p->entry = PYTHON_ENTRY_SHIM;
    p->entry_value = 3;
    o->cframe_frame = PYTHON_NONE;
    o->text_ascii = 40;
    o->text_wide = 56;
    // A size comes first in each group.
    return small(words, WORD_INTERPRETERS, &o->interpreters) &&
           small(words, WORD_INTERPRETER_NEXT, &o->interpreter_next) &&
           small(words, WORD_THREADS, &o->threads) && small(words, thread + 2, &o->thread_next) &&
           small(words, thread + 4, &o->thread_frame) && small(words, thread + 5, &o->thread_id) &&
           small(words, thread + 6, &o->thread_native_id) &&
           small(words, frame + 1, &o->frame_previous) && small(words, frame + 2, &o->frame_code) &&
           small(words, frame + 3, &o->frame_instruction) &&
           small(words, frame + 5, &o->frame_entry) && small(words, code + 1, &o->code_file) &&
           small(words, code + 3, &o->code_name) && small(words, code + 4, &o->code_lines) &&
           small(words, code + 5, &o->code_first_line) && small(words, code + 9, &o->code_bytes) &&
           o->frame_entry < ENTRY_OFFSET_MAX;
}

// The 10 of "libpython3.10.so.1.0".
static unsigned minor_of_path(Str path)
{
    Str name = str_base_name(path);
    size_t at = str_find(name, STR("python3."));
    unsigned minor = 0;
    for (size_t i = at + 8; at != SIZE_MAX && i < name.len && i < at + 10; i++)
        if (name.ptr[i] >= '0' && name.ptr[i] <= '9')
            minor = minor * 10 + (unsigned)(name.ptr[i] - '0');
        else
            break;
    return minor;
}

bool python_open(const Elf *elf, Str path, uint64_t bias, const ProcessMemory *m, Python *ret)
{
    Arena scratch = {0};
    ElfSymbols symbols;
    ElfSymbol runtime, type, eval, version;
    uint64_t words[WORDS_MAX];
    Python p = {.code_mask = ~(uint64_t)0};
    bool ok = elf_symbols_load(&scratch, elf, SHT_DYNSYM, &symbols, NULL) &&
              runtime_symbol(&symbols, STR("_PyRuntime"), &runtime) &&
              runtime_symbol(&symbols, STR("PyCode_Type"), &type) &&
              runtime_symbol(&symbols, STR("_PyEval_EvalFrameDefault"), &eval);
    uint64_t hex = 0;
    if (ok && runtime_symbol(&symbols, STR("Py_Version"), &version))
        (void)!memory_u64(m, version.value + bias, &hex);
    arena_deinit(&scratch);
    if (!ok)
        return false;
    p.runtime = runtime.value + bias;
    p.code_type = type.value + bias;
    p.eval_start = eval.value + bias;
    p.eval_end = p.eval_start + eval.size;
    p.minor = hex >> 24 == 3 ? (unsigned)(hex >> 16 & 0xff) : minor_of_path(path);
    if (p.minor < 13)
        ok = offsets_known(p.minor, &p);
    else
        ok = m->read(m->ctx, p.runtime, words, sizeof(words)) &&
             memcmp(words, "xdebugpy", 8) == 0 && words[WORD_FREE_THREADED] == 0 &&
             offsets_described(words, p.minor, &p);
    if (p.minor >= 14)
        p.code_mask = ~(uint64_t)7; // a tagged reference
    if (ok)
        *ret = p;
    return ok;
}

// ---- Threads and frames -------------------------------------------------------------------

bool python_thread_check(const Python *p, const ProcessMemory *m, uint64_t state, uint32_t tid)
{
    uint64_t id;
    uint32_t number;
    if (p->at.thread_native_id != PYTHON_NONE)
        return memory_u64(m, state + p->at.thread_native_id, &id) && id == tid;
    return memory_u64(m, state + p->at.thread_id, &id) && memory_u32(m, id + GLIBC_TID, &number) &&
           number == tid;
}

bool python_thread_find(const Python *p, const ProcessMemory *m, uint32_t tid, uint64_t *ret)
{
    uint64_t interpreter = 0, state;
    int threads = 0;
    if (!memory_u64(m, p->runtime + p->at.interpreters, &interpreter))
        return false;
    for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        if (!memory_u64(m, interpreter + p->at.threads, &state))
            return false;
        for (; state && threads < THREADS_MAX; threads++) {
            if (python_thread_check(p, m, state, tid)) {
                *ret = state;
                return true;
            }
            if (!memory_u64(m, state + p->at.thread_next, &state))
                return false;
        }
        if (!memory_u64(m, interpreter + p->at.interpreter_next, &interpreter))
            return false;
    }
    return false;
}

uint32_t python_frames(const Python *p, const ProcessMemory *m, uint64_t state, PythonFrame *ret,
                       uint32_t max)
{
    const PythonOffsets *o = &p->at;
    uint64_t frame;
    uint32_t n = 0;
    if (!memory_u64(m, state + o->thread_frame, &frame) ||
        (o->cframe_frame != PYTHON_NONE && !memory_u64(m, frame + o->cframe_frame, &frame)))
        return 0;
    while (frame && n < max) {
        PythonFrame f = {0};
        if (!memory_u64(m, frame + o->frame_code, &f.code) ||
            !memory_u64(m, frame + o->frame_instruction, &f.instruction) ||
            (o->frame_entry != PYTHON_NONE && !memory_u64(m, frame + o->frame_entry, &f.entry)) ||
            !memory_u64(m, frame + o->frame_previous, &frame))
            return 0;
        ret[n++] = f;
    }
    return n;
}

bool python_is_entry(const Python *p, const PythonFrame *f)
{
    return p->entry == PYTHON_ENTRY_EACH || (f->entry & 0xff) == p->entry_value;
}

// ---- Code objects -------------------------------------------------------------------------

bool python_code_read(const Python *p, const ProcessMemory *m, uint64_t code, PythonCode *ret)
{
    enum { BYTES_MAX = 512 };
    const PythonOffsets *o = &p->at;
    uint8_t bytes[BYTES_MAX];
    uint64_t type;
    const uint32_t fields[] = {OBJECT_TYPE, o->code_file, o->code_name, o->code_lines,
                               o->code_first_line};
    uint32_t last = 0;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        last = MAX(last, fields[i]);
    last += (uint32_t)sizeof(type);
    code &= p->code_mask;
    if (code == 0 || (code & 7) || last > sizeof(bytes) || !m->read(m->ctx, code, bytes, last))
        return false;
    memcpy(&type, bytes + OBJECT_TYPE, sizeof(type));
    if (type != p->code_type)
        return false;
    memcpy(&ret->name, bytes + o->code_name, sizeof(ret->name));
    memcpy(&ret->file, bytes + o->code_file, sizeof(ret->file));
    memcpy(&ret->lines, bytes + o->code_lines, sizeof(ret->lines));
    memcpy(&ret->first_line, bytes + o->code_first_line, sizeof(ret->first_line));
    return true;
}

static bool add_text(const Python *p, const ProcessMemory *m, uint64_t text, StrBuf *out)
{
    uint8_t head[TEXT_STATE - TEXT_LENGTH + sizeof(uint32_t)];
    uint64_t len;
    uint32_t state;
    if (text == 0 || !m->read(m->ctx, text + TEXT_LENGTH, head, sizeof(head)))
        return false;
    memcpy(&len, head, sizeof(len));
    memcpy(&state, head + (TEXT_STATE - TEXT_LENGTH), sizeof(state));
    len = MIN(len, (uint64_t)TEXT_MAX);
    // Kind, compact and ASCII follow the state of interning, which has 2 bits, or 16 in versions
    // after 3.14. With 16 the bits of the kind, which is never 0, are 0.
    unsigned shift = state >> 2 & 7 ? 2 : 16;
    unsigned kind = state >> shift & 7;
    bool ascii = state >> (shift + 4) & 1;
    uint64_t chars = text + (ascii ? p->at.text_ascii : p->at.text_wide);
    if (kind == 1)
        return memory_add_latin1(m, chars, (size_t)len, out);
    return kind == 2 && memory_add_utf16(m, chars, (size_t)len, out);
}

bool python_code_name(const Python *p, const ProcessMemory *m, const PythonCode *code, StrBuf *name,
                      StrBuf *file)
{
    return add_text(p, m, code->name, name) && add_text(p, m, code->file, file);
}

bool python_code_lines(const ProcessMemory *m, const PythonCode *code, StrBuf *table)
{
    uint64_t size;
    size_t before = table->len;
    if (!memory_u64(m, code->lines + OBJECT_SIZE, &size) || size > LINES_MAX)
        return false;
    strbuf_add_repeated(table, 0, (size_t)size);
    if (size == 0 || m->read(m->ctx, code->lines + BYTES_AT, table->ptr + before, (size_t)size))
        return true;
    table->len = before;
    return false;
}

// ---- Lines --------------------------------------------------------------------------------

// A number of 6 bits a byte, the lowest first.
static uint32_t varint(Cursor *c)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 30; shift += 6) {
        uint8_t byte = cursor_u8(c);
        value |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int64_t signed_varint(Cursor *c)
{
    uint32_t v = varint(c);
    return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

static int64_t line_of_locations(Bytes table, int64_t line, uint64_t offset)
{
    enum { NONE = 15, LONG = 14, NO_COLUMNS = 13, ONE_LINE = 10 };
    Cursor c = cursor_over(table, "location table");
    uint64_t at = 0;
    while (cursor_more(&c)) {
        uint8_t head = cursor_u8(&c);
        unsigned kind = head >> 3 & 15;
        if (kind == LONG || kind == NO_COLUMNS)
            line += signed_varint(&c);
        if (kind == LONG)
            for (int i = 0; i < 3; i++)
                (void)varint(&c);
        else if (kind < ONE_LINE)
            cursor_skip(&c, 1);
        else if (kind < NO_COLUMNS) {
            line += kind - ONE_LINE;
            cursor_skip(&c, 2);
        }
        at += 2 * ((head & 7u) + 1);
        if (offset < at)
            return kind == NONE ? 0 : line;
    }
    return 0;
}

static int64_t line_of_ranges(Bytes table, int64_t line, uint64_t offset)
{
    uint64_t end = 0;
    for (size_t i = 0; i + 1 < table.len; i += 2) {
        int8_t delta = (int8_t)table.ptr[i + 1];
        line += delta == INT8_MIN ? 0 : delta;
        end += table.ptr[i];
        if (offset < end)
            return delta == INT8_MIN ? 0 : line;
    }
    return 0;
}

static int64_t line_of_steps(Bytes table, int64_t line, uint64_t offset)
{
    uint64_t at = 0;
    for (size_t i = 0; i + 1 < table.len; i += 2) {
        at += table.ptr[i];
        if (at > offset)
            break;
        line += (int8_t)table.ptr[i + 1];
    }
    return line;
}

uint32_t python_line_in_table(unsigned minor, Bytes table, uint32_t first_line, uint64_t offset)
{
    int64_t line = minor >= 11   ? line_of_locations(table, first_line, offset)
                   : minor == 10 ? line_of_ranges(table, first_line, offset)
                                 : line_of_steps(table, first_line, offset);
    return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

uint32_t python_line(const Python *p, const PythonFrame *f, const PythonCode *code, Bytes table)
{
    uint64_t offset;
    if (p->minor >= 11)
        offset = f->instruction - ((f->code & p->code_mask) + p->at.code_bytes);
    else // f_lasti counts instructions of 2 bytes since 3.10
        offset = (uint32_t)f->instruction * (uint64_t)(p->minor == 10 ? 2 : 1);
    return python_line_in_table(p->minor, table, code->first_line, offset);
}
