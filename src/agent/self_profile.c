// SPDX-License-Identifier: Apache-2.0
// A program that profiles itself: include/assay/profile.h.
// Format of a dump: linux tools/perf/Documentation/perf.data-file-format.txt, "pipe mode".

#include "agent/convert.h"
#include "agent/join.h"
#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "agent/threads.h"

#include <assay/profile.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/utsname.h>

enum {
    RATE_MAX_HZ = 1000,
    BUFFER_DEFAULT = 64 << 20,
    BUFFER_MIN = 64 << 10,
    BUFFER_MAX = 1 << 30,
    FILE_MODE = 0644, // the only private data in it are paths of files; the umask applies
};

// Records of perf.data that no kernel writes.
enum { HEADER_ATTR = 64, HEADER_FEATURE = 80 };
enum { FEATURE_HOSTNAME = 3, FEATURE_OSRELEASE = 4, FEATURE_ARCH = 6, FEATURE_CMDLINE = 11 };

static _Atomic bool is_in_use; // one call at a time
static bool runs;
static uint64_t rate_hz;

// ---- Start and stop -------------------------------------------------------------------

static bool enter(void)
{
    for (unsigned i = 0; i < 1u << 20; i++) {
        bool idle = false;
        if (atomic_compare_exchange_strong(&is_in_use, &idle, true))
            return true;
        (void)SYS0(SYS_sched_yield);
    }
    return false;
}

static int leave(int result)
{
    atomic_store(&is_in_use, false);
    return result;
}

static int start(const AssayProfileOptions *o)
{
    uint64_t buffer = o && o->buffer_bytes ? o->buffer_bytes : BUFFER_DEFAULT;
    rate_hz = o && o->rate_hz ? o->rate_hz : RATE_MAX_HZ;
    if ((o && o->size < sizeof(*o)) || rate_hz > RATE_MAX_HZ || buffer < BUFFER_MIN ||
        buffer > BUFFER_MAX)
        return -EINVAL;
    if (session_is_joined())
        return -EBUSY;
    if (runs)
        return -EALREADY;
    ring_close();
    if (!ring_open_private(round_up_pow2(buffer)))
        return -ENOMEM;
    mappings_forget();
    tell_process(true);
    if (!threads_start(1000000000u / rate_hz, true))
        return -EAGAIN;
    runs = true;
    return 0;
}

AGENT_EXPORT int assay_profile_start(const AssayProfileOptions *options)
{
    return enter() ? leave(start(options)) : -EAGAIN;
}

AGENT_EXPORT int assay_profile_stop(void)
{
    if (!enter())
        return -EAGAIN;
    if (!runs)
        return leave(-ESRCH);
    threads_stop();
    runs = false;
    return leave(0);
}

// ---- The dump -------------------------------------------------------------------------

static bool write_attr(int fd)
{
    struct {
        struct perf_event_header header;
        struct perf_event_attr attr;
        uint64_t id;
    } r = {.header = {.type = HEADER_ATTR, .size = sizeof(r)}, .id = WIRE_EVENT_ID};
    r.attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                      .size = sizeof(r.attr),
                                      .config = PERF_COUNT_SW_CPU_CLOCK,
                                      .sample_freq = rate_hz,
                                      .freq = 1,
                                      .sample_type = WIRE_SAMPLE_TYPE,
                                      .sample_id_all = 1,
                                      .config1 = WIRE_ATTR_MARK};
    return sys_write_all(fd, &r, sizeof(r));
}

typedef struct FeatureRecord {
    struct perf_event_header header;
    uint64_t feature;
    uint8_t data[2048];
} FeatureRecord;

static uint32_t append_u32(FeatureRecord *r, uint32_t at, uint32_t value)
{
    __builtin_memcpy(r->data + at, &value, 4);
    return at + 4;
}

// A text of perf: its padded length, then its bytes. It is left out when there is no room.
static uint32_t append_text(FeatureRecord *r, uint32_t at, const char *text, uint32_t length)
{
    uint32_t padded = (uint32_t)align_up(length + 1, 64);
    if (at + 4 + padded > sizeof(r->data))
        return at;
    at = append_u32(r, at, padded);
    __builtin_memset(r->data + at, 0, padded);
    __builtin_memcpy(r->data + at, text, length);
    return at + padded;
}

