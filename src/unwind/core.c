// SPDX-License-Identifier: Apache-2.0
// Unwinds stacks by unwind tables. Freestanding: no libc, no allocation.

#include "unwind/core.h"

#include "unwind/expr_internal.h"

// How often the stack pointer of a caller may be lower: signal stacks, coroutines.
enum { SWITCH_MAX = 8 };
// A frame further above the window is not of the same stack.
#define STACK_SPAN_MAX ((uint64_t)256 << 20)
// A user address has 48 bits in the usual layout of aarch64.
#define AARCH64_ADDRESS_MASK (((uint64_t)1 << 48) - 1)

typedef struct Walker {
    UnwindSpace *space;
    UnwindCache *cache;
    uint64_t key_base; // a pc plus this is the key of the cache
    const UnwindMemory *memory;
    uint64_t pc, sp, fp;
    uint64_t known;        // bit i: other[i] is valid
    const uint64_t *other; // all registers but pc, sp and fp
    uint64_t bx;           // x86-64: the last known value of rbx, and
    bool bx_known;
    bool bx_lost;   // it was saved later at an unknown place
    uint64_t bx_at; // or the address at which it was saved; 0: it was not
    // Frames that walk_simple has left, and which may have saved it: looked at when it is needed.
    const UnwindFrame *bx_frame;
    uint32_t bx_frames;
    uint64_t first_sp;
    uint64_t buffer[2][UNWIND_REG_COUNT];
    unsigned buffer_next;
    bool exact;    // pc is not a return address
    bool guessed;  // the last step was a guess by the frame pointer
    bool cut_seen; // a load went above the window, and window_cut is set
    unsigned switches;
    uint8_t sp_reg, fp_reg, ra_reg;
    bool is_aarch64;
    uint64_t code_mask;
} Walker;

// ---- Tables ------------------------------------------------------------------

// The number of the row for an address, which lies `at` bytes from the table's first.
static inline uint32_t row_at(const UnwindTable *t, uint64_t at)
{
    uint64_t b = at >> t->bucket_shift;
    uint32_t low = t->bucket[b], high = t->bucket[b + 1];
    uint32_t key = (uint32_t)at & 0xffff;
    while (high - low > 8) {
        uint32_t middle = low + (high - low) / 2;
        if ((t->row[middle] & 0xffff) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < high && (t->row[low] & 0xffff) <= key)
        low++;
    return low - 1; // row 0 is at 0: low > 0
}

UnwindAction unwind_table_find(const UnwindTable *t, uint64_t svma)
{
    uint64_t at = svma - t->base_svma;
    if (svma < t->base_svma || at >= t->size)
        return (UnwindAction){.kind = UNWIND_NONE};
    return t->action[t->row[row_at(t, at)] >> 16];
}

bool unwind_table_is_uniform(const UnwindTable *t, uint64_t svma, uint64_t size)
{
    uint64_t at = svma - t->base_svma;
    if (svma < t->base_svma || at >= t->size || size > t->size - at)
        return false;
    uint32_t first = row_at(t, at), last = row_at(t, at + size - 1);
    for (uint32_t i = first + 1; i <= last; i++)
        if (t->row[i] >> 16 != t->row[first] >> 16)
            return false;
    return true;
}

UnwindMapping *unwind_space_find(UnwindSpace *s, uint64_t avma)
{
    if (s->last < s->count) {
        UnwindMapping *m = &s->at[s->last];
        if (avma >= m->start && avma < m->end)
            return m;
    }
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->at[middle].start <= avma)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || avma >= s->at[low - 1].end)
        return NULL;
    s->last = low - 1;
    return &s->at[low - 1];
}

static void load_table(const UnwindSpace *s, UnwindMapping *m)
{
    if (!(m->flags & UNWIND_MAP_LAZY))
        return;
    m->flags &= ~(uint32_t)UNWIND_MAP_LAZY;
    if (s->load)
        m->table = s->load(s->ctx, m);
}

const UnwindMapping *unwind_space_loaded(UnwindSpace *s, uint64_t avma)
{
    UnwindMapping *m = unwind_space_find(s, avma);
    if (m)
        load_table(s, m);
    return m;
}

UnwindMapping *unwind_space_mapping(UnwindSpace *s, uint64_t pc, UnwindMapping *copy)
{
    UnwindMapping *m = unwind_space_find(s, pc);
    return !m && s->find && s->find(s->ctx, pc, copy) ? copy : m;
}

