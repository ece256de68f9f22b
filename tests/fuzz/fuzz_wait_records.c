// SPDX-License-Identifier: Apache-2.0
// Fuzzes the records of waits that come in the ring, and the sums in the shared memory. Input: u8
// flags, then {u16 length, bytes}: records, and with the length's highest bit set a thread or a sum
// of the shared tables.

#include "collect/wait/waiting.h"
#include "collect/wait/waiting_internal.h"

#include <stdlib.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// No process has such a number, so that nothing is read in /proc.
enum { NO_PROCESS = 1 << 30, RECORDS_MAX = 64 };

static void name_no_process(uint8_t *at, size_t len, size_t offset)
{
    uint32_t pid;
    if (len < offset + sizeof(pid))
        return;
    memcpy(&pid, at + offset, sizeof(pid));
    pid = pid ? pid | NO_PROCESS : 0;
    memcpy(at + offset, &pid, sizeof(pid));
}

// Into the entry that its number leads to, as the programs do.
static void put_entry(WaitShared *shared, Bytes bytes)
{
    WaitThread thread = {0};
    WaitSum sum = {0};
    if (bytes.len <= sizeof(thread)) {
        memcpy(&thread, bytes.ptr, bytes.len);
        thread.tgid |= NO_PROCESS;
        shared->threads[thread.tid & (WAIT_THREADS - 1)] = thread;
        return;
    }
    memcpy(&sum, bytes.ptr, MIN(bytes.len, sizeof(sum)));
    sum.tgid |= NO_PROCESS;
    shared->sums[sum.tid & (WAIT_SUMS - 1)] = sum;
}

static void record(Waiting *w, Consumer *c, Bytes bytes)
{
    uint8_t *copy = heap_alloc(MAX(bytes.len, (size_t)1));
    bytes_copy(copy, bytes);
    uint32_t kind = 0;
    memcpy(&kind, copy, MIN(bytes.len, sizeof(kind)));
    if (kind == WAIT_RECORD_DUMP) {
        name_no_process(copy, bytes.len, offsetof(WaitDump, tgid));
    } else {
        name_no_process(copy, bytes.len, offsetof(WaitRecord, tgid));
        name_no_process(copy, bytes.len, offsetof(WaitRecord, waker_tgid));
    }
    waiting_record(w, c, bytes_over(copy, bytes.len));
    heap_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile p;
    Error err;
    WaitingCounts counts;
    if (size < 1)
        return 0;
    profile_init(&p);
    const ModuleSearch search = {.no_files = true};
    Consumer *c = consumer_open(&(ConsumerSetup){
        .profile = &p, .arch = UNWIND_X86_64, .search = &search, .start_ns = 1000000});
    Waiting *w = heap_alloc(sizeof(*w));
    w->watch = (Watch){
        .config_fd = -1, .shared_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .interrupts_fd = -1};
    w->watch.shared =
        mmap(NULL, sizeof(WaitShared), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->watch.shared == MAP_FAILED)
        abort();
    waiting_add_metrics(w, &p);
    Bytes rest = bytes_over(data + 1, size - 1);
    for (unsigned i = 0; i < RECORDS_MAX && rest.len >= 2; i++) {
        uint16_t len;
        memcpy(&len, rest.ptr, sizeof(len));
        Bytes one = bytes_slice(rest, 2, 2 + (size_t)(len & 0x7fff));
        rest = bytes_slice(rest, 2 + one.len, rest.len);
        if (len & 0x8000)
            put_entry(w->watch.shared, one);
        else
            record(w, c, one);
    }
    if (data[0] & 4) // as when the table is full
        w->watch.shared->counts.sums = WAIT_SUMS;
    uint64_t end_ns = data[0] & 2 ? UINT64_MAX : 5000000;
    if (data[0] & 1)
        waiting_finish(w, c, end_ns, data[0] & 8, &counts);
    if (!profile_check(&p, &err))
        abort();
    waiting_close(w);
    consumer_close(c);
    profile_deinit(&p);
    return 0;
}