static bool write_feature(int fd, FeatureRecord *r, unsigned feature, uint32_t size)
{
    size = (uint32_t)align_up(size, 8);
    r->feature = feature;
    r->header = (struct perf_event_header){
        .type = HEADER_FEATURE, .size = (uint16_t)(offsetof(FeatureRecord, data) + size)};
    return sys_write_all(fd, r, r->header.size);
}

static uint32_t length_of(const char *text)
{
    uint32_t n = 0;
    while (text[n])
        n++;
    return n;
}

static bool write_text(int fd, unsigned feature, const char *text)
{
    FeatureRecord r = {0};
    return write_feature(fd, &r, feature, append_text(&r, 0, text, length_of(text)));
}

static bool write_command(int fd)
{
    FeatureRecord r = {0};
    char line[1024];
    int from = sys_open("/proc/self/cmdline", O_RDONLY, 0);
    long n = from >= 0 ? SYS3(SYS_read, from, line, sizeof(line) - 1) : 0;
    sys_close(from);
    uint32_t count = 0, at = 4;
    line[n > 0 ? n : 0] = 0;
    for (const char *word = line; word < line + n; word += length_of(word) + 1) {
        uint32_t next = append_text(&r, at, word, length_of(word));
        count += next > at;
        at = next;
    }
    (void)append_u32(&r, 0, count);
    return count == 0 || write_feature(fd, &r, FEATURE_CMDLINE, at);
}

static bool write_lost(int fd)
{
    struct {
        struct perf_event_header header;
        uint64_t id, lost;
        uint32_t pid, tid;
        uint64_t time, cpu, event;
    } r = {.header = {.type = PERF_RECORD_LOST, .size = sizeof(r)},
           .lost = atomic_load(&agent_ring.shared->lost),
           .pid = sys_pid(),
           .tid = sys_tid(),
           .time = sys_clock_ns(1),
           .event = WIRE_EVENT_ID};
    // Of those for which there was no room the next sample's weight holds the time.
    return r.lost == 0 || sys_write_all(fd, &r, sizeof(r));
}

static bool write_head(int fd)
{
    static const uint64_t pipe_header[2] = {0x32454c4946524550ull, 16}; // "PERFILE2"
    struct new_utsname u = {0};
    if (SYS1(SYS_uname, &u) != 0 || !sys_write_all(fd, pipe_header, sizeof(pipe_header)) ||
        !write_attr(fd))
        return false;
    return write_text(fd, FEATURE_HOSTNAME, u.nodename) &&
           write_text(fd, FEATURE_OSRELEASE, u.release) &&
           write_text(fd, FEATURE_ARCH, u.machine) && write_command(fd);
}

static bool write_stream(int fd)
{
    const uint8_t *records;
    uint64_t size;
    if (!write_head(fd) || !ring_pin(&records, &size))
        return false;
    bool ok = sys_write_all(fd, records, size) && write_lost(fd);
    ring_unpin();
    return ok;
}

static int dump(const char *path)
{
    char part[AGENT_PATH_MAX];
    SysText t = sys_text(part, sizeof(part));
    if (!agent_ring.shared || !agent_ring.linear)
        return -ENODATA;
    sys_text_add(&t, path);
    sys_text_add(&t, ".");
    sys_text_number(&t, sys_pid());
    sys_text_add(&t, ".part");
    if (length_of(path) + 32 > sizeof(part))
        return -ENAMETOOLONG;
    int fd = sys_open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return fd;
    bool ok = write_stream(fd);
    sys_close(fd);
    if (ok && convert_is_wanted(path) && convert_file(part, path)) {
        (void)SYS3(SYS_unlinkat, AT_FDCWD, part, 0);
        return 0;
    }
    long rc = ok ? SYS4(SYS_renameat, AT_FDCWD, part, AT_FDCWD, path) : -EIO;
    if (rc != 0)
        (void)SYS3(SYS_unlinkat, AT_FDCWD, part, 0);
    return (int)rc;
}

AGENT_EXPORT int assay_profile_dump(const char *path)
{
    return enter() ? leave(dump(path)) : -EAGAIN;
}
