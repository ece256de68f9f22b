// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Looks at each sample before the kernel writes it. When its user stack is one that the recorder
// knows, a short record takes the sample's place and nothing is copied (docs/decisions/0285).

#include "wire/known_stacks.h"

#include "collect/bpf/programs/kernel.h"

enum { WORDS_AT_ONCE = 4, PART_BYTES = 512 };

// A word that could not be read: no address, so that no walk goes on or ends there.
#define NO_WORD (0xdeadull << 48)

// struct bpf_perf_event_data on x86-64 (linux/bpf_perf_event.h); `regs` is struct pt_regs.
typedef struct SampleContext {
    uint64_t regs[21];
    uint64_t period;
    uint64_t address;
} SampleContext;

// Numbers of words of struct pt_regs on x86-64 (asm/ptrace.h).
enum { REGS_BP = 4, REGS_BX = 5, REGS_IP = 16, REGS_CS = 17, REGS_SP = 19 };

_Static_assert(KNOWN_PIECE <= KNOWN_HASH_MAX, "a piece has room in the scratch memory");

// The first three are a record with a copied stack; the kernel's frames come behind the stack.
typedef struct KnownScratch {
    KnownSample sample;
    uint64_t copied_regs[KNOWN_REGS];
    uint64_t stack[KNOWN_HASH_MAX / 8 + 1 + KNOWN_CHAIN_MAX + WORDS_AT_ONCE];
    KnownSample short_sample;
    uint64_t chain[1 + KNOWN_CHAIN_MAX];
    KnownProcess process;
    KnownRegs regs;
    KnownHash sum;
} KnownScratch;

extern KnownShared shared MAP;
extern int scratch MAP; // a KnownScratch for each CPU
extern int outputs MAP; // an event for each CPU

static long (*const bpf_get_stack)(void *ctx, void *to, uint32_t size, uint64_t flags) = (void *)67;

// Look-ups have no branches: each would be a path of its own for the kernel that checks the
// program, and the check takes its time at the start of every recording.

// All bits are set when the numbers are equal. The compiler must not see that this is a comparison.
INLINE uint64_t mask_of(uint64_t a, uint64_t b)
{
    uint64_t d = a ^ b, minus = -d;
    OPAQUE(minus);
    return ((d | minus) >> 63) - 1;
}

INLINE uint64_t base_of(uint32_t tid)
{
    uint64_t base = 0;
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        const volatile KnownThread *t = &shared.threads[(tid + i) & (KNOWN_THREADS - 1)];
        base |= t->base & mask_of(t->tid, tid);
    }
    return base;
}

INLINE void find_process(uint32_t tgid, volatile KnownProcess *to)
{
    KnownProcess found = {0};
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        const volatile KnownProcess *p = &shared.processes[(tgid + i) & (KNOWN_PROCESSES - 1)];
        uint64_t mask = mask_of(p->tgid, tgid);
        found.seed |= p->seed & mask;
        found.low |= p->low & mask;
        found.low_size |= p->low_size & mask;
        found.high |= p->high & mask;
        found.high_size |= p->high_size & mask;
        found.how |= p->how & (uint32_t)mask;
    }
    to->seed = found.seed;
    to->low = found.low;
    to->low_size = found.low_size;
    to->high = found.high;
    to->high_size = found.high_size;
    to->how = found.how;
}

// The class of the rule at an address; 0 when it is not known.
INLINE uint64_t class_of(uint64_t seed, uint64_t ip)
{
    uint64_t h = known_line_hash(seed, ip), class = 0;
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        uint64_t entry = *(volatile uint64_t *)&shared.lines[(h + i) & (KNOWN_LINES - 1)];
        class |= entry & mask_of(entry >> KNOWN_CLASS_BITS, h >> KNOWN_CLASS_BITS);
    }
    return class & ((1 << KNOWN_CLASS_BITS) - 1);
}

// The hash when it is one of a known stack, else 0.
INLINE uint64_t if_known(uint64_t hash)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        uint64_t entry = *(volatile uint64_t *)&shared.stacks[(hash + i) & (KNOWN_STACKS - 1)];
        known |= entry & mask_of(entry, hash);
    }
    return known;
}

static long hash_part(uint64_t number, KnownScratch **scratch);

