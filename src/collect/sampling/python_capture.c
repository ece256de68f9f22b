// SPDX-License-Identifier: Apache-2.0
// The BPF program, written out instruction by instruction (linux/bpf.h; bpf-helpers(7)).

#include "collect/sampling/python_capture_internal.h"

#include "collect/bpf/bpf.h"
#include "os/privilege.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PROGRAM_MAX = 4096, // instructions
    EXITS_MAX = 2 * CAPTURE_FRAMES_MAX + 16,
    WORD_AT = -16, // of the program's stack: a word that was read
    INDEX_AT = -4,
};

// ---- The program ------------------------------------------------------------------------

// struct bpf_insn, whose registers are bit fields.
typedef struct Instruction {
    uint8_t code;
    uint8_t registers; // the source in the high half
    int16_t off;
    int32_t value;
} Instruction;

// An element of the map that the program works in.
typedef struct CaptureScratch {
    CaptureStack stack;                   // what it writes
    uint8_t raw[CAPTURE_FRAME_BYTES + 8]; // a frame as it was read
} CaptureScratch;

typedef struct Code {
    Instruction at[PROGRAM_MAX];
    int len;
    int to_end[EXITS_MAX], to_output[EXITS_MAX]; // jumps whose distance is set at the end
    int end_count, output_count;
} Code;

static void add(Code *c, uint8_t code, uint8_t to, uint8_t from, int16_t offset, int32_t value)
{
    assert(c->len < PROGRAM_MAX);
    c->at[c->len++] = (Instruction){code, (uint8_t)(to | from << 4), offset, value};
}

