// SPDX-License-Identifier: Apache-2.0
// Runtimes in observed processes.

#include "replay/runtime_frames.h"

#include "base/log.h"
#include "replay/live_stack.h"
#include "replay/luajit_frames.h"
#include "replay/python_places.h"
#include "runtimes/hotspot.h"
#include "runtimes/runtime_kinds.h"
#include "runtimes/v8.h"

enum {
    CODE_CACHE_SIZE = 1 << 10,
    NAME_CACHE_SIZE = 1 << 10,
    SEARCHES_IN_A_ROW = 64,
    KIND_SEARCHES = 4,      // libraries may be loaded after the first generated code
    V8_BYTES_MIN = 8 << 20, // smaller files hold no V8
    V8_ASKS = 256,          // addresses of a file before V8 is looked for in it
};

// A function that an address stood for at a time.
typedef struct NamedAddress {
    uint64_t address; // 0: empty
    int64_t second;
    FrameId frame; // 0: no name
} NamedAddress;

typedef struct KnownCode {
    uint64_t pc; // 0: empty
    int64_t second;
    bool found;
    HotspotCode code;
    bool has_frame;     // of an interruption at pc
    HotspotFrame frame; // with has_frame
} KnownCode;

struct JavaRuntime {
    Hotspot hotspot;
    ModuleId module;
    KnownCode code[CODE_CACHE_SIZE];
    NamedAddress names[NAME_CACHE_SIZE]; // by method
};

struct ScriptRuntime {
    V8 v8;
    ModuleId module;
    FrameId unnamed;
    uint32_t file;                       // the module that contains V8
    NamedAddress names[NAME_CACHE_SIZE]; // by function
};

typedef struct KnownThread {
    uint32_t tid; // 0: empty
    int64_t second;
    uint64_t state; // 0: Python does not know it
} KnownThread;

enum { THREAD_CACHE_SIZE = 1 << 8 };

struct PythonRuntime {
    Python python;
    PythonPlaces *places;
    KnownThread threads[THREAD_CACHE_SIZE];
    PythonFrame frames[PYTHON_FRAMES_MAX]; // of the present sample, innermost first
    uint32_t count, next;
    bool skip; // the first frame of the interpreter stands for none
};

// ---- Memory ---------------------------------------------------------------------------

static bool read_process(void *ctx, uint64_t addr, void *to, size_t size)
{
    const RuntimeFrames *r = ctx;
    return live_memory_read(r->pid, addr, to, size) == size;
}

static ProcessMemory memory_of(RuntimeFrames *r)
{
    return (ProcessMemory){read_process, r};
}

typedef struct StackMemory {
    const UnwindMemory *copy;
    RuntimeFrames *runtimes;
} StackMemory;

// The copy is of the sample's time; the part above it is read now.
static bool read_stack(void *ctx, uint64_t addr, void *to, size_t size)
{
    const StackMemory *s = ctx;
    uint64_t at = addr - s->copy->window_addr;
    if (at > s->copy->window_size || size > s->copy->window_size - at)
        return at < ((uint64_t)1 << 32) && read_process(s->runtimes, addr, to, size);
    memcpy(to, (const uint8_t *)s->copy->window + at, size);
    return true;
}

// ---- Finding them ---------------------------------------------------------------------

static void find_java(RuntimeFrames *r, const ModuleFile *m, uint64_t bias)
{
    Hotspot h;
    ProcessMemory memory = memory_of(r);
    if (!hotspot_open(&m->elf, bias, &memory, &h))
        return;
    r->java = heap_alloc(sizeof(*r->java));
    r->java->hotspot = h;
    r->java->module = profile_module(r->profile, MODULE_JIT, STR("[Java]"), STR(""));
    log_debug(LOG_RECORD, 1, "process %u runs HotSpot", r->pid);
}

// Whether a file contains V8, which is looked for once.
static bool has_v8(RuntimeFrames *r, ModuleFile *m)
{
    V8 v;
    if (m->v8_tried)
        return m->v8 != NULL;
    m->v8_tried = true;
    if (!v8_open(&m->elf, &v))
        return false;
    m->v8 = arena_new(&r->modules->arena, V8);
    *m->v8 = v;
    return true;
}

