// SPDX-License-Identifier: Apache-2.0
// Fills the tables by which the kernel's program recognises stacks.

#include "replay/known_stacks.h"

#include "base/arena.h"
#include "base/table.h"
#include "base/vec.h"

enum {
    CLASS_FIRST = KNOWN_CLASS_EXACT + 1,
    CLASS_MAX = (1 << KNOWN_CLASS_BITS) - 1,
    LINE_BYTES = 1 << KNOWN_LINE_SHIFT,
    LINES_AT_ONCE = 16,    // that are classed when one of them is met
    COPIES_JUDGED = 512,   // so many copies tell whether stacks come again
    COPIES_PAUSED = 4096,  // … and for so many none is looked for, when they do not
    COPIES_PER_REPEAT = 4, // more than that cost more than the repeats save
};

typedef struct Known {
    uint64_t hash;
    uint64_t seed;
    StackId outer;
} Known;

struct KnownStacks {
    KnownShared *shared;
    Vec(Known) stacks;
    Table by_hash;
    Vec(uint64_t) classes; // [class - CLASS_FIRST] the action, as a number
    Table by_class;
    uint64_t seeds; // the newest
    bool checks;    // known stacks are copied, too
};

KnownStacks *known_stacks_open(KnownShared *shared, bool checks)
{
    KnownStacks *k = heap_alloc(sizeof(*k));
    k->shared = shared;
    k->checks = checks;
    return k;
}

void known_stacks_close(KnownStacks *k)
{
    if (!k)
        return;
    vec_free(&k->stacks);
    vec_free(&k->classes);
    table_deinit(&k->by_hash);
    table_deinit(&k->by_class);
    heap_free(k);
}

// ---- Which stacks ----------------------------------------------------------------------

// Whether the step from the innermost frame reads nothing but the stack and registers that are
// hashed. Expressions may compute with anything, and what a system call returned is in no hash.
static bool is_plain(UnwindAction a)
{
    bool by_stack =
        a.kind == UNWIND_FP_KEPT || a.kind == UNWIND_FP_AT_CFA || a.kind == UNWIND_FP_AT_FP;
    return by_stack && !(a.cfa & UNWIND_SIGNAL_FRAME);
}

static bool in_ranges(const KnownProcess *p, uint64_t address)
{
    return address - p->low < p->low_size || address - p->high < p->high_size;
}

bool known_stacks_can_take(const WalkedStack *w)
{
    const UnwindFrame *last = &w->frames[w->count - 1];
    if (w->space->arch != UNWIND_X86_64 || w->count < 2 || last->sp_words == UNWIND_SP_FAR ||
        last->sp_words > KNOWN_HASH_MAX / 8 || last->sp_words * 8ull > w->memory->window_size ||
        !is_plain(unwind_space_action(w->space, w->regs->pc)) ||
        unwind_space_action(w->space, last->pc).kind != UNWIND_END)
        return false;
    for (uint32_t i = 1; i < w->count; i++) {
        const UnwindFrame *f = &w->frames[i];
        bool is_call = !(f->flags & (UNWIND_FRAME_EXACT | UNWIND_FRAME_GUESSED));
        if (!is_call || f->sp_words <= w->frames[i - 1].sp_words)
            return false;
    }
    return true;
}

// ---- Tables ------------------------------------------------------------------------------

// The entry of a number in a table of such: its own, or a free one, or one that makes room.
#define FIND_ENTRY(table, size, field, number)                                                     \
    find_entry((const uint8_t *)&(table)[0].field, sizeof((table)[0]), size, number)

static uint32_t find_entry(const uint8_t *first, size_t stride, uint32_t size, uint32_t number)
{
    uint32_t free = UINT32_MAX;
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        uint32_t row = (number + i) & (size - 1), there;
        memcpy(&there, first + row * stride, sizeof(there));
        if (there == number)
            return row;
        if (there == 0 && free == UINT32_MAX)
            free = row;
    }
    return free != UINT32_MAX ? free : number & (size - 1);
}

// Adds a 64-bit entry at one of the places of its hash.
static void add_entry(uint64_t *table, uint32_t size, uint64_t hash, uint64_t entry)
{
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        uint64_t *e = &table[(hash + i) & (size - 1)];
        if (*e != 0 && *e != entry)
            continue;
        __atomic_store_n(e, entry, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&table[(hash + (hash >> 40) % KNOWN_PROBES) & (size - 1)], entry,
                     __ATOMIC_RELAXED);
}