static void move(Code *c, uint8_t to, uint8_t from)
{
    add(c, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void set(Code *c, uint8_t to, int32_t value)
{
    add(c, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

static void plus(Code *c, uint8_t to, int32_t value)
{
    add(c, BPF_ALU64 | BPF_ADD, to, 0, 0, value); // BPF_K is 0, as BPF_ADD is
}

static void call(Code *c, int32_t helper)
{
    add(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void load32(Code *c, uint8_t to, uint8_t from, size_t offset)
{
    add(c, BPF_LDX | BPF_MEM | BPF_W, to, from, (int16_t)offset, 0);
}

static void load64(Code *c, uint8_t to, uint8_t from, int offset)
{
    add(c, BPF_LDX | BPF_MEM | BPF_DW, to, from, (int16_t)offset, 0);
}

static void load_map(Code *c, uint8_t to, int fd)
{
    add(c, BPF_LD | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, fd); // BPF_IMM is 0, as BPF_LD is
    add(c, 0, 0, 0, 0, 0);
}

static void jump(Code *c, uint8_t condition, uint8_t reg, int32_t value, bool to_output)
{
    if (to_output)
        c->to_output[c->output_count++] = c->len;
    else
        c->to_end[c->end_count++] = c->len;
    add(c, BPF_JMP | condition | BPF_K, reg, 0, 0, value);
}

static void land(Code *c, const int *jumps, int count)
{
    for (int i = 0; i < count; i++)
        c->at[jumps[i]].off = (int16_t)(c->len - jumps[i] - 1);
}

// r0 = the element of the map at the index in the program's stack; leaves when there is none.
static void look_up(Code *c, int map)
{
    load_map(c, BPF_REG_1, map);
    move(c, BPF_REG_2, BPF_REG_10);
    plus(c, BPF_REG_2, INDEX_AT);
    call(c, BPF_FUNC_map_lookup_elem);
    jump(c, BPF_JEQ, BPF_REG_0, 0, false);
}

// r9 = the word of the observed process at r3.
static void read_next(Code *c)
{
    move(c, BPF_REG_1, BPF_REG_10);
    plus(c, BPF_REG_1, WORD_AT);
    set(c, BPF_REG_2, 8);
    call(c, BPF_FUNC_probe_read_user);
    jump(c, BPF_JNE, BPF_REG_0, 0, false);
    load64(c, BPF_REG_9, BPF_REG_10, WORD_AT);
}

// r3 = r9 + the number at an offset of the target.
static void place_of(Code *c, size_t offset)
{
    load32(c, BPF_REG_3, BPF_REG_8, offset);
    add(c, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_3, BPF_REG_9, 0, 0);
}

// `to` = the number at an offset of the target, which the mask keeps inside of RawFrame.
static void load_bounded(Code *c, uint8_t to, size_t offset)
{
    load32(c, to, BPF_REG_8, offset);
    add(c, BPF_ALU64 | BPF_AND | BPF_K, to, 0, 0, CAPTURE_FRAME_BYTES);
}

// `to` = the word of the frame that was read whose offset the target states.
static void load_field(Code *c, uint8_t to, size_t offset)
{
    load_bounded(c, BPF_REG_1, offset);
    add(c, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_7, 0, 0);
    load64(c, to, BPF_REG_1, offsetof(CaptureScratch, raw));
}

// One read for the whole frame: each costs a call of a helper, for the kernel that runs the program
// and for the one that checks it.
static void read_frame(Code *c, int number)
{
    static const size_t fields[] = {offsetof(CaptureTarget, code),
                                    offsetof(CaptureTarget, instruction),
                                    offsetof(CaptureTarget, entry)};
    size_t at = offsetof(CaptureStack, frames) + (size_t)number * sizeof(CaptureFrame);
    jump(c, BPF_JEQ, BPF_REG_9, 0, true);
    move(c, BPF_REG_1, BPF_REG_7);
    plus(c, BPF_REG_1, offsetof(CaptureScratch, raw));
    load_bounded(c, BPF_REG_2, offsetof(CaptureTarget, bytes));
    move(c, BPF_REG_3, BPF_REG_9);
    call(c, BPF_FUNC_probe_read_user);
    jump(c, BPF_JNE, BPF_REG_0, 0, true);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        load_field(c, BPF_REG_2, fields[i]);
        add(c, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_2, (int16_t)(at + 8 * i), 0);
    }
    load_field(c, BPF_REG_9, offsetof(CaptureTarget, previous));
    add(c, BPF_ST | BPF_MEM | BPF_W, BPF_REG_7, 0, offsetof(CaptureStack, count), number + 1);
}

// r6: the context; r7: the CaptureScratch; r8: the CaptureTarget; r9: a frame.
static void make_program(Code *c, const Capture *cap)
{
    move(c, BPF_REG_6, BPF_REG_1);
    call(c, BPF_FUNC_get_current_pid_tgid);
    add(c, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_9, BPF_REG_0, 0, 0); // the thread: the low half
    move(c, BPF_REG_1, BPF_REG_9);
    add(c, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_1, 0, 0, CAPTURE_TARGETS - 1);
    add(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_1, INDEX_AT, 0);
    look_up(c, cap->targets_fd);
    move(c, BPF_REG_8, BPF_REG_0);
    load32(c, BPF_REG_1, BPF_REG_8, offsetof(CaptureTarget, tid));
    c->to_end[c->end_count++] = c->len;
    add(c, BPF_JMP | BPF_JNE | BPF_X, BPF_REG_1, BPF_REG_9, 0, 0);
    add(c, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, INDEX_AT, 0);
    look_up(c, cap->scratch_fd);
    move(c, BPF_REG_7, BPF_REG_0);
    add(c, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, 0, 0);
    load64(c, BPF_REG_3, BPF_REG_8, offsetof(CaptureTarget, frame));
    read_next(c);
    load32(c, BPF_REG_1, BPF_REG_8, offsetof(CaptureTarget, cframe));
    int skip = c->len;
    add(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, CAPTURE_NO_OFFSET);
    place_of(c, offsetof(CaptureTarget, cframe));
    read_next(c);
    land(c, &skip, 1);
    for (int i = 0; i < CAPTURE_FRAMES_MAX; i++)
        read_frame(c, i);
    land(c, c->to_output, c->output_count);
    load32(c, BPF_REG_5, BPF_REG_7, offsetof(CaptureStack, count));
    add(c, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_5, 0, 0, CAPTURE_FRAMES_MAX);
    add(c, BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_5, 0, 0, sizeof(CaptureFrame));
    plus(c, BPF_REG_5, offsetof(CaptureStack, frames));
    move(c, BPF_REG_1, BPF_REG_6);
    load_map(c, BPF_REG_2, cap->outputs_fd);
    add(c, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1); // BPF_F_CURRENT_CPU
    move(c, BPF_REG_4, BPF_REG_7);
    call(c, BPF_FUNC_perf_event_output);
    land(c, c->to_end, c->end_count);
    set(c, BPF_REG_0, 1); // the sample is kept
    add(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

// ---- Loading it ---------------------------------------------------------------------------

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

static bool load_program(Capture *c)
{
    Arena scratch = {0};
    Code *code = arena_new(&scratch, Code);
    make_program(code, c);
    union bpf_attr a = {.prog_type = BPF_PROG_TYPE_PERF_EVENT,
                        .insn_cnt = (uint32_t)code->len,
                        .insns = (uint64_t)(uintptr_t)code->at,
                        .license = (uint64_t)(uintptr_t) "Dual BSD/GPL",
                        .prog_name = "assay_python"};
    c->program_fd = bpf(BPF_PROG_LOAD, &a);
    int saved = errno;
    arena_deinit(&scratch);
    errno = saved;
    return c->program_fd >= 0;
}

// The event through which the program writes on one CPU, into the ring of that CPU.
static bool open_output(const EventSet *events, const struct perf_event_attr *attr, size_t ring,
                        Capture *c)
{
    int fd = bpf_output_open(attr, events->cpus[ring], events->ring_fds[ring], c->outputs_fd,
                             &c->ids[ring]);
    if (fd < 0)
        return false;
    c->event_fds[c->event_count++] = fd;
    return true;
}

static bool open_all(EventSet *events, int after, Capture *c)
{
    uint32_t cpus = 0;
    for (size_t i = 0; i < events->cpu_count; i++)
        cpus = MAX(cpus, events->cpus[i] + 1);
    c->targets_fd = bpf_array_make(sizeof(CaptureTarget), CAPTURE_TARGETS, BPF_F_MMAPABLE);
    if (c->targets_fd < 0)
        return false;
    c->scratch_fd = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(CaptureScratch), 1, 0);
    c->outputs_fd = bpf_event_array_make(cpus);
    void *at = mmap(NULL, CAPTURE_TARGETS * sizeof(CaptureTarget), PROT_READ | PROT_WRITE,
                    MAP_SHARED, c->targets_fd, 0);
    c->targets = at == MAP_FAILED ? NULL : at;
    if (!c->targets || c->scratch_fd < 0 || c->outputs_fd < 0 || !load_program(c))
        return false;
    struct perf_event_attr attr = bpf_output_attr(&events->base);
    for (size_t i = 0; i < events->ring_count; i++)
        if (!open_output(events, &attr, i, c))
            return false;
    events_add_outputs(events, &attr, c->ids, c->event_count);
    if (after >= 0)
        return bpf_element_set(after, 0, &c->program_fd);
    for (size_t i = 0; i < events->open.len; i++)
        if (events->open.at[i].event != SIDE_BAND &&
            ioctl(events->open.at[i].fd, PERF_EVENT_IOC_SET_BPF, c->program_fd) != 0)
            return false;
    return true;
}

bool capture_open(EventSet *events, int after, Capture *ret, Error *err)
{
    Capture c = {.targets_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .program_fd = -1};
    *ret = (Capture){0};
    if (!privilege_is_special() || events->per_thread || events->stacks != STACKS_TABLES)
        return error_set(err, ERROR_PERMISSION, "not possible for this user or recording");
    c.event_fds = arena_array(events->arena, int, events->ring_count);
    c.ids = arena_array(events->arena, uint64_t, events->ring_count);
    size_t outputs = events->output_count;
    if (open_all(events, after, &c)) {
        *ret = c;
        return true;
    }
    (void)error_os(err, "cannot load a BPF program");
    events->output_count = outputs;
    capture_close(&c);
    return false;
}

void capture_close(Capture *c)
{
    const int fds[] = {c->targets_fd, c->scratch_fd, c->outputs_fd, c->program_fd};
    if (!c->event_fds)
        return;
    if (c->targets)
        munmap(c->targets, CAPTURE_TARGETS * sizeof(CaptureTarget));
    for (size_t i = 0; i < c->event_count; i++)
        close(c->event_fds[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *c = (Capture){0};
}