static void find_script(RuntimeFrames *r, ModuleFile *m)
{
    if (!has_v8(r, m))
        return;
    r->script = heap_alloc(sizeof(*r->script));
    r->script->v8 = *m->v8;
    r->script->module = profile_module(r->profile, MODULE_JIT, STR("[JavaScript]"), STR(""));
    FunctionId f = profile_function(r->profile, STR("(code of V8)"), STR(""), STR(""), 0);
    r->script->unnamed = profile_named_frame(r->profile, r->script->module, 0, f,
                                             profile_str(r->profile, STR("")), 0, 0);
    log_debug(LOG_RECORD, 1, "process %u runs V8", r->pid);
}

static void find_lua(RuntimeFrames *r, uint32_t file)
{
    r->lua_file = file + 1;
    log_debug(LOG_RECORD, 1, "process %u runs LuaJIT", r->pid);
}

static bool is_luajit(Str path)
{
    const RuntimeKind *kind = runtime_kind_find(path);
    return kind && strcmp(kind->name, "LuaJIT") == 0;
}

// A runtime may come later than generated code, so it is looked for again, less and less often.
static bool find_runtimes(RuntimeFrames *r)
{
    if (r->java || r->script || r->lua_file)
        return true;
    r->searches++;
    if (r->searches > SEARCHES_IN_A_ROW && (r->searches & (r->searches - 1)))
        return false;
    for (uint32_t i = 0; i < r->space->count && !r->java && !r->script; i++) {
        const UnwindMapping *map = &r->space->at[i];
        ModuleFile *m = modules_get(r->modules, map->user);
        if (!m->opened || m->is_clock)
            continue;
        if (str_equal(str_base_name(m->path), STR("libjvm.so")))
            find_java(r, m, map->bias);
        else if (is_luajit(m->path))
            find_lua(r, map->user);
        else if (m->elf.file.len >= V8_BYTES_MIN)
            find_script(r, m);
    }
    return r->java || r->script || r->lua_file;
}

void runtime_frames_deinit(RuntimeFrames *r)
{
    heap_free(r->java);
    heap_free(r->script);
    if (r->python)
        python_places_free(r->python->places);
    heap_free(r->python);
    r->python = NULL;
    r->seen_generation = 0;
    r->java = NULL;
    r->script = NULL;
    r->lua_file = 0;
    r->searches = 0;
}

bool runtime_frames_found(const RuntimeFrames *r)
{
    return r->java || r->script || r->python;
}

bool runtime_frames_change(const RuntimeFrames *r)
{
    return r->java || r->script || (r->python && !r->targets);
}

// ---- Names ----------------------------------------------------------------------------

static int64_t second_of(const RuntimeFrames *r)
{
    return r->now_ns / 1000000000;
}

static NamedAddress *name_entry(NamedAddress *cache, uint64_t address)
{
    return &cache[hash_u64(address) & (NAME_CACHE_SIZE - 1)];
}

static bool is_fresh(const RuntimeFrames *r, const NamedAddress *e, uint64_t address)
{
    return e->address == address && e->second == second_of(r);
}

static FrameId named_frame(RuntimeFrames *r, ModuleId module, Str name, Str file)
{
    FunctionId f = profile_function(r->profile, name, STR(""), file, 0);
    return profile_named_frame(r->profile, module, 0, f, profile_str(r->profile, file), 0, 0);
}

// ---- Java -----------------------------------------------------------------------------

// What was read earlier holds on when the process can no longer be read: its last samples come
// after its end.
static KnownCode *java_known(RuntimeFrames *r, uint64_t pc)
{
    KnownCode *k = &r->java->code[hash_u64(pc) & (CODE_CACHE_SIZE - 1)];
    ProcessMemory memory = memory_of(r);
    uint8_t byte;
    if (k->pc == pc && (k->second == second_of(r) || !memory_u8(&memory, pc, &byte)))
        return k;
    *k = (KnownCode){.pc = pc, .second = second_of(r)};
    k->found = hotspot_code_find(&r->java->hotspot, &memory, pc, &k->code);
    return k;
}

