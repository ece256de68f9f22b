// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Reads the texts that arguments of a probe point to, at the hit, and writes them before the sample
// of the hit (docs/decisions/0279).

#include "wire/probe_texts.h"

#include "collect/bpf/programs/kernel.h"

enum { WORDS = 21 }; // of struct pt_regs on x86-64

typedef struct TextScratch {
    ProbeTexts texts;
    uint64_t regs[32];
} TextScratch;

extern int plans MAP;   // a TextPlan for each event
extern int scratch MAP; // a TextScratch for each CPU
extern int outputs MAP; // an event for each CPU

static long (*const bpf_probe_read_user_str)(void *to, uint32_t size,
                                             const void *from) = (void *)114;

INLINE void read_text(TextScratch *s, const TextPlace *p, TextCopy *to)
{
    uint64_t at = s->regs[p->word & 31];
    to->size = -1;
    if (p->by_pointer && bpf_probe_read_user(&at, sizeof(at), (void *)(at + p->pointer_offset)))
        return;
    to->size = bpf_probe_read_user_str(to->bytes, PROBE_TEXT_BYTES, (void *)(at + p->offset));
}

INLINE void send_texts(void *ctx, uint32_t event, uint32_t cpu)
{
    const TextPlan *plan = bpf_map_lookup_elem(&plans, &event);
    TextScratch *s = bpf_map_lookup_elem(&scratch, &cpu);
    if (!plan || !s || bpf_probe_read_kernel(s->regs, WORDS * 8, ctx))
        return;
    uint64_t count = plan->count;
    s->texts.count = plan->count;
    s->texts.event = event;
#pragma unroll
    for (uint32_t i = 0; i < PROBE_TEXTS_MAX; i++)
        if (i < count)
            read_text(s, &plan->at[i], &s->texts.at[i]);
    uint64_t size = count * sizeof(TextCopy) + __builtin_offsetof(ProbeTexts, at);
    OPAQUE(size);
    if (size <= sizeof(ProbeTexts))
        bpf_perf_event_output(ctx, &outputs, THIS_CPU, s, size);
}

// The cookie is the number of the event + 1, and above it the CPU: at each hit the kernel runs the
// programs of the events of all CPUs.
PROGRAM("kprobe") int on_hit(void *ctx)
{
    uint64_t cookie = bpf_get_attach_cookie(ctx);
    uint32_t cpu = bpf_get_smp_processor_id();
    if (cookie >> 32 == cpu)
        send_texts(ctx, (uint32_t)cookie - 1, cpu);
    return 1; // the kernel writes the sample
}
