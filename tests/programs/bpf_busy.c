// SPDX-License-Identifier: Apache-2.0
// Loads a BPF program, runs it often and takes it away again. Truth: kernel time is
// in bpf_prog_…_assay_busy, which /proc/kallsyms knows no more afterwards.
// Status 77: BPF programs may not be loaded here.

#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORK = 2000, RUNS = 20, REPEAT = 10000 };

int main(void)
{
    static struct bpf_insn code[WORK + 2];
    code[0] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1};
    for (int i = 1; i <= WORK; i++)
        code[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 3};
    code[WORK + 1] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
    union bpf_attr load = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
                           .insns = (uintptr_t)code,
                           .insn_cnt = WORK + 2,
                           .license = (uintptr_t) "GPL"};
    memcpy(load.prog_name, "assay_busy", sizeof("assay_busy"));
    int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
    if (fd < 0)
        return 77;
    char data[64] = {0};
    for (int i = 0; i < RUNS; i++) {
        union bpf_attr run = {.test = {.prog_fd = (uint32_t)fd,
                                       .data_in = (uintptr_t)data,
                                       .data_size_in = sizeof(data),
                                       .repeat = REPEAT}};
        if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &run, sizeof(run)) != 0)
            return 77;
    }
    close(fd);
    return 0;
}