static const HotspotCode *java_code(RuntimeFrames *r, uint64_t pc)
{
    KnownCode *k = java_known(r, pc);
    return k->found ? &k->code : NULL;
}

static bool java_frame(RuntimeFrames *r, const UnwindGenerated *f, HotspotFrame *ret)
{
    ProcessMemory memory = memory_of(r);
    KnownCode *k = java_known(r, f->exact ? f->pc : f->pc - 1);
    if (!f->exact)
        return hotspot_frame(&k->code, &memory, f->pc, false, ret);
    k->has_frame = k->has_frame || hotspot_frame(&k->code, &memory, f->pc, true, &k->frame);
    *ret = k->frame;
    return k->has_frame;
}

static FrameId java_method(RuntimeFrames *r, uint64_t method)
{
    NamedAddress *e = name_entry(r->java->names, method);
    if (is_fresh(r, e, method))
        return e->frame;
    StrBuf name = {0}, file = {0};
    ProcessMemory memory = memory_of(r);
    if (e->address != method)
        *e = (NamedAddress){.address = method};
    e->second = second_of(r);
    if (hotspot_method_name(&r->java->hotspot, &memory, method, &name, &file))
        e->frame = named_frame(r, r->java->module, strbuf_str(&name), strbuf_str(&file));
    strbuf_deinit(&name);
    strbuf_deinit(&file);
    return e->frame;
}

static bool name_java(RuntimeFrames *r, const UnwindFrame *f, const UnwindMemory *stack,
                      FrameId *ret)
{
    const HotspotCode *code = java_code(r, f->pc);
    StackMemory s = {stack, r};
    ProcessMemory words = {read_stack, &s};
    uint64_t method = 0;
    FrameId frame = {0};
    if (!code)
        return false;
    if (code->kind == HOTSPOT_COMPILED)
        frame = java_method(r, code->method);
    else if (code->kind == HOTSPOT_INTERPRETER && f->fp &&
             memory_u64(&words, f->fp + (uint64_t)HOTSPOT_INTERPRETED_METHOD, &method))
        frame = java_method(r, method);
    if (frame.v == 0)
        frame = named_frame(r, r->java->module, str_from_c(code->name), STR(""));
    *ret = frame;
    return true;
}

static bool is_leaf_stub(const HotspotCode *code)
{
    return code->kind == HOTSPOT_STUB && (str_starts_with(str_from_c(code->name), STR("vtable")) ||
                                          str_starts_with(str_from_c(code->name), STR("I2C")));
}

static UnwindGeneratedEnd step_interpreted(UnwindGenerated *f)
{
    enum { EXTENDED_MAX = 1 << 20 };
    uint64_t sender_sp, fp, pc;
    if (f->fp < f->sp)
        return UNWIND_GENERATED_UNKNOWN;
    if (!f->load(f->ctx, f->fp, &fp) || !f->load(f->ctx, f->fp + 8, &pc) ||
        !f->load(f->ctx, f->fp + (uint64_t)HOTSPOT_INTERPRETED_SENDER_SP, &sender_sp))
        return UNWIND_GENERATED_CUT;
    if (sender_sp <= f->fp || sender_sp - f->fp > EXTENDED_MAX)
        return UNWIND_GENERATED_UNKNOWN;
    *f = (UnwindGenerated){pc, sender_sp, fp, false, f->load, f->ctx};
    return UNWIND_GENERATED_STEPPED;
}

