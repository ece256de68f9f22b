// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Reads Python's frames at each sample of a thread that the recorder names, and writes them before
// the sample (docs/decisions/0191).

#include "wire/python_capture.h"

#include "collect/bpf/programs/kernel.h"

typedef struct CaptureScratch {
    CaptureStack stack;                   // what is written
    uint8_t raw[CAPTURE_FRAME_BYTES + 9]; // a frame as it was read
    uint64_t next;                        // address of the next frame
    CaptureTarget target;
} CaptureScratch;

extern int targets MAP; // CAPTURE_TARGETS of CaptureTarget
extern int scratch MAP; // a CaptureScratch for each CPU
extern int outputs MAP; // an event for each CPU
extern int next MAP;    // a program that decides about the sample

INLINE bool read_word(uint64_t address, uint64_t *ret)
{
    return bpf_probe_read_user(ret, sizeof(*ret), (const void *)address) == 0;
}

static long read_frame(uint64_t number, CaptureScratch **scratch_of);

INLINE void capture(void *ctx)
{
    uint32_t tid = (uint32_t)bpf_get_current_pid_tgid(), row = tid & (CAPTURE_TARGETS - 1);
    uint32_t cpu = bpf_get_smp_processor_id();
    const CaptureTarget *t = bpf_map_lookup_elem(&targets, &row);
    if (!t || t->tid != tid)
        return;
    CaptureScratch *s = bpf_map_lookup_elem(&scratch, &cpu);
    uint64_t frame;
    if (!s || !read_word(t->frame, &frame) ||
        (t->cframe != CAPTURE_NO_OFFSET && !read_word(frame + t->cframe, &frame)))
        return;
    s->target = *t;
    s->next = frame;
    s->stack.count = 0;
    CaptureScratch *of = s;
    bpf_loop(CAPTURE_FRAMES_MAX, read_frame, &of, 0);
    uint64_t size = s->stack.count & CAPTURE_FRAMES_MAX;
    size = size * sizeof(CaptureFrame) + __builtin_offsetof(CaptureStack, frames);
    bpf_perf_event_output(ctx, &outputs, THIS_CPU, s, size);
}

PROGRAM("perf_event") int on_sample(void *ctx)
{
    capture(ctx);
    bpf_tail_call(ctx, &next, 0);
    return 1; // the kernel writes the sample
}

// A word of the frame that was read.
INLINE uint64_t word_at(const CaptureScratch *s, uint32_t offset)
{
    offset &= CAPTURE_FRAME_BYTES;
    OPAQUE(offset);
    return offset <= CAPTURE_FRAME_BYTES ? *(const uint64_t *)&s->raw[offset] : 0;
}

// One read for the whole frame: each costs a call of a helper.
PART(read_frame, CaptureScratch **scratch_of)
{
    CaptureScratch *s = *scratch_of;
    uint32_t size = s->target.bytes & CAPTURE_FRAME_BYTES;
    OPAQUE(size);
    if (number >= CAPTURE_FRAMES_MAX || s->next == 0 || size > CAPTURE_FRAME_BYTES ||
        bpf_probe_read_user(s->raw, size, (const void *)s->next))
        return 1;
    CaptureFrame *f = &s->stack.frames[number];
    f->code = word_at(s, s->target.code);
    f->instruction = word_at(s, s->target.instruction);
    f->entry = word_at(s, s->target.entry);
    s->next = word_at(s, s->target.previous);
    s->stack.count = (uint32_t)number + 1;
    return 0;
}
