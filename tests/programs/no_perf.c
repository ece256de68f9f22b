// SPDX-License-Identifier: Apache-2.0
// no_perf [--ptrace|--bpf] CMD [ARG …]: runs a command with a seccomp filter that refuses
// perf_event_open with EPERM, as containers' default profiles do; with --ptrace it also refuses
// ptrace and process_vm_readv, as the profiles of older kernels do; with --bpf it refuses bpf
// alone.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int ptrace_too = argc > 1 && strcmp(argv[1], "--ptrace") == 0;
    int only_bpf = argc > 1 && strcmp(argv[1], "--bpf") == 0;
    unsigned first = only_bpf ? SYS_bpf : SYS_perf_event_open;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ptrace_too ? SYS_ptrace : first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ptrace_too ? SYS_process_vm_readv : first, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    argv += ptrace_too || only_bpf;
    if (argc < 2 + (ptrace_too || only_bpf))
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 77;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