// The same with its table loaded.
static const UnwindMapping *loaded_mapping_of(UnwindSpace *s, uint64_t pc, UnwindMapping *copy)
{
    UnwindMapping *m = unwind_space_mapping(s, pc, copy);
    if (m)
        load_table(s, m);
    return m;
}

static UnwindAction action_of_mapping(const UnwindSpace *s, const UnwindMapping *m, uint64_t pc)
{
    if (!m || !m->table || m->table->arch != s->arch)
        return (UnwindAction){.kind = UNWIND_NONE};
    return unwind_table_find(m->table, pc - m->bias);
}

UnwindAction unwind_space_action(UnwindSpace *s, uint64_t pc)
{
    UnwindMapping copy;
    UnwindMapping *m = unwind_space_mapping(s, pc, &copy);
    UnwindAction found;
    if (m && (m->flags & UNWIND_MAP_LAZY) && s->search &&
        s->search(s->ctx, m, pc - m->bias, &found))
        return found;
    if (m)
        load_table(s, m);
    return action_of_mapping(s, m, pc);
}

static UnwindCacheEntry *cache_entry(UnwindCache *cache, uint64_t key)
{
    // The low bits of addresses behind calls are as good as any hash of them; on aarch64 the lowest
    // two are always the same.
    return &cache->at[(key ^ key >> 2) & (UNWIND_CACHE_SIZE - 1)];
}

// What is not in its entry may be in the one beside it, where the entry that was there before went:
// two addresses of one stack that share an entry must not be looked up at each walk.
__attribute__((noinline)) static UnwindAction action_not_cached(Walker *w, uint64_t pc,
                                                                uint64_t key, UnwindCacheEntry *e)
{
    UnwindCacheEntry *beside = &w->cache->at[(size_t)(e - w->cache->at) ^ 1];
    UnwindCacheEntry now = *beside;
    if (now.key != key || key == 0)
        now = (UnwindCacheEntry){key, unwind_space_action(w->space, pc)};
    *beside = *e;
    *e = now;
    return now.action;
}

static inline UnwindAction action_of(Walker *w, uint64_t pc)
{
    if (!w->cache)
        return unwind_space_action(w->space, pc);
    uint64_t key = pc + w->key_base;
    UnwindCacheEntry *e = cache_entry(w->cache, key);
    if (UNLIKELY(e->key != key || key == 0))
        return action_not_cached(w, pc, key, e);
    return e->action;
}

// ---- Memory and registers --------------------------------------------------------

static bool load_slow(Walker *w, uint64_t addr, uint64_t *ret)
{
    const UnwindMemory *m = w->memory;
    if (m->read && m->read(m->ctx, addr, ret))
        return true;
    uint64_t end = m->window_addr + m->window_size;
    if (m->window_cut && addr + 8 > end && addr < end + STACK_SPAN_MAX)
        w->cut_seen = true;
    return false;
}

static inline bool load(Walker *w, uint64_t addr, uint64_t *ret)
{
    const UnwindMemory *m = w->memory;
    uint64_t at = addr - m->window_addr;
    if (LIKELY(m->window_size >= 8 && at <= m->window_size - 8)) {
        __builtin_memcpy(ret, (const char *)m->window + at, 8);
        return true;
    }
    return load_slow(w, addr, ret);
}

// Looks at the frames that may have saved rbx, each with its caller behind it.
static void note_saved_bx(Walker *w)
{
    for (uint32_t i = 0; i < w->bx_frames; i++) {
        const UnwindFrame *f = &w->bx_frame[i];
        UnwindAction a = action_of(w, f->pc);
        uint64_t at = w->first_sp + 8ull * f[1].sp_words - 8ull * a.bx_slot;
        if (a.bx_slot && at >= w->first_sp + 8ull * f->sp_words) {
            w->bx_at = at;
            w->bx_lost = a.bx_slot == UNWIND_BX_LOST;
        }
    }
    w->bx_frames = 0;
}

static bool bx_get(Walker *w, uint64_t *ret)
{
    note_saved_bx(w);
    if (w->bx_at && !w->bx_lost)
        return load(w, w->bx_at, ret);
    *ret = w->bx;
    return w->bx_known && !w->bx_lost;
}

static bool reg_get(Walker *w, uint64_t reg, uint64_t *ret)
{
    if (reg == UNWIND_X86_64_BX && !w->is_aarch64)
        return bx_get(w, ret);
    if (reg == w->sp_reg)
        *ret = w->sp;
    else if (reg == w->fp_reg)
        *ret = w->fp;
    else if (reg == (w->is_aarch64 ? UNWIND_AARCH64_PC : UNWIND_X86_64_PC))
        *ret = w->pc;
    else if (reg < UNWIND_REG_COUNT && (w->known >> reg & 1))
        *ret = w->other[reg];
    else
        return false;
    return true;
}

