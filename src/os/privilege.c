// SPDX-License-Identifier: Apache-2.0
// Capabilities (capabilities(7)) and a seccomp filter in classic BPF (seccomp(2)).

#include "os/privilege.h"

#include "base/defs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of headers that are older than the kernel.
enum { PRIVILEGE_CAP_PERFMON = 38, PRIVILEGE_CAP_CHECKPOINT_RESTORE = 40 };

static bool caps_get(struct __user_cap_data_struct caps[2])
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &head, caps) == 0;
}

bool privilege_is_special(void)
{
    struct __user_cap_data_struct caps[2];
    return geteuid() == 0 || (caps_get(caps) && (caps[0].permitted || caps[1].permitted));
}

void privilege_reduce(bool may_signal)
{
    static const unsigned kept[] = {PRIVILEGE_CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
                                    CAP_SYSLOG, PRIVILEGE_CAP_CHECKPOINT_RESTORE};
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    uint32_t mask[2] = {0, 0};
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        mask[kept[i] / 32] |= 1u << kept[i] % 32;
    if (may_signal)
        mask[CAP_KILL / 32] |= 1u << CAP_KILL % 32;
    prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    if (prctl(PR_CAPBSET_READ, (long)PRIVILEGE_CAP_CHECKPOINT_RESTORE, 0L, 0L, 0L) < 0)
        return;
    prctl(PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L);
    if (!caps_get(caps))
        return;
    for (int i = 0; i < 2; i++) {
        caps[i].effective &= mask[i];
        caps[i].permitted &= mask[i];
        caps[i].inheritable = 0;
    }
    (void)syscall(SYS_capset, &head, caps);
}

// ---- The filter -----------------------------------------------------------------------

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCH

// LeakSanitizer looks at the threads by ptrace from a process of its own.
#if defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK 1
#endif
#endif
#ifndef HAS_LEAK_CHECK
#define HAS_LEAK_CHECK 0
#endif

// Calls without a use for a reader. x86-64 has old forms that aarch64 never had.
static const int refused[] = {
    SYS_execve, SYS_execveat,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
#ifdef SYS_creat
    SYS_creat, SYS_rename, SYS_link, SYS_unlink, SYS_symlink, SYS_mkdir, SYS_rmdir, SYS_mknod,
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_fchmodat2
    SYS_fchmodat2,
#endif
    SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_symlinkat, SYS_mkdirat, SYS_mknodat, SYS_fchmodat,
    SYS_fchownat, SYS_fchmod, SYS_fchown, SYS_utimensat, SYS_truncate, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_mount, SYS_umount2,
    SYS_pivot_root, SYS_chroot, SYS_swapon, SYS_setns, SYS_unshare, SYS_socket, SYS_socketpair,
    SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_process_vm_writev,
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_bpf, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups,
    SYS_acct, SYS_quotactl, SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime,
    SYS_adjtimex, SYS_clock_adjtime, SYS_reboot, SYS_open_by_handle_at, SYS_name_to_handle_at,
    SYS_userfaultfd, SYS_pidfd_getfd, SYS_personality, SYS_memfd_create,
    // Other processes: their processors, limits, memory and messages.
    SYS_setpriority, SYS_ioprio_set, SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr,
    SYS_sched_setaffinity, SYS_migrate_pages, SYS_move_pages,
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
#ifdef SYS_process_mrelease
    SYS_process_mrelease,
#endif
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal, SYS_shmget, SYS_shmat,
    SYS_shmctl, SYS_semget, SYS_semctl, SYS_msgget, SYS_msgsnd, SYS_msgctl, SYS_mq_open,
    SYS_mq_unlink, SYS_syslog};

// Requests to the kernel's drivers that a reader makes: those of perf events, and what a stream and
// the terminal are. Others could type into the terminal (TIOCSTI).
enum { REQUEST_TYPE = 0xff00, REQUEST_TYPE_PERF = '$' << 8 };
static const uint32_t requests[] = {TCGETS, TIOCGWINSZ, TIOCGPGRP};

enum {
    FILTER_MAX = 4 * ARRAY_LEN(refused) + 64,
    WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC,
    X32_CALLS = 0x40000000,
};

typedef struct Filter {
    struct sock_filter at[FILTER_MAX];
    unsigned short len;
} Filter;

static void add(Filter *f, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
    f->at[f->len++] = (struct sock_filter)BPF_JUMP(code, k, if_true, if_false);
}

static void load(Filter *f, size_t offset)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void give(Filter *f, uint32_t what)
{
    add(f, BPF_RET | BPF_K, what, 0, 0);
}

// The low half of an argument; both architectures are little endian here.
static size_t argument(unsigned i)
{
    return offsetof(struct seccomp_data, args) + 8 * i;
}

