// SPDX-License-Identifier: Apache-2.0
// /proc: mappings, threads, children, status. Format: proc(5).

#ifndef OS_PROC_H
#define OS_PROC_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

// One line of /proc/PID/maps.
typedef struct ProcMap {
    uint64_t start;
    uint64_t end;
    uint64_t offset; // into the file
    uint64_t inode;  // 0: no file
    uint32_t device_major;
    uint32_t device_minor;
    bool read, write, exec, shared;
    Str path; // without " (deleted)"; "" for anonymous memory; "[vdso]", "[heap]" …
    bool deleted;
} ProcMap;

typedef Vec(ProcMap) ProcMapVec;

// Parses one line, given without its newline. `path` borrows the line. False for any other text.
MUST_CHECK bool proc_map_parse(Str line, ProcMap *ret);
// All mappings of a process, paths in the arena. Fails when the process has ended, or when this
// one may not read it.
MUST_CHECK bool proc_maps_read(Arena *arena, uint32_t pid, ProcMapVec *ret, Error *err);

// The lines of /proc/PID/status that assay uses.
typedef struct ProcStatus {
    Str name;              // borrowed from the text
    uint32_t thread_group; // the pid of the process
    uint32_t parent;
    uint32_t ns_pid;  // pid in the innermost pid namespace; the pid where the line is missing
    uint32_t uid;     // effective
    uint32_t tracer;  // 0: none
    uint32_t seccomp; // 0 off, 1 strict, 2 filter
    uint64_t cap_effective;
} ProcStatus;

// Missing lines leave zeros. False when there is no Tgid line: the text is not a status file.
MUST_CHECK bool proc_status_parse(Str text, ProcStatus *ret);
// Reads and parses the status of a process; pid 0 is this process.
MUST_CHECK bool proc_status_read(Arena *arena, uint32_t pid, ProcStatus *ret, Error *err);

// Whether the kernel counts the time that threads wait for block I/O (kernel.task_delayacct).
bool proc_accounts_delays(void);
// The wait of a process' main thread for block I/O so far, in whole ticks of the kernel; also of
// one that has ended and was not waited for. Only of use where proc_accounts_delays. -1 when it
// cannot be read.
int64_t proc_disk_wait_ns(uint32_t pid);
// Whether it is a thread of the kernel, not a program.
bool proc_is_kernel_thread(uint32_t pid);

// Appends the thread ids of a process, in /proc's order.
MUST_CHECK bool proc_list_threads(uint32_t pid, U32Vec *ret, Error *err);
// Appends the id of every process in /proc.
MUST_CHECK bool proc_list_all(U32Vec *ret, Error *err);
// Appends the direct children of all threads of a process. A kernel without
// CONFIG_PROC_CHILDREN gives none.
void proc_list_children(uint32_t pid, U32Vec *ret);

// The name of a thread or process; "" when it has ended.
Str proc_comm(Arena *arena, uint32_t pid, uint32_t tid);
// The arguments, joined by NUL; "" for kernel threads and processes that have ended.
Str proc_command_line(Arena *arena, uint32_t pid);
// True while the process exists, whoever owns it.
bool proc_exists(uint32_t pid);

// Parses a CPU list as sysfs and taskset write it, "0-3,8", and appends the numbers in their
// order. More than `max` of them, or any other character, is an error.
MUST_CHECK bool cpu_list_parse(Str text, size_t max, U32Vec *ret, Error *err);
// Appends the numbers of the CPUs that are online.
MUST_CHECK bool cpu_list_online(U32Vec *ret, Error *err);

#endif // OS_PROC_H
