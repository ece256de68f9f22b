// SPDX-License-Identifier: Apache-2.0
// Fuzzes the accounts that programs keep of their heaps, up to the rows of a profile. Input: u8
// flags, u16 length and so many bytes of the file's head behind its version, then sites.

#include "agent_folder.h"
#include "collect/heap/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 12, HEAP_PID = 7, SITES_MAX = 24 };

// Samples of sites, also of such as there are not.
static MetricId set_up(Profile *p)
{
    profile_init(p);
    MetricId site = profile_add_metric(p, STR("site"), STR(""), METRIC_SUM, STR("heap"));
    ProcessId process = profile_add_process(p, AGENT_FOLDER_ENDED, 1, profile_str(p, STR("p")), 0);
    ThreadId thread = profile_add_thread(p, process, HEAP_PID, profile_str(p, STR("p")), 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        FrameId frame = profile_frame(p, (ModuleId){0}, 0x10 * (i + 1), FRAME_EXACT);
        size_t row =
            profile_add_sample(p, 10 + i, thread, profile_stack(p, (StackId){0}, frame), 0);
        profile_sample_set(p, row, site, i);
    }
    return site;
}

static void fill(const AgentHeaps *heaps, const HeapTimeline *timeline, uint8_t flags)
{
    Profile p;
    Error err;
    MetricId site = set_up(&p);
    HeapRowOptions o = {.clock = flags >> 6 & 1 ? HEAP_CLOCK_NS : HEAP_CLOCK_BYTES,
                        .mappings = flags & 4,
                        .copies = flags & 8,
                        .sample_bytes = flags & 16 ? 4096 : 0};
    heap_fill_rows(&p, site, heaps, timeline, 0, &o);
    if (!profile_check(&p, &err))
        abort();
    for (size_t m = 0; m < p.metrics.name.len; m++)
        for (size_t row = 0; row < ROWS; row++)
            if (p.samples.values[m].at[row] < 0)
                abort();
    profile_deinit(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { NAME = 64, AFTER_VERSION = offsetof(WireHeap, pid) };
    uint16_t head_len;
    char ring_name[NAME], name[NAME + 8];
    if (size < 3)
        return 0;
    memcpy(&head_len, data + 1, sizeof(head_len));
    Bytes rest = bytes_over(data + 3, size - 3);
    Bytes head = bytes_slice(rest, 0, MIN((size_t)head_len, sizeof(WireHeap) - AFTER_VERSION));
    Bytes sites = bytes_slice(rest, head.len, rest.len);
    size_t file = WIRE_HEAP_HEAD + MIN(sites.len, SITES_MAX * sizeof(WireSite));
    AgentSession *session = agent_folder_need();
    snprintf(ring_name, sizeof(ring_name), "%u-0", AGENT_FOLDER_ENDED);
    snprintf(name, sizeof(name), WIRE_HEAP_PREFIX "%s", ring_name);
    WireHeap first = {.magic = WIRE_HEAP_MAGIC, .version = WIRE_VERSION, .timer_ns = 0.5};
    memcpy((uint8_t *)&first + AFTER_VERSION, head.ptr, head.len);
    uint8_t *shared =
        agent_folder_put(name, bytes_over((const uint8_t *)&first, sizeof(first)), file);
    AgentHeaps heaps;
    HeapTimeline timeline = {0};
    agent_heaps_init(&heaps, session);
    if (!agent_heaps_add(&heaps, ring_name))
        abort();
    heap_timeline_add(&timeline, 1000, &heaps);
    memcpy(shared + WIRE_HEAP_HEAD, sites.ptr, file - WIRE_HEAP_HEAD);
    timeline.summed_ns = INT64_MIN / 4;
    heap_timeline_add(&timeline, 20000000, &heaps);
    if (data[0] & 1)
        agent_heaps_end(&heaps, ring_name);
    agent_heaps_finish(&heaps);
    for (size_t i = 0; i < heaps.at.len; i++)
        if (heaps.at.at[i].site_count > (file - WIRE_HEAP_HEAD) / sizeof(WireSite))
            abort();
    fill(&heaps, &timeline, data[0]);
    heap_timeline_deinit(&timeline);
    agent_heaps_deinit(&heaps);
    agent_folder_drop(name, shared, file);
    return 0;
}