static bool expr_reg(void *ctx, uint64_t reg, uint64_t *ret)
{
    return reg_get(ctx, reg, ret);
}

static bool expr_load(void *ctx, uint64_t addr, uint64_t *ret)
{
    return load(ctx, addr, ret);
}

// ---- Steps -------------------------------------------------------------------
// Each step writes the registers of the caller to the walker; on false it changes nothing.

static bool set_caller(Walker *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
    // A caller with a lower stack pointer is on another stack, or the rule is wrong. In the
    // innermost frame of aarch64 nothing may have been pushed yet, so that it may be equal.
    bool may_stay = w->is_aarch64 && w->exact;
    if (UNLIKELY(sp <= w->sp) && !(may_stay && sp == w->sp) && ++w->switches > SWITCH_MAX)
        return false;
    w->pc = pc & w->code_mask;
    w->sp = sp;
    w->fp = fp;
    return true;
}

static inline bool cfa_of(Walker *w, UnwindAction a, uint64_t *ret)
{
    uint8_t reg = a.cfa & UNWIND_CFA_REG;
    uint64_t base;
    if (LIKELY(reg == w->sp_reg))
        base = w->sp;
    else if (reg == w->fp_reg)
        base = w->fp;
    else if (!reg_get(w, reg, &base))
        return false;
    if (LIKELY(!(a.cfa & UNWIND_CFA_DEREF))) {
        *ret = base + (uint64_t)(int64_t)unwind_cfa_off(a);
        return true;
    }
    uint64_t addr = base + (uint64_t)(int64_t)(int16_t)(a.cfa_off & 0xffff);
    if (!load(w, addr, ret))
        return false;
    *ret += (uint64_t)(a.cfa_off >> 16 & 0xff);
    return true;
}

// Reads a register that was saved at `addr`. When `addr` is below the stack pointer it has been
// restored already, which compilers do not state in epilogues. False: not readable.
static inline bool saved(Walker *w, uint64_t addr, uint64_t present, uint64_t *ret)
{
    if (UNLIKELY(addr < w->sp)) {
        *ret = present;
        return true;
    }
    return load(w, addr, ret);
}

// The frame pointer of the caller of a function that realigned its stack. gcc states "saved at rbp"
// up to the last instruction of such a function, also after its `pop %rbp`. While rbp is the
// function's own, the word above the saved one is a copy of the return address. If it is not, rbp
// is the caller's already.
static bool fp_of_realigned(Walker *w, UnwindAction a, uint64_t ra, uint64_t *ret)
{
    uint64_t slot = w->fp + (uint64_t)(int64_t)a.fp_off, copy;
    bool in_epilogue = w->exact && !(a.cfa & UNWIND_CFA_DEREF);
    if (in_epilogue && (!load(w, slot + 8, &copy) || copy != ra)) {
        *ret = w->fp;
        return true;
    }
    return saved(w, slot, w->fp, ret);
}

static inline bool step_x86_64(Walker *w, UnwindAction a)
{
    uint64_t cfa, ra, fp = w->fp;
    if (a.kind == UNWIND_PLT)
        cfa = w->sp + 8 + ((w->pc & 15) >= (uint64_t)a.fp_off ? 8 : 0);
    else if (!cfa_of(w, a, &cfa))
        return false;
    if (a.kind == UNWIND_FP_AT_CFA && !saved(w, cfa + (uint64_t)(int64_t)a.fp_off, w->fp, &fp))
        return false;
    uint64_t sp = w->sp;
    if (!load(w, cfa - 8, &ra))
        return false;
    if (a.kind == UNWIND_FP_AT_FP && !fp_of_realigned(w, a, ra, &fp))
        return false;
    if (!set_caller(w, ra, cfa, fp))
        return false;
    if (a.bx_slot && cfa - 8u * a.bx_slot >= sp) {
        w->bx_at = cfa - 8u * a.bx_slot;
        w->bx_lost = a.bx_slot == UNWIND_BX_LOST;
        w->bx_frames = 0;
    }
    w->known = 0;
    w->exact = false;
    return true;
}