// Sums the hashes of all words up.
INLINE void hash_stack(KnownScratch *s)
{
    volatile KnownScratch *v = s;
    uint32_t words = (uint32_t)v->regs.size / 8;
    v->sum.code = v->sum.all = 0;
    OPAQUE(words);
    if (words > KNOWN_HASH_MAX / 8)
        return;
    for (uint32_t k = 0; k < WORDS_AT_ONCE; k++)
        s->stack[words + k] = 0;
    KnownScratch *ctx = s;
    bpf_loop((words + WORDS_AT_ONCE - 1) / WORDS_AT_ONCE, hash_part, &ctx, 0);
}

INLINE void fill(const SampleContext *ctx, KnownSample *r, uint64_t user_ip)
{
    r->user_ip = user_ip;
    r->ip = ctx->regs[REGS_IP];
    r->period = ctx->period;
    r->in_kernel = (ctx->regs[REGS_CS] & 3) == 0;
    r->count = 0;
}

// Writes the kernel's frames of a sample there. Returns their size in bytes; -1 when there may be
// more, or none can be had.
INLINE int64_t add_chain(SampleContext *ctx, KnownSample *r, uint64_t *to)
{
    if (!r->in_kernel)
        return 0;
    to[0] = (uint64_t)-128; // PERF_CONTEXT_KERNEL
    int64_t got = bpf_get_stack(ctx, &to[1], KNOWN_CHAIN_MAX * 8, 0);
    if (got <= 0 || got >= KNOWN_CHAIN_MAX * 8)
        return -1;
    r->count = (uint32_t)got / 8 + 1;
    return got + 8;
}

// Both write a record. False when there is no room: then the sample is counted as lost.

INLINE bool send_known(SampleContext *ctx, KnownScratch *s, uint64_t hash)
{
    KnownSample *r = &s->short_sample;
    fill(ctx, r, s->regs.ip);
    r->hash = hash;
    r->stack_size = 0;
    int64_t chain = add_chain(ctx, r, s->chain);
    uint64_t size = sizeof(*r) + (uint64_t)chain;
    OPAQUE(size);
    if (chain < 0 || size > sizeof(*r) + sizeof(s->chain))
        return false;
    return bpf_perf_event_output(ctx, &outputs, THIS_CPU, r, size) == 0;
}

// The stack in the scratch memory is `total` bytes without those before `at`.
INLINE bool send_copy(SampleContext *ctx, KnownScratch *s, uint64_t hash)
{
    KnownSample *r = &s->sample;
    const uint64_t head = __builtin_offsetof(KnownScratch, stack);
    fill(ctx, r, s->regs.ip);
    r->hash = hash;
    uint64_t size = *(volatile uint32_t *)&r->total - *(volatile uint32_t *)&r->at;
    r->stack_size = (uint32_t)size;
    OPAQUE(size);
    if (size > KNOWN_HASH_MAX)
        return false;
    int64_t chain = add_chain(ctx, r, (uint64_t *)((char *)s->stack + size));
    size += head + (uint64_t)chain;
    OPAQUE(size);
    if (chain < 0 || size > head + sizeof(s->stack))
        return false;
    return bpf_perf_event_output(ctx, &outputs, THIS_CPU, r, size) == 0;
}

typedef struct Pieces {
    SampleContext *ctx;
    KnownScratch *scratch;
} Pieces;

static long send_piece(uint64_t number, Pieces *pieces);

static long read_part(uint64_t number, KnownScratch **scratch);

// Reads a piece that has pages which do not exist yet, as in a large array: no frames are there.
INLINE void read_parts(KnownScratch *s)
{
    KnownScratch *ctx = s;
    bpf_loop(KNOWN_PIECE / PART_BYTES, read_part, &ctx, 0);
}

// Whether the piece of a stack at r->at was read. At the outer end of a stack without its middle a
// piece may lack pages.
INLINE bool read_piece(KnownScratch *s, uint32_t size)
{
    KnownSample *r = &s->sample;
    if (bpf_probe_read_user(s->stack, size, (const void *)(s->regs.sp + r->at)) == 0)
        return true;
    if (r->at < KNOWN_HEAD || r->total <= KNOWN_COPY_MAX)
        return false;
    read_parts(s);
    return true;
}

// Sends a stack that is larger than a piece. All pieces but the last are sent here.
INLINE bool send_large(SampleContext *ctx, KnownScratch *s, uint64_t size)
{
    KnownSample *r = &s->sample;
    Pieces pieces = {ctx, s};
    uint32_t count = (uint32_t)(size - 1) / KNOWN_PIECE;
    if (size > KNOWN_COPY_MAX)
        count = (KNOWN_HEAD + KNOWN_TAIL) / KNOWN_PIECE - 1;
    bpf_loop(count, send_piece, &pieces, 0);
    uint32_t rest = (uint32_t)size - r->at;
    OPAQUE(rest);
    if (rest > KNOWN_PIECE || rest == 0 || !read_piece(s, rest))
        return false;
    return send_copy(ctx, s, 0);
}

