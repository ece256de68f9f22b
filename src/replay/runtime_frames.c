// SPDX-License-Identifier: Apache-2.0
// Runtimes in observed processes.

#include "replay/runtime_frames.h"

#include "base/log.h"
#include "replay/live_stack.h"
#include "runtimes/hotspot.h"
#include "runtimes/v8.h"

enum {
    CODE_CACHE_SIZE = 1 << 10,
    NAME_CACHE_SIZE = 1 << 10,
    SEARCHES_IN_A_ROW = 64,
    V8_BYTES_MIN = 8 << 20, // smaller files hold no V8
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

// The copy is of the sample's time; what lies above it is read now.
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

static void find_script(RuntimeFrames *r, ModuleFile *m)
{
    if (m->v8_tried && !m->v8)
        return;
    if (!m->v8_tried) {
        V8 v;
        m->v8_tried = true;
        if (!v8_open(&m->elf, &v))
            return;
        m->v8 = arena_new(&r->modules->arena, V8);
        *m->v8 = v;
    }
    r->script = heap_alloc(sizeof(*r->script));
    r->script->v8 = *m->v8;
    r->script->module = profile_module(r->profile, MODULE_JIT, STR("[JavaScript]"), STR(""));
    FunctionId f = profile_function(r->profile, STR("(code of V8)"), STR(""), STR(""), 0);
    r->script->unnamed = profile_named_frame(r->profile, r->script->module, 0, f,
                                             profile_str(r->profile, STR("")), 0, 0);
    log_debug(LOG_RECORD, 1, "process %u runs V8", r->pid);
}

// A runtime may come later than generated code, so it is looked for again, less and less often.
static bool find_runtimes(RuntimeFrames *r)
{
    if (r->java || r->script)
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
        else if (m->elf.file.len >= V8_BYTES_MIN)
            find_script(r, m);
    }
    return r->java || r->script;
}

void runtime_frames_deinit(RuntimeFrames *r)
{
    heap_free(r->java);
    heap_free(r->script);
    r->java = NULL;
    r->script = NULL;
    r->searches = 0;
}

bool runtime_frames_found(const RuntimeFrames *r)
{
    return r->java || r->script;
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

UnwindGeneratedEnd runtime_frames_step(void *ctx, UnwindGenerated *frame)
{
    RuntimeFrames *r = ctx;
    if (!find_runtimes(r) || !r->java)
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

// V8's own functions in its file, among them the interpreter, have no unwind rules.
static bool is_builtin(RuntimeFrames *r, const UnwindMapping *m, uint64_t pc)
{
    const ModuleFile *file = modules_get(r->modules, m->user);
    if (!file->opened || file->elf.file.len < V8_BYTES_MIN || (file->v8_tried && !file->v8))
        return false;
    return unwind_space_action(r->space, pc).kind == UNWIND_NONE;
}

bool runtime_frames_name(RuntimeFrames *r, const UnwindFrame *frame, const UnwindMemory *stack,
                         FrameId *ret, bool *ret_below)
{
    *ret_below = false;
    const UnwindMapping *m = unwind_space_find(r->space, frame->pc);
    if (!m)
        return false;
    bool is_generated = m->flags & UNWIND_MAP_JIT;
    if (!(is_generated || is_builtin(r, m, frame->pc)) || !find_runtimes(r))
        return false;
    if (r->java)
        return is_generated && name_java(r, frame, stack, ret);
    return name_script(r, frame, stack, is_generated, ret, ret_below);
}
