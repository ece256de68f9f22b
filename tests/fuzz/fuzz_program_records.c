// SPDX-License-Identifier: Apache-2.0
// Fuzzes the records that programs in the kernel write into the ring beside perf's own: known and
// copied stacks, frames of Python and texts of probes. Input: {u8 kind, u8 thread, u16 length,
// bytes}.

#include "replay/consumer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NO_PROCESS = 1 << 30, RECORDS_MAX = 64, THREADS = 2 };

static void apply(Consumer *c, const SampleEvent *event, uint8_t kind, PerfRecord *r)
{
    switch (kind % 4) {
    case 0:
        (void)!consumer_known(c, r, event);
        break;
    case 1:
        consumer_capture(c, r);
        break;
    case 2:
        consumer_texts(c, r);
        break;
    default: // a mapping, so that there is code
        r->type = PERF_RECORD_MMAP2;
        r->u.mmap = (PerfMmap){.pid = NO_PROCESS,
                               .start = 0x400000,
                               .len = 0x10000,
                               .exec = true,
                               .path = STR("/bin/x")};
        consumer_record(c, r, NULL);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile p;
    Error err;
    profile_init(&p);
    MetricId metric = profile_add_metric(&p, STR("cycles"), STR(""), METRIC_SUM, STR("cycles"));
    SampleEvent event = {.metric = metric, .stacks = SAMPLE_STACKS_TABLES};
    const ModuleSearch search = {.no_files = true};
    Consumer *c = consumer_open(&(ConsumerSetup){
        .profile = &p, .arch = UNWIND_X86_64, .search = &search, .start_ns = 1000});
    KnownShared *known = heap_alloc(sizeof(*known));
    CaptureTarget *targets = heap_alloc(CAPTURE_TARGETS * sizeof(*targets));
    consumer_use_programs(c, known, targets);
    Bytes rest = bytes_over(data, size);
    for (unsigned i = 0; i < RECORDS_MAX && rest.len >= 4; i++) {
        uint16_t len;
        memcpy(&len, rest.ptr + 2, sizeof(len));
        Bytes raw = bytes_slice(rest, 4, 4 + (size_t)len);
        PerfSample sample = {.raw = raw};
        PerfRecord r = {.type = PERF_RECORD_SAMPLE,
                        .pid = NO_PROCESS,
                        .tid = NO_PROCESS + rest.ptr[1] % THREADS,
                        .time = 2000 + i,
                        .u.sample = &sample};
        uint8_t kind = rest.ptr[0];
        rest = bytes_slice(rest, 4 + raw.len, rest.len);
        apply(c, &event, kind, &r);
    }
    consumer_close(c);
    if (!profile_check(&p, &err))
        abort();
    heap_free(known);
    heap_free(targets);
    profile_deinit(&p);
    return 0;
}