static inline bool step_aarch64(Walker *w, UnwindAction a)
{
    uint64_t cfa, ra = 0, fp = w->fp, lr = 0;
    bool has_lr = reg_get(w, UNWIND_AARCH64_LR, &lr);
    if (!cfa_of(w, a, &cfa))
        return false;
    uint64_t slot = cfa + (uint64_t)(int64_t)a.fp_off;
    if (a.kind == UNWIND_RA_IN_LR || a.kind == UNWIND_AFTER_CLONE) {
        // Only a frame that has made no call still has it there.
        if (!w->exact || !has_lr)
            return false;
        ra = lr;
    } else if (a.kind == UNWIND_RA_AT_CFA) {
        if (!(slot < w->sp && !has_lr ? load(w, slot, &ra) : saved(w, slot, lr, &ra)))
            return false;
    } else {
        if (!saved(w, slot, w->fp, &fp))
            return false;
        slot += 8;
        if (!(slot < w->sp && !has_lr ? load(w, slot, &ra) : saved(w, slot, lr, &ra)))
            return false;
    }
    if (!set_caller(w, ra, cfa, fp))
        return false;
    w->known = 0;
    w->exact = false;
    return true;
}

static bool rule_value(Walker *w, const UnwindTable *t, const UnwindRule *r, uint64_t cfa,
                       uint64_t *ret)
{
    ExprContext context = {.reg = expr_reg, .load = expr_load, .ctx = w};
    uint64_t addr, present;
    switch ((UnwindRuleKind)r->kind) {
    case UNWIND_RULE_AT_CFA:
        addr = cfa + (uint64_t)(int64_t)r->value;
        if (addr < w->sp && reg_get(w, r->reg, &present)) {
            *ret = present;
            return true;
        }
        return load(w, addr, ret);
    case UNWIND_RULE_CFA_PLUS:
        *ret = cfa + (uint64_t)(int64_t)r->value;
        return true;
    case UNWIND_RULE_REG:
        return reg_get(w, (uint64_t)r->value, ret);
    case UNWIND_RULE_AT_EXPR:
        return expr_evaluate(t->expr + r->value, r->len, &cfa, &context, &addr) &&
               load(w, addr, ret);
    case UNWIND_RULE_EXPR:
        return expr_evaluate(t->expr + r->value, r->len, &cfa, &context, ret);
    case UNWIND_RULE_SAME:
    case UNWIND_RULE_UNDEFINED:
        break;
    }
    return false;
}

static bool rule_cfa(Walker *w, const UnwindTable *t, const UnwindRule *r, uint64_t *ret)
{
    ExprContext context = {.reg = expr_reg, .load = expr_load, .ctx = w};
    if (r->kind == UNWIND_RULE_EXPR)
        return expr_evaluate(t->expr + r->value, r->len, NULL, &context, ret);
    if (!reg_get(w, r->len, ret))
        return false;
    *ret += (uint64_t)(int64_t)r->value;
    return true;
}

// The registers that a called function must preserve.
static uint64_t callee_saved(const Walker *w)
{
    if (w->is_aarch64)
        return 0x3ffull << 19; // x19 to x28
    return 0xfu << 12;         // r12 to r15; rbx is tracked separately
}

// The step for all kinds of rules. Registers without a rule keep their value; a signal frame saves
// all of them.
static bool step_full(Walker *w, const UnwindTable *t, UnwindAction a)
{
    const UnwindRule *rule = t->rule + a.cfa_off;
    uint32_t count = (uint32_t)a.fp_off;
    uint64_t cfa;
    if (!rule_cfa(w, t, &rule[0], &cfa))
        return false;
    uint64_t *next = w->buffer[w->buffer_next];
    bool is_signal = a.cfa & UNWIND_SIGNAL_FRAME;
    uint64_t keep = w->exact || is_signal ? w->known & callee_saved(w) : 0;
    uint64_t set = 0;
    bool has_bx_rule = false;
    for (uint32_t i = 1; i < count; i++) {
        keep &= ~((uint64_t)1 << rule[i].reg);
        has_bx_rule = has_bx_rule || rule[i].reg == UNWIND_X86_64_BX;
        if (rule_value(w, t, &rule[i], cfa, &next[rule[i].reg]))
            set |= (uint64_t)1 << rule[i].reg;
    }
    for (unsigned reg = 0; reg < UNWIND_REG_COUNT; reg++)
        if (keep >> reg & 1)
            next[reg] = w->other[reg];
    uint64_t present;
    unsigned pc_reg = w->ra_reg;
    if (w->is_aarch64 && (set >> UNWIND_AARCH64_PC & 1))
        pc_reg = UNWIND_AARCH64_PC;
    if (!(set >> pc_reg & 1)) {
        bool in_lr = w->is_aarch64 && w->exact && reg_get(w, UNWIND_AARCH64_LR, &present);
        if (!in_lr)
            return false;
        next[pc_reg] = present;
    }
    uint64_t fp = set >> w->fp_reg & 1 ? next[w->fp_reg] : w->fp;
    uint64_t sp = set >> w->sp_reg & 1 ? next[w->sp_reg] : cfa;
    if (!set_caller(w, next[pc_reg], sp, fp))
        return false;
    if (has_bx_rule) {
        w->bx = next[UNWIND_X86_64_BX];
        w->bx_known = set >> UNWIND_X86_64_BX & 1;
        w->bx_lost = false;
        w->bx_at = 0;
        w->bx_frames = 0;
    }
    w->other = next;
    w->known = set | keep;
    w->buffer_next ^= 1;
    w->exact = is_signal;
    return true;
}

