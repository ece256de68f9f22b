// SPDX-License-Identifier: Apache-2.0
// Starting the observed program in two steps: the child exists and waits, the
// caller sets its events up, then the child is released and becomes the program.

#ifndef OS_SPAWN_H
#define OS_SPAWN_H

#include "base/arena.h"
#include "base/error.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

// What a command name leads to.
typedef struct Program {
    Str path;          // found in PATH, or as given when it has a slash
    bool is_script;    // starts with "#!"
    Str interpreter;   // of a script: "/usr/bin/python3"
    bool changes_user; // set-uid, set-gid or file capabilities that we do not have:
                       // the kernel ends profiling when it starts
    bool unreadable;   // we may run it but not read it; the kernel ends profiling too
} Program;

// Looks a command up as execvp would; `search_path` is $PATH. Errors say "not found", "permission
// denied", "is a directory" or "exec format error".
MUST_CHECK bool program_find(Arena *arena, Str name, Str search_path, Program *ret, Error *err);

typedef struct Spawned {
    pid_t pid;
    int release_fd; // a byte here starts the program
    int result_fd;  // end of file when it started, an errno when it did not
    int pid_fd;     // readable when the child has ended; -1 on kernels before 5.3
} Spawned;

// Forks a child that waits. `argv` ends in NULL. `child_mask` is the signal mask
// the program gets; signals that the caller set to be ignored stay so, handlers
// do not survive exec.
MUST_CHECK bool spawn_prepare(const Program *program, char *const argv[],
                              const sigset_t *child_mask, Spawned *ret, Error *err);
// Lets it go and waits until exec succeeded. On false the child is gone.
MUST_CHECK bool spawn_release(Spawned *s, const Program *program, Error *err);
// The same for a child that the caller traces: a signal that waited for it stops it
// before its exec. `attend` has to let it go on; it is called until exec is done.
MUST_CHECK bool spawn_release_traced(Spawned *s, const Program *program, void (*attend)(void *ctx),
                                     void *ctx, Error *err);
// Ends a child that was not released, and closes what is open. Safe to call
// again and after the child was waited for.
void spawn_close(Spawned *s, bool kill_child);

// Whether this process may trace its own children by ptrace(2), found by trying.
bool spawn_trace_allowed(void);

typedef struct ChildEnd {
    int status;          // as of wait(2)
    struct rusage usage; // of the child and of what it waited for
} ChildEnd;

// Collects a child that has ended. False when it still runs.
MUST_CHECK bool spawn_collect(const Spawned *s, ChildEnd *ret);

// 0–255, or 128 + n for signal n: what a shell would report.
int exit_status_of(int wait_status);

#endif // OS_SPAWN_H
