// SPDX-License-Identifier: Apache-2.0
// Fuzzes the ring's records: the first bytes choose the layout, the rest is a
// ring's content.

#include "os/event.h"
#include "os/proc.h"
#include "perfdata/perf_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; // what was read must not be optimised away

static uint64_t touch(Bytes b)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < b.len; i++)
        sum += b.ptr[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t head[3];
    if (size < sizeof(head))
        return 0;
    memcpy(head, data, sizeof(head));
    struct perf_event_attr attr = {.sample_type = head[0] & ((1u << 14) - 1),
                                   .read_format = head[1] & 31,
                                   .sample_regs_user = head[2],
                                   .branch_sample_type = head[1] >> 8 & UINT32_MAX,
                                   .sample_id_all = head[1] >> 7 & 1};
    PerfLayout layout = perf_layout(&attr);
    PerfSample sample;
    PerfRecord record;
    uint64_t sum = 0;
    for (size_t at = sizeof(head); size - at >= sizeof(struct perf_event_header);) {
        struct perf_event_header h;
        memcpy(&h, data + at, sizeof(h));
        if (h.size < sizeof(h) || h.size > size - at)
            break;
        Bytes bytes = bytes_over(data + at, h.size);
        PerfStackPart part;
        sum += perf_record_time(&layout, bytes);
        if (perf_sample_stack_part(&layout, bytes, h.size, &part))
            assert(part.size_at + 16u + part.size <= h.size);
        if (perf_record_parse(&layout, bytes, &sample, &record)) {
            if (record.type == PERF_RECORD_SAMPLE) {
                sum += touch(sample.raw) + touch(sample.stack);
                for (size_t i = 0; i < sample.callchain.count; i++)
                    sum += u64_list_get(sample.callchain, i);
                sum += touch(bytes_over(sample.branches, (size_t)sample.branch_count * 24));
            } else if (record.type == PERF_RECORD_MMAP2 || record.type == PERF_RECORD_MMAP) {
                sum += touch(bytes_from_str(record.u.mmap.path)) + touch(record.u.mmap.build_id);
            } else if (record.type == PERF_RECORD_COMM) {
                sum += touch(bytes_from_str(record.u.comm.name));
            }
        }
        at += h.size;
    }
    (void)sum;
    // The texts of /proc and sysfs that the same recorder reads.
    Str text = str_over((const char *)data, size);
    Arena arena = {0};
    ProcMap map;
    ProcStatus status;
    PmuField field;
    Error err;
    U32Vec cpus = {0};
    EventSources none = {0};
    EventSpecVec events = {0};
    sum += proc_map_parse(text, &map) + proc_status_parse(text, &status) +
           pmu_field_parse(text, &field) + cpu_list_parse(text, 64, &cpus, &err) +
           events_parse(&arena, &none, text, &events, &err);
    (void)sum; // every byte was read, that is all
    vec_free(&cpus);
    arena_deinit(&arena);
    sink = sum;
    return 0;
}