// A step without a rule: follows the frame pointer if it looks like one.
static bool step_guess(Walker *w)
{
    uint64_t fp = 0, ra = 0;
    UnwindMapping copy;
    if (w->fp < w->sp || (w->fp & 7) || !load(w, w->fp, &fp) || !load(w, w->fp + 8, &ra))
        return false;
    ra &= w->code_mask;
    if (fp != 0 && fp <= w->fp)
        return false;
    if (ra != 0 && !unwind_space_mapping(w->space, ra - 1, &copy))
        return false;
    w->pc = ra;
    w->sp = w->fp + 16;
    w->fp = fp;
    w->known = 0;
    w->bx_lost = true;
    w->bx_frames = 0;
    w->exact = false;
    w->guessed = true;
    return true;
}

// A step for a call through a bad pointer: only the return address has been pushed.
static bool step_bad_call(Walker *w)
{
    uint64_t ra = 0;
    UnwindMapping copy;
    if (!w->exact)
        return false;
    if (w->is_aarch64) {
        if (!reg_get(w, UNWIND_AARCH64_LR, &ra))
            return false;
    } else if (!load(w, w->sp, &ra)) {
        return false;
    }
    ra &= w->code_mask;
    if (ra == 0 || !unwind_space_mapping(w->space, ra - 1, &copy))
        return false;
    w->pc = ra;
    w->sp += w->is_aarch64 ? 0 : 8;
    w->known = 0;
    w->exact = false;
    w->guessed = true;
    return true;
}

static bool load_generated(void *ctx, uint64_t addr, uint64_t *ret)
{
    return load(ctx, addr, ret);
}

// A step by the tables of the runtime.
static UnwindGeneratedEnd step_generated(Walker *w)
{
    UnwindGenerated f = {w->pc, w->sp, w->fp, w->exact, load_generated, w};
    UnwindGeneratedEnd end = w->space->generated(w->space->generated_ctx, &f);
    if (end != UNWIND_GENERATED_STEPPED)
        return end;
    if (f.sp <= w->sp)
        return UNWIND_GENERATED_CUT;
    w->pc = f.pc;
    w->sp = f.sp;
    w->fp = f.fp;
    w->known = 0;
    w->bx_lost = true;
    w->bx_frames = 0;
    w->exact = false;
    w->guessed = false;
    return end;
}

static UnwindEnd leave_outermost(Walker *w)
{
    w->pc = 0;
    w->exact = false;
    return UNWIND_COMPLETE;
}

// Whether a system call that returns twice returned 0. rax and x0 have number 0. During the call
// the kernel keeps an error code in the parent's.
static bool is_clone(Walker *w)
{
    uint64_t result;
    return reg_get(w, 0, &result) && result == 0;
}

static UnwindEnd step_without_rule(Walker *w, uint64_t lookup)
{
    UnwindMapping copy;
    const UnwindMapping *m = unwind_space_mapping(w->space, lookup, &copy);
    // A frame pointer of 0 is the end mark of the psABI. It is trusted when frame pointers led
    // here. Threads do not begin in generated code, which may use the register for something else.
    if (m && w->guessed && w->fp == 0 && !(m->flags & UNWIND_MAP_JIT))
        return leave_outermost(w);
    if (m && (m->flags & UNWIND_MAP_JIT) && w->space->generated) {
        UnwindGeneratedEnd end = step_generated(w);
        if (end == UNWIND_GENERATED_STEPPED)
            return UNWIND_COMPLETE;
        if (end == UNWIND_GENERATED_CUT)
            return w->cut_seen ? UNWIND_CUT_DUMP_SHORT : UNWIND_CUT_JIT;
    }
    if (m ? step_guess(w) : step_bad_call(w))
        return UNWIND_COMPLETE;
    if (!m)
        return UNWIND_CUT_UNKNOWN_MAP;
    return m->flags & UNWIND_MAP_JIT ? UNWIND_CUT_JIT : UNWIND_CUT_NO_TABLE;
}