static UnwindGeneratedEnd step_java(RuntimeFrames *r, UnwindGenerated *f)
{
    const HotspotCode *code = java_code(r, f->exact ? f->pc : f->pc - 1);
    HotspotFrame frame = {1, false};
    uint64_t pc, fp = f->fp;
    if (!code)
        return UNWIND_GENERATED_UNKNOWN;
    if (code->kind == HOTSPOT_INTERPRETER)
        return step_interpreted(f);
    if (!(f->exact && is_leaf_stub(code)) && !java_frame(r, f, &frame))
        return code->frame_words < 2 ? UNWIND_GENERATED_UNKNOWN : UNWIND_GENERATED_CUT;
    uint64_t cfa = f->sp + 8 * frame.cfa_words;
    if (!f->load(f->ctx, cfa - 8, &pc) || (frame.saves_fp && !f->load(f->ctx, cfa - 16, &fp)))
        return UNWIND_GENERATED_CUT;
    *f = (UnwindGenerated){pc, cfa, fp, false, f->load, f->ctx};
    return UNWIND_GENERATED_STEPPED;
}

static void log_step(RuntimeFrames *r, const UnwindGenerated *f, UnwindGeneratedEnd end)
{
    const HotspotCode *code = java_code(r, f->exact ? f->pc : f->pc - 1);
    log_write(LOG_UNWIND, "pid %u: generated code at 0x%llx%s, '%s' from 0x%llx of %u words: %s",
              r->pid, (unsigned long long)f->pc, f->exact ? " exact" : "",
              code ? code->name : "none", code ? (unsigned long long)code->start : 0,
              code ? code->frame_words : 0, end == UNWIND_GENERATED_CUT ? "cut" : "unknown");
}

// Whether a word is the address at which a function of LuaJIT that is written in C goes on after a
// call, with the rule of the caller's frame.
static bool is_lua_caller(void *ctx, uint64_t word)
{
    RuntimeFrames *r = ctx;
    const UnwindMapping *m = unwind_space_find(r->space, word - 1);
    if (!m || m->user + 1 != r->lua_file)
        return false;
    UnwindAction a = unwind_space_action(r->space, word - 1);
    return a.kind != UNWIND_NONE && !luajit_is_interpreter(a);
}

UnwindGeneratedEnd runtime_frames_step(void *ctx, UnwindGenerated *frame)
{
    RuntimeFrames *r = ctx;
    if (!find_runtimes(r))
        return UNWIND_GENERATED_UNKNOWN;
    if (r->lua_file)
        return luajit_step(frame, is_lua_caller, r) ? UNWIND_GENERATED_STEPPED
                                                    : UNWIND_GENERATED_UNKNOWN;
    if (!r->java)
        return UNWIND_GENERATED_UNKNOWN;
    UnwindGenerated before = *frame;
    UnwindGeneratedEnd end = step_java(r, frame);
    if (end != UNWIND_GENERATED_STEPPED && log_enabled(LOG_UNWIND, 2))
        log_step(r, &before, end);
    return end;
}

// ---- JavaScript -------------------------------------------------------------------------

static FrameId script_function(RuntimeFrames *r, uint64_t function)
{
    NamedAddress *e = name_entry(r->script->names, function);
    if (is_fresh(r, e, function))
        return e->frame;
    StrBuf name = {0}, file = {0};
    ProcessMemory memory = memory_of(r);
    if (e->address != function)
        *e = (NamedAddress){.address = function};
    e->second = second_of(r);
    if (v8_function_name(&r->script->v8, &memory, function, &name, &file))
        e->frame = named_frame(r, r->script->module, strbuf_str(&name), strbuf_str(&file));
    strbuf_deinit(&name);
    strbuf_deinit(&file);
    return e->frame;
}

static bool name_script(RuntimeFrames *r, const UnwindFrame *f, const UnwindMemory *stack,
                        bool is_generated, FrameId *ret, bool *ret_below)
{
    StackMemory s = {stack, r};
    ProcessMemory words = {read_stack, &s};
    uint64_t function;
    FrameId frame = {0};
    if (v8_frame_function(&r->script->v8, &words, f->fp, &function))
        frame = script_function(r, function);
    if (frame.v == 0 && is_generated)
        frame = r->script->unnamed;
    *ret = frame;
    *ret_below = !is_generated && (f->flags & UNWIND_FRAME_EXACT);
    return frame.v != 0;
}

// ---- Python -----------------------------------------------------------------------------

