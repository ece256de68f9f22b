// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reading of the rings that programs share with the recorder. Input: u8 flags, then
// rounds of {u64 head, u16 at, u16 length, bytes}: before the ring is read once more the program
// sets `head` and rewrites so many bytes of its records.

#include "agent_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RING = WIRE_PAGE, FILE_BYTES = WIRE_PAGE + RING, ROUNDS_MAX = 16 };

static volatile uint64_t sink; // what was read must not be optimised away

static void take(void *ctx, Bytes record)
{
    size_t *taken = ctx;
    struct perf_event_header h;
    uint64_t sum = 0;
    if (record.len < sizeof(h))
        abort();
    memcpy(&h, record.ptr, sizeof(h));
    if (h.size != record.len || h.type == 0)
        abort();
    for (size_t i = 0; i < record.len; i++)
        sum += record.ptr[i];
    sink += sum;
    *taken += record.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    AgentSession *session = agent_folder_need();
    session->ring_bytes = RING;
    AgentRings rings;
    char name[64];
    bool ended = data[0] & 1;
    snprintf(name, sizeof(name), "%u-0", ended ? AGENT_FOLDER_ENDED : (unsigned)getpid());
    WireRing head = {.magic = WIRE_RING_MAGIC, .version = WIRE_VERSION, .size = RING};
    WireRing *ring =
        agent_folder_put(name, bytes_over((const uint8_t *)&head, sizeof(head)), FILE_BYTES);
    agent_rings_init(&rings, session, NULL);
    Bytes rest = bytes_over(data + 1, size - 1);
    for (unsigned round = 0; round < ROUNDS_MAX && rest.len >= 12; round++) {
        uint64_t to;
        uint16_t at, len;
        memcpy(&to, rest.ptr, 8);
        memcpy(&at, rest.ptr + 8, 2);
        memcpy(&len, rest.ptr + 10, 2);
        Bytes content = bytes_slice(rest, 12, 12 + (size_t)len);
        at %= RING;
        memcpy((uint8_t *)ring + WIRE_PAGE + at, content.ptr,
               MIN(content.len, (size_t)(RING - at)));
        rest = bytes_slice(rest, 12 + content.len, rest.len);
        atomic_store(&ring->head, to);
        if (data[0] & 2) // what the reader looks at once, at the beginning
            ring->size = to;
        size_t taken = 0;
        if (!agent_rings_drain(&rings, take, &taken))
            abort();
        // Records are taken once: never more than the ring holds, and an end for each thread.
        if (!ended && taken > RING)
            abort();
    }
    agent_rings_deinit(&rings);
    agent_folder_drop(name, ring, FILE_BYTES);
    return 0;
}
