// SPDX-License-Identifier: Apache-2.0
// The system call bpf(2) (linux/bpf.h).

#include "collect/bpf/bpf.h"

#include "base/arena.h"
#include "base/log.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOG_BYTES = 1 << 20 };

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

static int load(const BpfCode *code, const uint64_t *words, uint32_t type, char *log)
{
    union bpf_attr a = {.prog_type = BPF_PROG_TYPE_TRACING,
                        .expected_attach_type = BPF_TRACE_RAW_TP,
                        .attach_btf_id = type,
                        .insn_cnt = code->len,
                        .insns = (uint64_t)(uintptr_t)words,
                        .license = (uint64_t)(uintptr_t) "Dual BSD/GPL",
                        .prog_name = "assay"};
    if (log) {
        a.log_buf = (uint64_t)(uintptr_t)log;
        a.log_size = LOG_BYTES;
        a.log_level = 1;
    }
    return bpf(BPF_PROG_LOAD, &a);
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
    uint64_t *words = heap_alloc(code->len * sizeof(*words));
    memcpy(words, code->code, code->len * sizeof(*words));
    for (uint32_t i = 0; i < code->place_count; i++)
        set_map(words, &code->places[i], &maps[code->places[i].map]);
    int program = load(code, words, type, NULL);
    if (program < 0 && log_enabled(LOG_RECORD, 1)) {
        char *text = heap_alloc(LOG_BYTES);
        program = load(code, words, type, text);
        size_t len = strnlen(text, LOG_BYTES);
        log_write(LOG_RECORD, "%s: %s", code->tracepoint, text + (len > 3000 ? len - 3000 : 0));
        heap_free(text);
    }
    heap_free(words);
    if (program < 0) {
        (void)error_os(err, "cannot load a BPF program for '%s'", code->tracepoint);
        return 0;
    }
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
