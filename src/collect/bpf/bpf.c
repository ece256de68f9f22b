// SPDX-License-Identifier: Apache-2.0
// The system call bpf(2) (linux/bpf.h).

#include "collect/bpf/bpf.h"

#include "base/arena.h"
#include "base/log.h"
#include "os/perf_event.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// linux/bpf.h of Linux 6.6: newer than the headers that we build with.
enum { ATTACH_UPROBE_MULTI = 48, UPROBE_MULTI_RETURN = 1 };

enum { LOG_BYTES = 1 << 20, LOG_TAIL = 900 }; // of the kernel's messages about a program

static int bpf(int command, union bpf_attr *attr)
{
    return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_map(uint32_t type, uint32_t value_bytes, uint32_t entries, uint32_t flags)
{
    union bpf_attr a = {.map_type = type,
                        .key_size = 4,
                        .value_size = value_bytes,
                        .max_entries = entries,
                        .map_flags = flags};
    return bpf(BPF_MAP_CREATE, &a);
}

int bpf_array_make(uint32_t value_bytes, uint32_t entries, uint32_t flags)
{
    return make_map(BPF_MAP_TYPE_ARRAY, value_bytes, entries, flags);
}

int bpf_event_array_make(uint32_t cpus)
{
    return make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, cpus, 0);
}

int bpf_program_array_make(uint32_t entries)
{
    return make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, entries, 0);
}

bool bpf_element_set(int map, uint32_t key, const void *value)
{
    union bpf_attr a = {.map_fd = (uint32_t)map,
                        .key = (uint64_t)(uintptr_t)&key,
                        .value = (uint64_t)(uintptr_t)value};
    return bpf(BPF_MAP_UPDATE_ELEM, &a) == 0;
}

bool bpf_freeze(int map)
{
    union bpf_attr a = {.map_fd = (uint32_t)map};
    return bpf(BPF_MAP_FREEZE, &a) == 0;
}

// TIME lies where it lies in samples, since records are sorted by it before their event is known.
struct perf_event_attr bpf_output_attr(const struct perf_event_attr *base)
{
    return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_BPF_OUTPUT,
                                    .sample_period = 1,
                                    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                                                   PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                   PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
                                    .watermark = base->watermark,
                                    .wakeup_watermark = base->wakeup_watermark,
                                    .use_clockid = base->use_clockid,
                                    .clockid = base->clockid,
                                    .sample_id_all = 1};
}

static int open_output(const struct perf_event_attr *attr, uint32_t cpu, int ring_fd, int array,
                       uint64_t *id)
{
    struct perf_event_attr own = *attr;
    int fd = perf_event_open(&own, -1, (int)cpu, -1);
    if (fd < 0)
        return -1;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) == 0 &&
        ioctl(fd, PERF_EVENT_IOC_ID, id) == 0 && bpf_element_set(array, cpu, &fd))
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

bool bpf_outputs_open(const struct perf_event_attr *attr, const uint32_t *cpus, const int *ring_fds,
                      size_t count, int array, int *fds, uint64_t *ids, size_t *opened)
{
    for (*opened = 0; *opened < count; (*opened)++) {
        size_t i = *opened;
        fds[i] = open_output(attr, cpus[i], ring_fds[i], array, &ids[i]);
        if (fds[i] < 0)
            return false;
    }
    return true;
}

// An instruction that loads 64 bits has two places; the second half of each holds the number.
static void set_map(uint64_t *code, const BpfPlace *place, const BpfMap *map)
{
    enum { SOURCE_SHIFT = 12, IMM_SHIFT = 32 };
    uint64_t *load = &code[place->at];
    uint64_t offset = *load >> IMM_SHIFT;
    uint64_t kind = map->direct ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
    *load = (*load & 0xfff) | kind << SOURCE_SHIFT | (uint64_t)(uint32_t)map->fd << IMM_SHIFT;
    load[1] = map->direct ? offset << IMM_SHIFT : 0;
}

// The smallest description of types (linux/btf.h) by which a program may pass a function on: that
// it is one.
typedef struct FunctionTypes {
    struct btf_header head;
    struct btf_type prototype, function;
    char names[8];
} FunctionTypes;

enum { TYPE_OF_FUNCTION = 2, INFO_KIND = 24 };

// Returns a descriptor, or -1 with errno.
static int load_types(void)
{
    FunctionTypes t = {.head = {.magic = BTF_MAGIC,
                                .version = BTF_VERSION,
                                .hdr_len = sizeof(t.head),
                                .type_len = sizeof(t.prototype) + sizeof(t.function),
                                .str_off = sizeof(t.prototype) + sizeof(t.function),
                                .str_len = sizeof("\0part")},
                       .prototype = {.info = BTF_KIND_FUNC_PROTO << INFO_KIND},
                       .function = {.name_off = 1, .info = BTF_KIND_FUNC << INFO_KIND, .type = 1},
                       .names = "\0part"};
    union bpf_attr a = {.btf = (uint64_t)(uintptr_t)&t,
                        .btf_size = (uint32_t)(offsetof(FunctionTypes, names) + t.head.str_len)};
    return bpf(BPF_BTF_LOAD, &a);
}