static bool find_python(RuntimeFrames *r)
{
    if (r->python || r->seen_generation == r->space->generation)
        return r->python;
    r->seen_generation = r->space->generation;
    for (uint32_t i = 0; i < r->space->count && !r->python; i++) {
        const UnwindMapping *map = &r->space->at[i];
        const ModuleFile *m = modules_get(r->modules, map->user);
        Str name = str_base_name(m->path);
        Python p;
        ProcessMemory memory = memory_of(r);
        if (!m->opened ||
            !(str_starts_with(name, STR("python")) || str_starts_with(name, STR("libpython"))) ||
            !python_open(&m->elf, m->path, map->bias, &memory, &p))
            continue;
        r->python = heap_alloc(sizeof(*r->python));
        r->python->python = p;
        r->python->places = python_places_new(
            r->profile, profile_module(r->profile, MODULE_JIT, STR("[Python]"), STR("")));
        log_debug(LOG_RECORD, 1, "process %u runs CPython 3.%u", r->pid, p.minor);
    }
    return r->python;
}

// From now on the thread's frames are read when its samples are taken.
static void set_target(RuntimeFrames *r, uint32_t tid, uint64_t state)
{
    const PythonOffsets *o = &r->python->python.at;
    if (!r->targets)
        return;
    CaptureTarget *t = &r->targets[tid & (CAPTURE_TARGETS - 1)];
    CaptureTarget fresh = {
        .frame = state + o->thread_frame,
        .cframe = o->cframe_frame == PYTHON_NONE ? CAPTURE_NO_OFFSET : o->cframe_frame,
        .previous = o->frame_previous,
        .code = o->frame_code,
        .instruction = o->frame_instruction,
        .entry = o->frame_entry == PYTHON_NONE ? o->frame_code : o->frame_entry,
    };
    uint32_t last = MAX(fresh.previous, fresh.code);
    last = MAX(last, fresh.instruction);
    last = MAX(last, fresh.entry);
    fresh.bytes = last + (uint32_t)sizeof(uint64_t);
    __atomic_store_n(&t->tid, 0, __ATOMIC_SEQ_CST);
    if (fresh.bytes > CAPTURE_FRAME_BYTES)
        return; // its frames are read after the sample
    *t = fresh;
    __atomic_store_n(&t->tid, tid, __ATOMIC_SEQ_CST);
}

static uint64_t thread_state(RuntimeFrames *r, uint32_t tid)
{
    const Python *p = &r->python->python;
    KnownThread *t = &r->python->threads[tid & (THREAD_CACHE_SIZE - 1)];
    ProcessMemory memory = memory_of(r);
    if (t->tid == tid && t->second == second_of(r))
        return t->state;
    if (t->tid == tid && t->state && python_thread_check(p, &memory, t->state, tid)) {
        t->second = second_of(r);
        return t->state;
    }
    *t = (KnownThread){.tid = tid};
    if (python_thread_find(p, &memory, tid, &t->state)) {
        t->second = second_of(r); // else it is looked for again with the next sample
        set_target(r, tid, t->state);
    }
    return t->state;
}

static FrameId python_place(RuntimeFrames *r, const PythonFrame *f)
{
    ProcessMemory memory = memory_of(r);
    return python_places_find(r->python->places, &r->python->python, &memory, f, second_of(r));
}

static bool is_interpreter(const RuntimeFrames *r, const UnwindFrame *f)
{
    const Python *p = &r->python->python;
    return f->pc >= p->eval_start && f->pc < p->eval_end;
}

// How many frames of C code the Python frames belong to.
static uint32_t entry_count(const PythonRuntime *py)
{
    uint32_t entries = 0;
    for (uint32_t i = 0; i < py->count; i++)
        entries += python_is_entry(&py->python, &py->frames[i]);
    return entries;
}

static void take_captured(RuntimeFrames *r, const CaptureStack *captured)
{
    PythonRuntime *py = r->python;
    for (uint32_t i = 0; i < captured->count; i++) {
        const CaptureFrame *f = &captured->frames[i];
        py->frames[py->count++] = (PythonFrame){f->code, f->instruction, f->entry};
    }
}

