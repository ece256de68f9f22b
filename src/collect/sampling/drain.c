// SPDX-License-Identifier: Apache-2.0
// Empties the rings.

#include "collect/sampling/drain_internal.h"

enum {
    SAMPLE_HEAD_BYTES = 4096,  // reaches the stack part, after registers and 127 kernel frames
    SAMPLE_CALM_BYTES = 20000, // of a sample with an exact copy of a stack that may be known later
};

// Copies a sample without the bytes that the kernel reserved for the stack and did not fill: most
// stacks are far smaller than the reserved part. Returns the size of the copy.
static uint32_t copy_sample(const PerfLayout *layout, const PerfRing *ring, uint64_t at,
                            uint32_t size, uint8_t *to)
{
    uint32_t head = MIN(size, (uint32_t)SAMPLE_HEAD_BYTES);
    ring_copy(ring, at, to, head);
    PerfStackPart part;
    uint64_t copied;
    if (head == size || !perf_sample_stack_part(layout, bytes_over(to, head), size, &part) ||
        part.size_at + 16 + part.size != size || part.size % 8 != 0) {
        ring_copy(ring, at + head, to + head, size - head);
        return size;
    }
    uint32_t bytes_at = part.size_at + 8;
    ring_copy(ring, at + bytes_at + part.size, &copied, 8);
    copied = MIN(copied, (uint64_t)part.size);
    // A full reserved part means that the stack continues. So a part that was not full keeps an
    // empty word.
    uint64_t kept = copied == part.size ? copied : align_up(copied + 1, 8);
    if (copied > head - bytes_at)
        ring_copy(ring, at + head, to + head, (size_t)copied - (head - bytes_at));
    memset(to + bytes_at + copied, 0, (size_t)(kept - copied));
    memcpy(to + part.size_at, &kept, 8);
    memcpy(to + bytes_at + kept, &copied, 8);
    uint32_t new_size = (uint32_t)(bytes_at + kept + 8);
    uint16_t size16 = (uint16_t)new_size;
    memcpy(to + offsetof(struct perf_event_header, size), &size16, sizeof(size16));
    return new_size;
}

// The event's id stands first (PERF_SAMPLE_IDENTIFIER).
static const PerfLayout *sample_layout(const EventSet *set, const PerfRing *ring, uint64_t at,
                                       uint32_t size)
{
    uint64_t id = 0;
    if (size >= sizeof(struct perf_event_header) + sizeof(id))
        ring_copy(ring, at + sizeof(struct perf_event_header), &id, sizeof(id));
    return events_sample_layout(set, id);
}

static Chunk *drain_ring(Drain *d, uint32_t number, Chunk *chunk)
{
    PerfRing *ring = &d->events->rings[number];
    uint64_t head = ring_head(ring), at = ring->tail;
    if (chunk && at != head && chunk->ring != number) {
        if (chunk->len) {
            queue_push(d->queue, chunk);
            chunk = NULL;
        } else {
            chunk->ring = number;
        }
    }
    while (at != head) {
        struct perf_event_header h;
        if (head - at < sizeof(h) || head - at > ring->size) {
            d->broken = true;
            at = head;
            break;
        }
        ring_copy(ring, at, &h, sizeof(h));
        if (h.size < sizeof(h) || h.size > head - at) {
            d->broken = true;
            at = head;
            break;
        }
        if (!chunk || CHUNK_BYTES - chunk->len < h.size) {
            bool sample = h.type == PERF_RECORD_SAMPLE;
            Chunk *fresh = queue_take_empty(d->queue, !sample);
            if (!fresh) {
                d->dropped++;
                at += h.size;
                ring_release(ring, at);
                continue;
            }
            if (chunk)
                queue_push(d->queue, chunk);
            chunk = fresh;
            chunk->ring = number;
        }
        if (h.type != PERF_RECORD_SAMPLE || h.size > SAMPLE_CALM_BYTES)
            d->calm_rounds = 0;
        uint8_t *to = chunk->data + chunk->len;
        if (h.type == PERF_RECORD_SAMPLE) {
            const PerfLayout *layout = sample_layout(d->events, ring, at, h.size);
            chunk->len += copy_sample(layout, ring, at, h.size, to);
        } else {
            ring_copy(ring, at, to, h.size);
            chunk->len += h.size;
        }
        d->bytes_in += h.size;
        at += h.size;
        // Gives the room back to the kernel after each record: at a high rate a ring has room for
        // only a few.
        ring_release(ring, at);
    }
    if (at != ring->tail)
        ring_release(ring, at);
    return chunk;
}

void drain_all(Drain *d)
{
    Chunk *chunk = NULL;
    d->calm_rounds++;
    for (uint32_t i = 0; i < d->events->ring_count; i++)
        chunk = drain_ring(d, i, chunk);
    // An empty chunk is pushed, too: the end of a round delivers the records of the round before.
    if (!chunk)
        chunk = queue_take_empty(d->queue, true);
    chunk->ends_round = true;
    queue_push(d->queue, chunk);
}