// `type` is that of the tracepoint; 0 for a program that runs at samples or at hits of probes.
static int load(const BpfCode *code, const uint64_t *words, uint32_t type, char *log)
{
    bool at_places = strcmp(code->tracepoint, "uprobe") == 0;
    bool at_hits = at_places || strcmp(code->tracepoint, "kprobe") == 0;
    union bpf_attr a = {.prog_type = type      ? BPF_PROG_TYPE_TRACING
                                     : at_hits ? BPF_PROG_TYPE_KPROBE
                                               : BPF_PROG_TYPE_PERF_EVENT,
                        .expected_attach_type = type        ? BPF_TRACE_RAW_TP
                                                : at_places ? ATTACH_UPROBE_MULTI
                                                            : 0,
                        .attach_btf_id = type,
                        .insn_cnt = code->len,
                        .insns = (uint64_t)(uintptr_t)words,
                        .license = (uint64_t)(uintptr_t) "Dual BSD/GPL",
                        .prog_name = "assay"};
    struct bpf_func_info functions[1 + BPF_PARTS_MAX] = {{0, TYPE_OF_FUNCTION}};
    uint32_t count = 1;
    for (size_t i = 0; i < BPF_PARTS_MAX && code->parts[i]; i++)
        functions[count++] = (struct bpf_func_info){code->parts[i], TYPE_OF_FUNCTION};
    int types = count > 1 ? load_types() : -1;
    if (types >= 0) {
        a.prog_btf_fd = (uint32_t)types;
        a.func_info = (uint64_t)(uintptr_t)functions;
        a.func_info_cnt = count;
        a.func_info_rec_size = sizeof(functions[0]);
    }
    if (log) {
        a.log_buf = (uint64_t)(uintptr_t)log;
        a.log_size = LOG_BYTES;
        a.log_level = 1;
    }
    int program = bpf(BPF_PROG_LOAD, &a), saved = errno;
    if (types >= 0)
        close(types);
    errno = saved;
    return program;
}

// Loads it with the addresses of its maps. Returns its descriptor, or -1 with `err`.
static int load_linked(const BpfCode *code, const BpfMap *maps, uint32_t type, Error *err)
{
    uint64_t *words = heap_alloc(code->len * sizeof(*words));
    memcpy(words, code->code, code->len * sizeof(*words));
    for (uint32_t i = 0; i < code->place_count; i++)
        set_map(words, &code->places[i], &maps[code->places[i].map]);
    int program = load(code, words, type, NULL);
    if (program < 0 && log_enabled(LOG_RECORD, 1)) {
        char *text = heap_alloc(LOG_BYTES);
        program = load(code, words, type, text);
        size_t len = strnlen(text, LOG_BYTES);
        log_write(LOG_RECORD, "%s: %s", code->tracepoint,
                  text + (len > LOG_TAIL ? len - LOG_TAIL : 0));
        heap_free(text);
    }
    int saved = errno;
    heap_free(words);
    errno = saved;
    if (program < 0)
        (void)error_os(err, "cannot load a BPF program for '%s'", code->tracepoint);
    return program;
}

int bpf_load_for_samples(const BpfCode *code, const BpfMap *maps, Error *err)
{
    return load_linked(code, maps, 0, err);
}

int bpf_load_for_places(const BpfCode *code, const BpfMap *maps, Error *err)
{
    return load_linked(code, maps, 0, err);
}

// The attributes of BPF_LINK_CREATE for places in programs.
typedef struct UprobeMulti {
    uint32_t program, target, attach_type, link_flags;
    uint64_t path, offsets, counters, cookies;
    uint32_t count, flags, pid, unused;
} UprobeMulti;

int bpf_attach_to_places(int program, const BpfUserPlaces *places, Error *err)
{
    UprobeMulti m = {.program = (uint32_t)program,
                     .attach_type = ATTACH_UPROBE_MULTI,
                     .path = (uint64_t)(uintptr_t)places->path,
                     .offsets = (uint64_t)(uintptr_t)places->offsets,
                     .cookies = (uint64_t)(uintptr_t)places->cookies,
                     .count = places->count,
                     .flags = places->at_return ? UPROBE_MULTI_RETURN : 0};
    int link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &m, sizeof(m));
    if (link < 0)
        (void)error_os(err, "cannot probe '%s'", places->path);
    return link;
}

int bpf_attach_to_event(int program, int event, uint64_t cookie)
{
    union bpf_attr a = {.link_create = {.prog_fd = (uint32_t)program,
                                        .target_fd = (uint32_t)event,
                                        .attach_type = BPF_PERF_EVENT,
                                        .perf_event = {.bpf_cookie = cookie}}};
    return bpf(BPF_LINK_CREATE, &a);
}

uint32_t bpf_attach(const BpfCode *code, const BpfMap *maps, const BpfTypes *types, int *fds,
                    Error *err)
{
    uint32_t args, type = bpf_types_tracepoint(types, code->tracepoint, &args);
    if (type == 0) {
        (void)error_set(err, ERROR_UNSUPPORTED, "this kernel has no tracepoint '%s'",
                        code->tracepoint);
        return 0;
    }
    int program = load_linked(code, maps, type, err);
    if (program < 0)
        return 0;
    union bpf_attr a = {.raw_tracepoint = {.prog_fd = (uint32_t)program}};
    int link = bpf(BPF_RAW_TRACEPOINT_OPEN, &a);
    if (link < 0) {
        (void)error_os(err, "cannot attach a BPF program to '%s'", code->tracepoint);
        close(program);
        return 0;
    }
    fds[0] = link;
    fds[1] = program;
    return 2;
}