static bool step_by_rule(Walker *w, UnwindAction a, uint64_t lookup)
{
    if (a.kind == UNWIND_FULL) {
        UnwindMapping copy;
        // First, because the table that `find` returns is only good until it is called again.
        note_saved_bx(w);
        const UnwindMapping *m = loaded_mapping_of(w->space, lookup, &copy);
        return m && m->table && step_full(w, m->table, a);
    }
    return w->is_aarch64 ? step_aarch64(w, a) : step_x86_64(w, a);
}

// One step outwards, from a frame with the rule `a`. UNWIND_COMPLETE with pc 0: there is no caller.
static inline UnwindEnd step(Walker *w, UnwindAction a)
{
    uint64_t lookup = w->exact ? w->pc : w->pc - 1;
    if (UNLIKELY(a.kind == UNWIND_NONE))
        return step_without_rule(w, lookup);
    w->guessed = false;
    if (UNLIKELY(a.kind == UNWIND_END || (a.kind == UNWIND_AFTER_CLONE && is_clone(w))))
        return leave_outermost(w);
    if (LIKELY(step_by_rule(w, a, lookup)))
        return UNWIND_COMPLETE;
    return w->cut_seen ? UNWIND_CUT_DUMP_SHORT : UNWIND_CUT_BAD_FRAME;
}

// ---- The walk ------------------------------------------------------------------

static void walker_init(Walker *w, UnwindSpace *space, UnwindCache *cache, const UnwindRegs *regs,
                        const UnwindMemory *memory)
{
    w->space = space;
    w->cache = cache;
    w->memory = memory;
    // The generation is spread over all 64 bits, so that keys of different generations do not
    // collide.
    w->key_base = space->generation * 0x9e3779b97f4a7c15ull;
    w->is_aarch64 = space->arch == UNWIND_AARCH64;
    w->sp_reg = w->is_aarch64 ? UNWIND_AARCH64_SP : UNWIND_X86_64_SP;
    w->fp_reg = w->is_aarch64 ? UNWIND_AARCH64_FP : UNWIND_X86_64_FP;
    w->ra_reg = w->is_aarch64 ? UNWIND_AARCH64_LR : UNWIND_X86_64_PC;
    w->code_mask = ~space->pac_mask;
    if (w->is_aarch64 && space->pac_mask == 0)
        w->code_mask = AARCH64_ADDRESS_MASK;
    w->pc = regs->pc;
    w->sp = regs->reg[w->sp_reg];
    w->fp = regs->known >> w->fp_reg & 1 ? regs->reg[w->fp_reg] : 0;
    w->known = regs->known;
    w->other = regs->reg;
    w->bx = regs->reg[UNWIND_X86_64_BX];
    w->bx_known = regs->known >> UNWIND_X86_64_BX & 1;
    w->bx_lost = false;
    w->bx_at = 0;
    w->bx_frames = 0;
    w->first_sp = w->sp;
    w->buffer_next = 0;
    w->exact = true;
    w->guessed = false;
    w->cut_seen = false;
    w->switches = 0;
}

// The frames of a walk.
typedef struct Frames {
    UnwindFrame *at;
    uint32_t count, max;
} Frames;

// An action as one word: in registers its fields are cheaper to take from there.
typedef struct ActionWord {
    uint64_t word;
} ActionWord;

static inline ActionWord word_of(UnwindAction a)
{
    ActionWord ret;
    _Static_assert(sizeof(a) == sizeof(ret), "an action is one word");
    __builtin_memcpy(&ret, &a, sizeof(ret));
    return ret;
}

static inline UnwindAction action_of_word(ActionWord a)
{
    UnwindAction ret;
    __builtin_memcpy(&ret, &a, sizeof(ret));
    return ret;
}

static inline uint8_t word_kind(ActionWord a)
{
    return (uint8_t)a.word;
}

static inline uint8_t word_cfa(ActionWord a)
{
    return (uint8_t)(a.word >> 8);
}

static inline uint64_t word_fp_off(ActionWord a)
{
    return (uint64_t)(int64_t)(int16_t)(a.word >> 16);
}

// The distance of the CFA, in words of 8 bytes.
static inline uint64_t word_cfa_words(ActionWord a)
{
    return (uint64_t)((int64_t)(a.word << 8) >> 43);
}