static void refuse_call(Filter *f, int call, int error)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    give(f, SECCOMP_RET_ERRNO | (uint32_t)error);
}

// Refuses the call when the bits of its argument are (`when_set`), or are not, set.
static void refuse_bits(Filter *f, int call, unsigned arg, uint32_t bits, bool when_set)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    load(f, argument(arg));
    add(f, BPF_JMP | BPF_JSET | BPF_K, bits, when_set ? 0 : 1, when_set ? 1 : 0);
    give(f, SECCOMP_RET_ERRNO | EPERM);
    give(f, SECCOMP_RET_ALLOW);
}

// Refuses all but `requests` and those of perf events.
static void refuse_requests(Filter *f)
{
    const uint8_t count = ARRAY_LEN(requests);
    add(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, (uint8_t)(count + 5));
    load(f, argument(1));
    for (uint8_t i = 0; i < count; i++)
        add(f, BPF_JMP | BPF_JEQ | BPF_K, requests[i], (uint8_t)(count - i + 2), 0);
    add(f, BPF_ALU | BPF_AND | BPF_K, REQUEST_TYPE, 0, 0);
    add(f, BPF_JMP | BPF_JEQ | BPF_K, REQUEST_TYPE_PERF, 1, 0);
    give(f, SECCOMP_RET_ERRNO | EPERM);
    give(f, SECCOMP_RET_ALLOW);
}

// Calls with the numbers from here to the next part.
typedef struct Part {
    uint32_t from;
    bool is_refused;
} Part;

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// The whole numbers as parts that are refused or allowed in turn.
static size_t parts_make(Part *ret)
{
    int numbers[ARRAY_LEN(refused)];
    size_t count = 0;
    memcpy(numbers, refused, sizeof(numbers));
    qsort(numbers, ARRAY_LEN(numbers), sizeof(numbers[0]), by_number);
    ret[count++] = (Part){0, false};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uint32_t number = (uint32_t)numbers[i];
        if (ret[count - 1].from == number && count > 1)
            count--; // the part before goes on
        else if (number)
            ret[count++] = (Part){number, true};
        else
            ret[0].is_refused = true;
        ret[count++] = (Part){number + 1, false};
    }
    return count;
}

// A search by halves. The kernel runs a filter for every call that there is when it is installed,
// so that a list is slow.
static void search_parts(Filter *f, const Part *parts, size_t count)
{
    if (count == 1) {
        give(f, parts->is_refused ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
        return;
    }
    size_t half = count / 2, at = f->len;
    add(f, BPF_JMP | BPF_JGE | BPF_K, parts[half].from, 0, 0);
    search_parts(f, parts, half);
    assert(f->len - at - 1 <= UINT8_MAX);
    f->at[at].jt = (uint8_t)(f->len - at - 1);
    search_parts(f, parts + half, count - half);
}

static void refuse_all(Filter *f)
{
    Part parts[2 * ARRAY_LEN(refused) + 1];
    search_parts(f, parts, parts_make(parts));
}

static void filter_make(Filter *f, bool may_trace)
{
    load(f, offsetof(struct seccomp_data, arch));
    add(f, BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0);
    give(f, SECCOMP_RET_ERRNO | EPERM);
    load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    add(f, BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
    give(f, SECCOMP_RET_ERRNO | EPERM);
#endif
    if (!may_trace && !HAS_LEAK_CHECK)
        refuse_call(f, SYS_ptrace, EPERM);
    // Its flags lie in memory; without it threads are made by clone.
    refuse_call(f, SYS_clone3, ENOSYS);
    if (!HAS_LEAK_CHECK)
        refuse_bits(f, SYS_clone, 0, CLONE_THREAD, false);
#ifdef SYS_open
    refuse_bits(f, SYS_open, 1, WRITING, true);
#endif
    refuse_bits(f, SYS_openat, 2, WRITING, true);
    // Its number may be stated as 0: the limits of this process alone may be changed.
    refuse_bits(f, SYS_prlimit64, 0, UINT32_MAX, true);
    refuse_requests(f);
    refuse_all(f);
}

bool privilege_confine(bool may_trace)
{
    Filter f = {.len = 0};
    filter_make(&f, may_trace);
    struct sock_fprog program = {.len = f.len, .filter = f.at};
    return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

bool privilege_confine(bool may_trace)
{
    (void)may_trace;
    return false;
}

#endif

bool privilege_sees_kernel_pids(void)
{
    const ino_t first = 0xEFFFFFFCu; // of the first namespace, on every kernel: PROC_PID_INIT_INO
    struct stat st;
    return stat("/proc/self/ns/pid", &st) != 0 || st.st_ino == first;
}