// The number of an action; KNOWN_CLASS_EXACT when there are too many.
static uint32_t class_of_action(KnownStacks *k, UnwindAction a)
{
    uint64_t number = 0;
    uint32_t row;
    _Static_assert(sizeof(a) == sizeof(number), "an action is one word");
    memcpy(&number, &a, sizeof(number));
    for (TableProbe p = table_probe(&k->by_class, hash_u64(number));
         table_next(&k->by_class, &p, &row);)
        if (k->classes.at[row] == number)
            return CLASS_FIRST + row;
    if (k->classes.len > CLASS_MAX - CLASS_FIRST)
        return KNOWN_CLASS_EXACT;
    table_insert(&k->by_class, hash_u64(number), (uint32_t)k->classes.len);
    vec_push(NULL, &k->classes, number);
    return CLASS_FIRST + (uint32_t)k->classes.len - 1;
}

static uint32_t class_of_line(KnownStacks *k, const UnwindMapping *m, uint64_t start)
{
    uint64_t svma = start - m->bias;
    if (start < m->start || m->end - start < LINE_BYTES || !m->table ||
        !unwind_table_is_uniform(m->table, svma, LINE_BYTES))
        return KNOWN_CLASS_EXACT;
    UnwindAction a = unwind_table_find(m->table, svma);
    return is_plain(a) ? class_of_action(k, a) : KNOWN_CLASS_EXACT;
}

// The class of the line at an address, as the kernel's program has it; 0: it has none.
static uint32_t told_class(const KnownStacks *k, uint64_t seed, uint64_t ip)
{
    uint64_t h = known_line_hash(seed, ip);
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        uint64_t entry = k->shared->lines[(h + i) & (KNOWN_LINES - 1)];
        if (entry >> KNOWN_CLASS_BITS == h >> KNOWN_CLASS_BITS)
            return entry & CLASS_MAX;
    }
    return 0;
}

// Tells the classes of the line at an address and of those around it.
static uint32_t tell_class(KnownStacks *k, uint64_t seed, UnwindSpace *space, uint64_t ip)
{
    uint32_t class = told_class(k, seed, ip);
    const UnwindMapping *m = unwind_space_loaded(space, ip);
    if (class || !m)
        return class;
    uint64_t first = ip & ~(uint64_t)(LINES_AT_ONCE * LINE_BYTES - 1);
    for (uint32_t i = 0; i < LINES_AT_ONCE; i++) {
        uint64_t start = first + i * (uint64_t)LINE_BYTES;
        bool is_own = ip - start < LINE_BYTES;
        if (!is_own && (start < m->start || start >= m->end || told_class(k, seed, start)))
            continue;
        uint32_t of_line = class_of_line(k, m, start);
        uint64_t h = known_line_hash(seed, start);
        add_entry(k->shared->lines, KNOWN_LINES, h, (h & ~(uint64_t)CLASS_MAX) | of_line);
        if (is_own)
            class = of_line;
    }
    return class;
}

static void tell_process(KnownStacks *k, KnownSpace *s, uint32_t pid)
{
    KnownProcess *p =
        &k->shared->processes[FIND_ENTRY(k->shared->processes, KNOWN_PROCESSES, tgid, pid)];
    __atomic_store_n(&p->tgid, 0, __ATOMIC_SEQ_CST);
    p->seed = s->seed;
    p->low = s->ranges.low;
    p->low_size = s->ranges.low_size;
    p->high = s->ranges.high;
    p->high_size = s->ranges.high_size;
    p->how = s->copy_only ? KNOWN_HOW_COPY : k->checks ? KNOWN_HOW_CHECK : KNOWN_HOW_USUAL;
    __atomic_store_n(&p->tgid, pid, __ATOMIC_SEQ_CST);
    s->is_told = true;
}

static void tell_base(KnownStacks *k, uint32_t tid, uint64_t base)
{
    KnownThread *t = &k->shared->threads[FIND_ENTRY(k->shared->threads, KNOWN_THREADS, tid, tid)];
    if (t->tid == tid && t->base == base)
        return;
    __atomic_store_n(&t->tid, 0, __ATOMIC_SEQ_CST);
    t->base = base;
    __atomic_store_n(&t->tid, tid, __ATOMIC_SEQ_CST);
}

// ---- Adding ------------------------------------------------------------------------------

bool known_stacks_wants_ranges(const KnownSpace *s, const UnwindSpace *space)
{
    return s->generation != space->generation;
}

void known_stacks_set_ranges(KnownSpace *s, const UnwindSpace *space, uint64_t low,
                             uint64_t low_size, uint64_t high, uint64_t high_size)
{
    KnownProcess r = {.low = low, .low_size = low_size, .high = high, .high_size = high_size};
    s->is_told &= memcmp(&r, &s->ranges, sizeof(r)) == 0;
    s->generation = space->generation;
    s->ranges = r;
}