// Most frames of x86-64 have a CFA at a constant distance from the stack pointer or the frame
// pointer, of whole words.
static inline bool is_simple(ActionWord a)
{
    _Static_assert(UNWIND_FP_AT_CFA == UNWIND_FP_KEPT + 1, "one subtraction tests both");
    _Static_assert(UNWIND_X86_64_SP == UNWIND_X86_64_FP + 1, "the same");
    uint64_t beyond = a.word - (UNWIND_FP_KEPT | UNWIND_X86_64_FP << 8);
    return (beyond & 0x70000fefe) == 0;
}

// Takes as many steps with simple actions as there are, where all words are in the window and the
// caller's action is in the cache, and returns the action of the frame that it came to, the last
// one in `frames`. The address of a frame depends on the action of the one before it, which depends
// on its return address: about 20 cycles one after the other. So the caller's stack pointer is
// guessed, as what it was when a frame last began here, and the processor goes on with the guess
// while it loads what proves it.
__attribute__((noinline)) static UnwindAction walk_simple(Walker *w, UnwindAction first_action,
                                                          Frames *frames)
{
    const UnwindMemory *m = w->memory;
    UnwindCache *cache = w->cache;
    UnwindFrame *f = &frames->at[frames->count], *end = &frames->at[frames->max];
    uint64_t sp = w->sp, fp = w->fp, first_sp = w->first_sp, key_base = w->key_base;
    ActionWord a = word_of(first_action);
    if (w->is_aarch64 || !cache || m->window_size < 8 || sp < m->window_addr || sp < first_sp ||
        ((sp | first_sp) & 7) || !is_simple(a))
        return first_action;
    // Stack pointers in words of 8 bytes: the first frame's, and the last behind a return address.
    uint64_t first_at = first_sp / 8, at = sp / 8;
    uint64_t limit = MIN((m->window_addr + m->window_size) / 8, first_at + (UNWIND_SP_FAR - 1ull));
    uint64_t shift = (uint64_t)(uintptr_t)m->window - m->window_addr; // where an address is read
    while (f < end) {
        uint16_t *step = &cache->step[at & (UNWIND_CACHE_STEPS - 1)];
        uint64_t size = word_cfa_words(a);
        if (UNLIKELY(word_cfa(a) != UNWIND_X86_64_SP)) {
            f[-1].flags |= UNWIND_FRAME_BY_FP;
            if (fp & 7)
                break;
            size += fp / 8 - at;
        }
        if (UNLIKELY((int64_t)size <= 0))
            break;
        // If the compiler knew that both are equal it would take the one that is known late.
        uint64_t guess = *step, differs = guess ^ size;
        __asm__("" : "+r"(differs));
        if (UNLIKELY(differs)) {
            *step = (uint16_t)size;
            guess = size;
        }
        uint64_t next = at + guess;
        if (UNLIKELY(next > limit))
            break;
        uint64_t behind = next * 8 + shift, ra, caller_fp = fp;
        __builtin_memcpy(&ra, (const void *)(uintptr_t)(behind - 8), 8);
        if (word_kind(a) == UNWIND_FP_AT_CFA) {
            uint64_t slot = next * 8 + word_fp_off(a);
            if (UNLIKELY(slot < at * 8) || UNLIKELY(slot > limit * 8 - 8))
                break;
            __builtin_memcpy(&caller_fp, (const void *)(uintptr_t)(behind + word_fp_off(a)), 8);
        }
        uint64_t key = ra - 1 + key_base;
        const UnwindCacheEntry *e = cache_entry(cache, key);
        if (UNLIKELY(e->key != key))
            break;
        ActionWord caller = word_of(e->action);
        bool ends = !is_simple(caller);
        if (UNLIKELY(ends) && word_kind(caller) == UNWIND_NONE)
            break;
        at = next;
        fp = caller_fp;
        a = caller;
        f->pc = ra - 1;
        f->flags = 0;
        f->sp_words = (uint32_t)(at - first_at);
        f->fp = fp;
        f++;
        if (UNLIKELY(ends))
            break;
    }
    uint32_t first = frames->count, count = (uint32_t)(f - frames->at);
    if (count == first)
        return first_action;
    note_saved_bx(w);
    w->bx_frame = &frames->at[first - 1];
    w->bx_frames = count - first;
    frames->count = count;
    w->pc = f[-1].pc + 1;
    w->sp = at * 8;
    w->fp = fp;
    w->known = 0;
    w->exact = false;
    w->guessed = false;
    return action_of_word(a);
}

