// SPDX-License-Identifier: Apache-2.0
// Starts the observed program in two steps: a child is forked and waits while the caller
// opens its events; then the child is released and executes the program.

#ifndef OS_SPAWN_H
#define OS_SPAWN_H

#include "base/arena.h"
#include "base/error.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

// The file that a command name stands for.
typedef struct Program {
    Str path;                 // found in PATH, or as given when it has a slash
    bool is_script;           // starts with "#!"
    Str folder;               // in which it starts; "": the present one
    char *const *environment; // to run it with; ends in NULL. NULL: that of this process
    Str interpreter;          // of a script: "/usr/bin/python3"
    bool is_static;           // an ELF file without an interpreter: it loads no libraries
    bool is_32bit;            // an ELF file for 32-bit addresses
    bool changes_user;        // has set-uid, set-gid or file capabilities that this process lacks:
                              // the kernel stops profiling when it starts
    bool unreadable;          // may be executed but not read: the kernel stops profiling, too
    pid_t tracer;             // a process that is not an ancestor and is to trace it; 0: none
} Program;

// Looks a command up as execvp would; `search_path` is $PATH. Errors say "not found", "permission
// denied", "is a directory" or "exec format error".
MUST_CHECK bool program_find(Arena *arena, Str name, Str search_path, Program *ret, Error *err);

typedef struct Spawned {
    pid_t pid;
    int release_fd; // a byte written here starts the program
    int result_fd;  // reads end of file when the program started, else errno of the failed exec
    int pid_fd;     // readable when the child has ended; -1 on kernels before 5.3
} Spawned;

// Forks a child that waits. `argv` ends in NULL. `child_mask` is the signal mask that the program
// starts with. Signals that the caller ignores are ignored in the program, too.
MUST_CHECK bool spawn_prepare(const Program *program, char *const argv[],
                              const sigset_t *child_mask, Spawned *ret, Error *err);
// Starts the program and waits until exec has succeeded. On false the child has ended.
MUST_CHECK bool spawn_release(Spawned *s, const Program *program, Error *err);
// The same for a child that the caller traces. A pending signal stops such a child before its
// exec; `attend` must continue it and is called again and again until exec is done.
MUST_CHECK bool spawn_release_traced(Spawned *s, const Program *program, void (*attend)(void *ctx),
                                     void *ctx, Error *err);
// Closes the descriptors and, with `kill_child`, ends a child that was not released. May be
// called again, and after the child was waited for.
void spawn_close(Spawned *s, bool kill_child);

// Whether this process may trace its own children by ptrace(2), found by trying.
bool spawn_trace_allowed(void);

typedef struct ChildEnd {
    int status;          // as wait(2) returns it
    struct rusage usage; // of the child and of those of its children that it waited for
    // Its main thread's wait for block I/O; -1 where the kernel does not count that, or when it was
    // traced.
    int64_t disk_wait_ns;
} ChildEnd;

// Waits for a child that has ended, without blocking. False while it still runs.
MUST_CHECK bool spawn_collect(const Spawned *s, ChildEnd *ret);

// The exit status as a shell reports it: 0–255, or 128 + n for signal n.
int exit_status_of(int wait_status);

#endif // OS_SPAWN_H