// The hashes as the kernel's program computes them.
static KnownHash hash_of(const KnownSpace *s, const WalkedStack *w, uint64_t class, uint64_t size)
{
    const UnwindRegs *regs = w->regs;
    KnownRegs r = {.ip = regs->pc,
                   .sp = regs->reg[UNWIND_X86_64_SP],
                   .bp = regs->reg[UNWIND_X86_64_FP],
                   .bx = regs->reg[UNWIND_X86_64_BX],
                   .size = size};
    KnownHash sum = {0, 0};
    for (uint64_t i = 0; i < size / 8; i++) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)w->memory->window + 8 * i, sizeof(word));
        known_add(&sum, word, i, &s->ranges, r.sp, size);
    }
    return known_finish(sum, s->seed, class, &r);
}

// Decides from time to time whether stacks of the process are looked for.
static void judge(KnownSpace *s)
{
    uint32_t wait = s->copy_only ? COPIES_PAUSED : COPIES_JUDGED;
    if (++s->copies < wait)
        return;
    bool copy_only =
        s->is_unsteady || (!s->copy_only && s->repeats * COPIES_PER_REPEAT < s->copies);
    s->is_told &= copy_only == s->copy_only;
    s->copy_only = copy_only;
    s->copies = 0;
    s->repeats = 0;
}

// Whether the walk needed frame pointers: then the hash covers them, too.
static bool walks_by_fp(const WalkedStack *w)
{
    for (uint32_t i = 0; i + 1 < w->count; i++)
        if (w->frames[i].flags & UNWIND_FRAME_BY_FP)
            return true;
    return false;
}

static uint64_t size_of(const WalkedStack *w)
{
    return 8ull * w->frames[w->count - 1].sp_words;
}

static void tell(KnownStacks *k, KnownSpace *s, uint32_t pid, uint32_t tid, uint64_t base)
{
    if (s->is_left)
        return;
    if (s->seed == 0)
        s->seed = ++k->seeds;
    if (!s->is_told)
        tell_process(k, s, pid);
    tell_base(k, tid, base);
}

bool known_stacks_meet(KnownStacks *k, KnownSpace *s, const WalkedStack *w)
{
    for (uint32_t i = 1; i < w->count; i++)
        if (!in_ranges(&s->ranges, w->frames[i].pc + 1))
            return false;
    judge(s);
    tell(k, s, w->pid, w->tid, w->regs->reg[UNWIND_X86_64_SP] + size_of(w));
    return !s->copy_only;
}

void known_stacks_meet_copied(KnownStacks *k, KnownSpace *s, uint32_t pid, uint32_t tid,
                              uint64_t base)
{
    tell(k, s, pid, tid, base);
}

void known_stacks_add(KnownStacks *k, KnownSpace *s, const WalkedStack *w, StackId outer)
{
    uint32_t class = tell_class(k, s->seed, w->space, w->regs->pc);
    if (class == 0)
        return;
    KnownHash both = hash_of(s, w, class, size_of(w));
    uint64_t hash = walks_by_fp(w) ? both.all : both.code;
    StackId known;
    if (known_stacks_find(k, s, hash, &known)) {
        s->repeats++;
    } else {
        table_insert(&k->by_hash, hash, (uint32_t)k->stacks.len);
        vec_push(NULL, &k->stacks, (Known){hash, s->seed, outer});
    }
    add_entry(k->shared->stacks, KNOWN_STACKS, hash, hash);
}

bool known_stacks_find(const KnownStacks *k, const KnownSpace *s, uint64_t hash, StackId *outer)
{
    uint32_t row;
    for (TableProbe p = table_probe(&k->by_hash, hash); table_next(&k->by_hash, &p, &row);)
        if (k->stacks.at[row].hash == hash && k->stacks.at[row].seed == s->seed) {
            *outer = k->stacks.at[row].outer;
            return true;
        }
    return false;
}

void known_stacks_forget(KnownStacks *k, KnownSpace *s, uint32_t pid)
{
    if (k && s->is_told) {
        KnownProcess *p =
            &k->shared->processes[FIND_ENTRY(k->shared->processes, KNOWN_PROCESSES, tgid, pid)];
        if (p->tgid == pid)
            __atomic_store_n(&p->tgid, 0, __ATOMIC_SEQ_CST);
    }
    *s = (KnownSpace){0};
}

void known_stacks_give_up(KnownStacks *k, KnownSpace *s, uint32_t pid)
{
    known_stacks_forget(k, s, pid);
    s->is_unsteady = s->copy_only = true;
}

void known_stacks_leave(KnownStacks *k, KnownSpace *s, uint32_t pid)
{
    known_stacks_give_up(k, s, pid);
    s->is_left = true;
}

void known_stacks_forget_thread(KnownStacks *k, uint32_t tid)
{
    KnownThread *t = &k->shared->threads[FIND_ENTRY(k->shared->threads, KNOWN_THREADS, tid, tid)];
    if (t->tid == tid)
        __atomic_store_n(&t->tid, 0, __ATOMIC_SEQ_CST);
}