UnwindWalk unwind_walk(UnwindSpace *space, UnwindCache *cache, const UnwindRegs *regs,
                       const UnwindMemory *memory, UnwindFrame *frames, uint32_t max)
{
    Walker w;
    UnwindWalk ret = {.frame_count = 1};
    UnwindMapping copy;
    walker_init(&w, space, cache, regs, memory);
    Frames all = {.at = frames, .max = max};
    frames[0] = (UnwindFrame){.pc = w.pc, .flags = UNWIND_FRAME_EXACT, .fp = w.fp};
    UnwindAction a = action_of(&w, w.pc);
    for (;;) {
        all.count = ret.frame_count;
        a = walk_simple(&w, a, &all);
        ret.frame_count = all.count;
        ret.end_pc = w.pc;
        ret.end_sp = w.sp;
        if ((a.cfa & UNWIND_CFA_REG) != w.sp_reg)
            frames[ret.frame_count - 1].flags |= UNWIND_FRAME_BY_FP;
        ret.end = step(&w, a);
        if (UNLIKELY(ret.end != UNWIND_COMPLETE || (w.pc == 0 && !w.exact))) {
            ret.end_fp = a.kind == UNWIND_FP_AT_CFA && !w.is_aarch64 ? w.fp : 0;
            return ret;
        }
        uint64_t at = w.exact ? w.pc : w.pc - 1;
        uint32_t flags =
            (w.exact ? UNWIND_FRAME_EXACT : 0) | (w.guessed ? UNWIND_FRAME_GUESSED : 0);
        a = action_of(&w, at);
        // An address in no mapping is no frame, unless a signal interrupted the program there.
        bool is_code =
            a.kind != UNWIND_NONE || w.exact || unwind_space_mapping(space, at, &copy) != NULL;
        if (UNLIKELY(!is_code || ret.frame_count == max)) {
            ret.end = is_code ? UNWIND_CUT_TOO_DEEP : UNWIND_CUT_UNKNOWN_MAP;
            ret.end_pc = w.pc;
            ret.end_sp = w.sp;
            return ret;
        }
        ret.guessed += w.guessed;
        uint64_t words = (w.sp - w.first_sp) / 8;
        uint32_t sp_words = words < UNWIND_SP_FAR ? (uint32_t)words : UNWIND_SP_FAR;
        frames[ret.frame_count++] = (UnwindFrame){at, flags, sp_words, w.fp};
    }
}

// ---- Registers of perf ------------------------------------------------------------

// The DWARF number of each of perf's x86-64 registers (asm/perf_regs.h); NONE: not needed.
enum { NONE = 0xff };
static const uint8_t perf_x86_64[24] = {0,
                                        3,
                                        2,
                                        1,
                                        4,
                                        5,
                                        UNWIND_X86_64_FP,
                                        UNWIND_X86_64_SP,
                                        UNWIND_X86_64_PC,
                                        NONE,
                                        NONE,
                                        NONE,
                                        NONE,
                                        NONE,
                                        NONE,
                                        NONE,
                                        8,
                                        9,
                                        10,
                                        11,
                                        12,
                                        13,
                                        14,
                                        15};

uint64_t unwind_perf_regs_mask(UnwindArch arch)
{
    // arm64: x0 to x29, lr, sp, pc, in DWARF's order.
    return arch == UNWIND_AARCH64 ? 0x1ffffffffull : 0xff01ffull;
}

uint64_t unwind_perf_regs_mask_at_probes(UnwindArch arch)
{
    // x86-64: rbx, rbp, rsp, rip, r10, r12, r13. arm64: x29, lr, sp, pc.
    return arch == UNWIND_AARCH64 ? 0x1e0000000ull : 0x3401c2ull;
}

bool unwind_regs_from_perf(UnwindArch arch, uint64_t mask, const uint64_t *values, UnwindRegs *ret)
{
    unsigned pc = arch == UNWIND_AARCH64 ? UNWIND_AARCH64_PC : UNWIND_X86_64_PC;
    unsigned sp = arch == UNWIND_AARCH64 ? UNWIND_AARCH64_SP : UNWIND_X86_64_SP;
    uint64_t known = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(mask >> bit & 1))
            continue;
        uint64_t value = *values++;
        unsigned reg = bit;
        if (arch == UNWIND_X86_64)
            reg = bit < ARRAY_LEN(perf_x86_64) ? perf_x86_64[bit] : NONE;
        if (reg >= UNWIND_REG_COUNT)
            continue;
        ret->reg[reg] = value;
        known |= (uint64_t)1 << reg;
    }
    ret->known = known;
    ret->pc = known >> pc & 1 ? ret->reg[pc] : 0;
    return (known >> pc & 1) && (known >> sp & 1);
}