void runtime_frames_begin(RuntimeFrames *r, uint32_t tid, const CaptureStack *captured,
                          const UnwindFrame *walked, uint32_t count)
{
    if (!find_python(r))
        return;
    PythonRuntime *py = r->python;
    uint32_t interpreters = 0;
    py->count = py->next = 0;
    for (uint32_t i = 0; i < count; i++)
        interpreters += is_interpreter(r, &walked[i]);
    uint64_t state = interpreters || captured ? thread_state(r, tid) : 0;
    py->skip = false;
    if (captured) {
        take_captured(r, captured);
        // The interpreter has just been called, and has no frame yet; or has none any more.
        py->skip = entry_count(py) + 1 == interpreters && is_interpreter(r, &walked[0]) &&
                   py->count < CAPTURE_FRAMES_MAX;
        return;
    }
    ProcessMemory memory = memory_of(r);
    if (state == 0)
        return;
    py->count = python_frames(&py->python, &memory, state, py->frames, PYTHON_FRAMES_MAX);
    // The thread has run on meanwhile: a value that does not fit is of another moment.
    if (py->count < PYTHON_FRAMES_MAX && entry_count(py) != interpreters)
        py->count = 0;
}

uint32_t runtime_frames_python(RuntimeFrames *r, const UnwindFrame *frame, FrameId *ret,
                               uint32_t max)
{
    PythonRuntime *py = r->python;
    uint32_t n = 0;
    if (!py || !is_interpreter(r, frame))
        return 0;
    if (py->skip) {
        py->skip = false;
        return 0;
    }
    while (py->next < py->count) {
        const PythonFrame *f = &py->frames[py->next++];
        bool ends = python_is_entry(&py->python, f);
        bool is_shim = ends && py->python.entry == PYTHON_ENTRY_SHIM;
        FrameId place = is_shim ? (FrameId){0} : python_place(r, f);
        if (place.v && n < max)
            ret[n++] = place;
        if (ends)
            break;
    }
    return n;
}

// V8's own functions in its file, among them the interpreter, have no unwind rules.
static bool is_builtin(RuntimeFrames *r, const UnwindMapping *m, uint64_t pc)
{
    ModuleFile *file = modules_get(r->modules, m->user);
    if (!file->opened || file->elf.file.len < V8_BYTES_MIN || (file->v8_tried && !file->v8))
        return false;
    // A look at all symbols costs less than the rules of many addresses.
    if (++file->v8_asked > V8_ASKS && !has_v8(r, file))
        return false;
    return unwind_space_action(r->space, pc).kind == UNWIND_NONE;
}

// Notes whose code it is that has no names.
static void find_kind(RuntimeFrames *r, ModuleFile *generated)
{
    if (generated->runtime || generated->kind_searches++ >= KIND_SEARCHES)
        return;
    for (uint32_t i = 0; i < r->space->count && !generated->runtime; i++)
        generated->runtime = runtime_kind_find(modules_get(r->modules, r->space->at[i].user)->path);
}

bool runtime_frames_may_name(RuntimeFrames *r, uint64_t pc)
{
    const UnwindMapping *m = unwind_space_find(r->space, pc);
    return m && (m->flags & UNWIND_MAP_JIT || is_builtin(r, m, pc));
}

bool runtime_frames_name(RuntimeFrames *r, const UnwindFrame *frame, const UnwindMemory *stack,
                         FrameId *ret, bool *ret_below)
{
    *ret_below = false;
    const UnwindMapping *m = unwind_space_find(r->space, frame->pc);
    if (!m)
        return false;
    bool is_generated = m->flags & UNWIND_MAP_JIT;
    if (!(is_generated || is_builtin(r, m, frame->pc)))
        return false;
    if (!find_runtimes(r) || r->lua_file) {
        if (is_generated)
            find_kind(r, modules_get(r->modules, m->user));
        return false;
    }
    if (r->java)
        return is_generated && name_java(r, frame, stack, ret);
    return name_script(r, frame, stack, is_generated, ret, ret_below);
}
