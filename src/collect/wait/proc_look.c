// SPDX-License-Identifier: Apache-2.0
// Files of a thread in /proc (proc(5)), and process_vm_readv(2).

#include "collect/wait/proc_look_internal.h"

#include "wire/wait.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, STAT_BYTES = 512 };

bool proc_next_number(Str *rest, uint64_t *ret)
{
    Str word;
    if (!str_next_word(rest, &word))
        return false;
    bool is_hex = str_starts_with(word, STR("0x"));
    return str_parse_u64(is_hex ? str_slice(word, 2, word.len) : word, is_hex ? 16 : 10, ret);
}

bool proc_syscall_parse(Str line, ProcWait *ret)
{
    uint64_t call;
    ProcWait w = {.call = WAIT_NO_CALL};
    if (str_starts_with(line, STR("-1 "))) {
        line = str_slice(line, 3, line.len);
    } else {
        if (!proc_next_number(&line, &call) || call >= WAIT_NO_CALL)
            return false;
        w.call = call < WAIT_CALLS ? (uint32_t)call : WAIT_NO_CALL;
        for (size_t i = 0; i < PROC_ARGS; i++)
            if (!proc_next_number(&line, &w.args[i]))
                return false;
    }
    if (!proc_next_number(&line, &w.sp) || !proc_next_number(&line, &w.pc))
        return false;
    ret->call = w.call;
    memcpy(ret->args, w.args, sizeof(w.args));
    ret->sp = w.sp;
    ret->pc = w.pc;
    return true;
}

int proc_open_of(uint32_t pid, uint32_t tid, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t proc_read_of(int fd, uint32_t pid, uint32_t tid, const char *file, char *to, size_t size)
{
    if (fd >= 0)
        return pread(fd, to, size, 0);
    int own = proc_open_of(pid, tid, file);
    if (own < 0)
        return -1;
    ssize_t n = read(own, to, size);
    close(own);
    return n;
}

// Whether the state of the thread tells more than its system call. Reading the file that states it
// costs as much as all else.
static bool needs_how(uint32_t call)
{
#ifdef SYS_open
    if (call == SYS_open || call == SYS_creat)
        return true;
#endif
    return call == WAIT_NO_CALL || call == SYS_openat;
}

// The fields of "stat" behind the name of the thread, from its state on.
static bool read_stat(uint32_t pid, uint32_t tid, char text[static STAT_BYTES], Str *ret)
{
    ssize_t n = proc_read_of(-1, pid, tid, "stat", text, STAT_BYTES);
    const char *end = n > 0 ? memrchr(text, ')', (size_t)n) : NULL;
    if (!end || end + 2 >= text + n)
        return false;
    *ret = (Str){end + 2, (size_t)(text + n - end - 2)};
    return true;
}

bool proc_sleeps(uint32_t pid, uint32_t tid, uint32_t *how)
{
    char text[STAT_BYTES];
    Str fields;
    *how = 0;
    if (!read_stat(pid, tid, text, &fields))
        return false;
    char state = fields.ptr[0];
    *how = state == 'D' ? WAIT_HOW_DEEP : state == 'T' || state == 't' ? WAIT_HOW_STOPPED : 0;
    return state != 'R' && state != 'Z' && state != 'X';
}

uint32_t proc_how_it_sleeps(uint32_t pid, uint32_t tid, uint32_t call)
{
    uint32_t how = 0;
    if (needs_how(call))
        (void)proc_sleeps(pid, tid, &how);
    return how;
}

bool proc_is_ending(uint32_t pid, uint32_t tid)
{
    enum { FLAGS_AT = 6, EXITING = 0x4 }; // from the state on; PF_EXITING of the kernel
    char text[STAT_BYTES];
    Str fields, word;
    uint64_t flags = 0;
    if (!read_stat(pid, tid, text, &fields))
        return true;
    if (fields.ptr[0] == 'Z' || fields.ptr[0] == 'X')
        return true;
    for (int i = 0; i < FLAGS_AT; i++)
        if (!str_next_word(&fields, &word))
            return false;
    return proc_next_number(&fields, &flags) && flags & EXITING;
}

// Pages are read one by one, because a read of a range that ends behind the stack fails as a whole.
uint32_t proc_read_stack(uint32_t pid, uint64_t sp, uint8_t *to)
{
    enum { PARTS = PROC_STACK_BYTES / PAGE + 1 };
    struct iovec room = {to, PROC_STACK_BYTES}, from[PARTS];
    size_t count = 0, at = 0;
    while (at < PROC_STACK_BYTES && count < PARTS) {
        size_t part = MIN(PAGE - (size_t)((sp + at) % PAGE), (size_t)PROC_STACK_BYTES - at);
        from[count++] = (struct iovec){(void *)(uintptr_t)(sp + at), part};
        at += part;
    }
    ssize_t n = process_vm_readv((pid_t)pid, &room, 1, from, count, 0);
    return n > 0 ? (uint32_t)n : 0;
}
