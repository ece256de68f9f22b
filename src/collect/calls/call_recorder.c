// SPDX-License-Identifier: Apache-2.0
// From hits at entries and returns to calls of the profile.

#include "collect/calls/call_recorder.h"

#include "collect/bpf/process_set.h"
#include "collect/calls/call_hooks_internal.h"
#include "collect/calls/pairing_internal.h"

#include <stddef.h>

struct CallRecorder {
    CallHooks hooks;
    Pairing pairing;
    const CallPlan *plan;
    Profile *profile;
    const uint32_t *tids;
    size_t tid_count;
    FrameId *frames; // [function]
    StrId result;    // the name of the value that a function returns
};

bool calls_open(const CallsSetup *setup, CallRecorder **ret, Error *err)
{
    CallRecorder *c = heap_alloc(sizeof(*c));
    if (!call_hooks_open(setup, &c->hooks, err)) {
        heap_free(c);
        return false;
    }
    Profile *p = setup->profile;
    c->plan = setup->plan;
    c->profile = c->pairing.profile = p;
    c->tids = setup->tids;
    c->tid_count = setup->tid_count;
    c->result = profile_str(p, STR("result"));
    c->pairing.goroutine = profile_str(p, STR("goroutine"));
    c->pairing.end_thread = profile_str(p, STR("end_thread"));
    c->frames = heap_alloc(setup->plan->functions.len * sizeof(*c->frames));
    for (size_t i = 0; i < setup->plan->functions.len; i++) {
        const CallFunction *f = &setup->plan->functions.at[i];
        ModuleId module = profile_module(p, MODULE_FILE, f->path, f->build_id);
        c->frames[i] = profile_frame(p, module, f->svma, FRAME_EXACT);
    }
    *ret = c;
    return true;
}

void calls_close(CallRecorder *c)
{
    if (!c)
        return;
    call_hooks_close(&c->hooks);
    pairing_deinit(&c->pairing);
    heap_free(c->frames);
    heap_free(c);
}

void calls_stop(CallRecorder *c)
{
    call_hooks_detach(&c->hooks);
}

const uint64_t *calls_ids(const CallRecorder *c, size_t *count)
{
    *count = c->hooks.event_count;
    return c->hooks.ids;
}

void calls_add_process(CallRecorder *c, uint32_t pid)
{
    process_set_add(&c->hooks.shared->processes, pid);
}

// ---- Values ------------------------------------------------------------------------------

// The word of struct pt_regs that holds a register, by perf's number (asm/perf_regs.h); -1: none
// of those that are sent.
static int word_of(uint8_t reg)
{
    static const int8_t words[] = {10, 5, 11, 12, 13, 14, 4, -1, -1};
    if (reg < ARRAY_LEN(words))
        return words[reg];
    return reg >= 16 && reg <= 23 ? 9 - (reg - 16) : -1; // r8 … r15
}

// The lowest bytes of a value, with its sign.
static int64_t cut_to_size(uint64_t v, const EventArg *a)
{
    if (a->size >= 8 || a->size == 0)
        return (int64_t)v;
    unsigned shift = 64 - 8u * a->size;
    return a->is_signed ? (int64_t)(v << shift) >> shift : (int64_t)(v << shift >> shift);
}

static int64_t value_of(const EventArg *a, const CallRecord *r)
{
    if (a->kind == EVENT_ARG_CONSTANT)
        return a->offset;
    int word = word_of(a->reg);
    uint64_t v = a->reg == 7 ? r->sp : word < 0 ? 0 : r->regs[word];
    return cut_to_size(v + (uint64_t)a->offset, a);
}

static size_t values_of(CallRecorder *c, const CallFunction *f, const CallRecord *r,
                        PairingValue *values)
{
    size_t count = MIN(f->arg_count, (size_t)PAIRING_VALUES_MAX - 1);
    for (size_t i = 0; i < count; i++)
        values[i] =
            (PairingValue){profile_str(c->profile, f->args[i].name), value_of(&f->args[i], r)};
    return count;
}

// ---- Records -----------------------------------------------------------------------------

static bool is_wanted(const CallRecorder *c, uint32_t tid)
{
    for (size_t i = 0; i < c->tid_count; i++)
        if (c->tids[i] == tid)
            return true;
    return c->tid_count == 0;
}

static void enter(CallRecorder *c, const CallFunction *f, const CallRecord *r, PairingHit *h)
{
    PairingValue values[PAIRING_VALUES_MAX] = {{{0}, 0}};
    h->value_count = values_of(c, f, r, values);
    h->values = values;
    uint64_t key = (uint64_t)values[0].value;
    if (f->role == CALL_ROLE_CALL) {
        pairing_enter(&c->pairing, h);
    } else if (f->role == CALL_ROLE_BEGIN) {
        pairing_begin(&c->pairing, key, h);
    } else {
        h->values++; // the key is kept already
        h->value_count--;
        pairing_end(&c->pairing, key, h);
    }
    h->values = NULL;
}

static void leave(CallRecorder *c, const CallFunction *f, const CallRecord *r, PairingHit *h)
{
    PairingValue result = {c->result, (int64_t)r->result};
    h->values = &result;
    h->value_count = f->takes_result;
    pairing_return(&c->pairing, h);
    h->values = NULL;
}

void calls_record(CallRecorder *c, Consumer *consumer, const PerfRecord *record)
{
    CallRecord r = {0};
    Bytes raw = record->u.sample->raw;
    if (raw.len < offsetof(CallRecord, regs) || !is_wanted(c, record->tid))
        return;
    memcpy(&r, raw.ptr, MIN(raw.len, sizeof(r)));
    uint32_t place = (uint32_t)r.cookie;
    if (place >= c->plan->places.len)
        return;
    const CallPlace *p = &c->plan->places.at[place];
    const CallFunction *f = &c->plan->functions.at[p->function];
    // Goroutines have addresses, threads small numbers: both are apart. What describes a goroutine
    // that has ended describes another one later, so that the number is better where it is known.
    uint64_t goroutine = r.goroutine_id ? ~r.goroutine_id : r.goroutine;
    PairingHit h = {.function = p->function,
                    .flow = r.goroutine ? hash_pair(goroutine, record->pid) : record->tid,
                    .is_go = r.goroutine != 0,
                    .goroutine = r.goroutine_id,
                    .sp = r.sp,
                    .return_address = r.return_address,
                    .time_ns = consumer_time(consumer, record->time),
                    .frame = c->frames[p->function],
                    .thread = consumer_thread(consumer, record->pid, record->tid)};
    if (p->is_return)
        leave(c, f, &r, &h);
    else
        enter(c, f, &r, &h);
}

Bytes calls_mend(CallRecorder *c, uint32_t tid, uint64_t *ip, uint64_t *sp, Bytes stack)
{
    uint64_t before = *sp;
    pairing_mend(&c->pairing, tid, before, (uint8_t *)(uintptr_t)stack.ptr, stack.len);
    if (pairing_step_out(&c->pairing, tid, ip, sp))
        stack = bytes_slice(stack, MIN((size_t)(*sp - before), stack.len), stack.len);
    return stack;
}

void calls_finish(CallRecorder *c, int64_t end_ns, CallCounts *ret)
{
    const CallShared *s = c->hooks.shared;
    pairing_finish(&c->pairing, end_ns);
    *ret = (CallCounts){.calls = c->profile->calls.frame.len,
                        .lost = s->lost,
                        .left = c->pairing.left,
                        .unmatched = c->pairing.unmatched,
                        .no_room = s->processes.no_room};
}
