// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Declarations of the kernel that BPF programs need: helpers by number (linux/bpf.h), sections,
// maps.

#ifndef COLLECT_BPF_PROGRAMS_KERNEL_H
#define COLLECT_BPF_PROGRAMS_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

// A program, in a section of the name of its tracepoint.
#define PROGRAM(tracepoint) __attribute__((section(tracepoint), used))
// A name for a map. The loader puts its address into the program.
#define MAP    __attribute__((section("maps")))
#define INLINE static inline __attribute__((always_inline))

#define BARRIER() __asm__ volatile("" ::: "memory")
// Hides where a value comes from, so that the compiler keeps a check before its use.
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static uint32_t (*const bpf_get_smp_processor_id)(void) = (void *)8;
static uint64_t (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_perf_event_output)(void *ctx, void *map, uint64_t flags, void *data,
                                           uint64_t size) = (void *)25;
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static uint64_t (*const bpf_get_attach_cookie)(void *ctx) = (void *)174;
static long (*const bpf_probe_read_user)(void *to, uint32_t size, const void *from) = (void *)112;
static long (*const bpf_probe_read_kernel)(void *to, uint32_t size, const void *from) = (void *)113;
static void *(*const bpf_get_current_task_btf)(void) = (void *)158;
static void *(*const bpf_task_pt_regs)(void *task) = (void *)175;

// Goes on in a program of the array, when it is there.
static void (*const bpf_tail_call)(void *ctx, void *map, uint32_t index) = (void *)12;
// Calls a function for 0 to `count` - 1, until it returns 1. The function stands behind the program
// in the same section, see PART. Other loops the kernel checks pass by pass, at the start of every
// recording.
static long (*const bpf_loop)(uint32_t count, void *part, void *ctx, uint64_t flags) = (void *)181;
// The head of such a function: its first argument is `number`.
#define PART(name, argument)                                                                       \
    __attribute__((section("perf_event"), used, noinline)) static long name(uint64_t number,       \
                                                                            argument)

#define THIS_CPU 0xffffffffull

#endif // COLLECT_BPF_PROGRAMS_KERNEL_H