// The hash of the stack when it is known, else 0.
INLINE uint64_t recognise(KnownScratch *s)
{
    uint64_t class = class_of(s->process.seed, s->regs.ip);
    if (!class || s->process.how == KNOWN_HOW_COPY)
        return 0;
    hash_stack(s);
    KnownHash h = known_finish(s->sum, s->process.seed, class, &s->regs);
    uint64_t known = if_known(h.code);
    // At most one of both is in the table.
    return known | (if_known(h.all) & mask_of(known, 0));
}

// False when the kernel's own sample must be written.
INLINE bool replace(SampleContext *ctx)
{
    uint64_t id = bpf_get_current_pid_tgid();
    uint64_t base = base_of((uint32_t)id);
    uint32_t cpu = bpf_get_smp_processor_id();
    KnownScratch *s = bpf_map_lookup_elem(&scratch, &cpu);
    if (!base || !s)
        return false;
    find_process((uint32_t)(id >> 32), &s->process);
    void *regs = bpf_task_pt_regs(bpf_get_current_task_btf());
    if (!s->process.seed || bpf_probe_read_kernel(s->copied_regs, KNOWN_REGS * 8, regs))
        return false;
    volatile KnownRegs *r = &s->regs;
    r->ip = s->copied_regs[REGS_IP];
    r->sp = s->copied_regs[REGS_SP];
    r->bp = s->copied_regs[REGS_BP];
    r->bx = s->copied_regs[REGS_BX];
    r->size = base - r->sp;
    uint64_t size = r->size;
    if (size == 0 || size > KNOWN_ENDS_MAX || size & 7)
        return false;
    s->sample.at = 0;
    s->sample.total = (uint32_t)size;
    if (size > KNOWN_HASH_MAX)
        return send_large(ctx, s, size);
    if (bpf_probe_read_user(s->stack, (uint32_t)size, (const void *)r->sp))
        return false;
    uint64_t hash = recognise(s);
    if (hash && s->process.how != KNOWN_HOW_CHECK)
        return send_known(ctx, s, hash);
    return send_copy(ctx, s, hash);
}

PROGRAM("perf_event") int on_sample(SampleContext *ctx)
{
    return !replace(ctx); // 1: the kernel writes its own sample
}

PART(hash_part, KnownScratch **scratch)
{
    KnownScratch *s = *scratch;
    KnownHash sum = s->sum;
    const KnownProcess p = s->process;
    uint64_t sp = s->regs.sp, size = s->regs.size;
    if (number >= KNOWN_HASH_MAX / 8 / WORDS_AT_ONCE)
        return 1;
    uint64_t first = number * WORDS_AT_ONCE;
    for (uint32_t k = 0; k < WORDS_AT_ONCE; k++)
        known_add(&sum, s->stack[first + k], first + k, &p, sp, size);
    s->sum = sum;
    return 0;
}

PART(read_part, KnownScratch **scratch)
{
    KnownScratch *s = *scratch;
    uint64_t at = number * PART_BYTES;
    if (at > KNOWN_PIECE - PART_BYTES)
        return 1;
    const void *from = (const void *)(s->regs.sp + s->sample.at + at);
    uint64_t *to = s->stack + at / 8;
    if (bpf_probe_read_user(to, PART_BYTES, from))
        for (uint32_t i = 0; i < PART_BYTES / 8; i++)
            *(volatile uint64_t *)&to[i] = NO_WORD;
    return 0;
}

PART(send_piece, Pieces *pieces)
{
    (void)number;
    KnownScratch *s = pieces->scratch;
    KnownSample *r = &s->sample;
    if (!read_piece(s, KNOWN_PIECE))
        return 1;
    r->hash = 0;
    r->count = 0;
    r->stack_size = KNOWN_PIECE;
    if (bpf_perf_event_output(pieces->ctx, &outputs, THIS_CPU, r,
                              __builtin_offsetof(KnownScratch, stack) + KNOWN_PIECE))
        return 1;
    r->at += KNOWN_PIECE;
    if (r->at == KNOWN_HEAD && r->total > KNOWN_COPY_MAX)
        r->at = r->total - KNOWN_TAIL;
    return 0;
}
