// SPDX-License-Identifier: Apache-2.0
// Stands before a few functions of libc: threads are timed from their first instruction, and a
// program that blocks all signals does not block the timers'. All are looked up at run time, as
// weak symbols, so that the library needs no libc of a certain kind.

#include "agent/environment.h"
#include "agent/heap.h"
#include "agent/join.h"
#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "agent/threads.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>

#define WEAK __attribute__((weak))

extern void *dlsym(void *restrict handle, const char *restrict name) WEAK;
extern int *__errno_location(void) WEAK;
extern int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) WEAK;
extern int pthread_getattr_default_np(pthread_attr_t *ret) WEAK;
extern int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *ret) WEAK;
extern int pthread_attr_destroy(pthread_attr_t *attributes) WEAK;
extern int pthread_setspecific(pthread_key_t key, const void *value) WEAK;
// glibc's, behind pthread_atfork; musl has that function itself.
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                      void *dso) WEAK;
extern int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) WEAK;

typedef int CreateThread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int CloseModule(void *);
typedef int Execute(const char *, char *const[]);
typedef int ExecuteWith(const char *, char *const[], char *const[]);
typedef int Spawn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                  const posix_spawnattr_t *, char *const[], char *const[]);
typedef int SetMask(int, const sigset_t *, sigset_t *);
typedef int SetAction(int, const struct sigaction *, struct sigaction *);

static struct {
    CreateThread *create_thread;
    SetMask *thread_mask, *process_mask;
    SetAction *action;
    CloseModule *close_module;
    Execute *execv, *execvp;
    ExecuteWith *execve, *execvpe;
    Spawn *spawn, *spawnp;
    pthread_key_t end_key;
    bool has_end_key;
    uint32_t forking_pid, forking_tid;
    struct sigaction pretended; // what the program has set for the timers' signal
    _Atomic uint64_t deferring; // bit n - 1: during the handler of signal n ours waits
} hooks;

static void *next(const char *name)
{
    return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

// ---- Threads --------------------------------------------------------------------------

enum { STARTS = 1024 };

// A thread on its way from pthread_create to its first function.
typedef struct Start {
    _Atomic bool taken;
    uint32_t parent_tid;
    void *(*function)(void *);
    void *argument;
    uint64_t stack_bytes;
} Start;

static Start starts[STARTS];

static Start *take_start(void)
{
    for (unsigned i = 0; i < STARTS; i++) {
        bool taken = false;
        if (atomic_compare_exchange_strong(&starts[i].taken, &taken, true))
            return &starts[i];
    }
    return NULL;
}

// The program's own destructors of thread data may allocate. libc calls destructors in at least so
// many rounds while there is data: ours waits for the last one.
enum { END_ROUNDS = 4 };
static uint8_t end_rounds[END_ROUNDS];

static void at_thread_end(void *value)
{
    uint8_t *round = value;
    if (round < end_rounds + END_ROUNDS - 1 && pthread_setspecific(hooks.end_key, round + 1) == 0)
        return;
    bool was_told = threads_are_timed() || heap_is_on();
    if (heap_is_on())
        heap_thread_end();
    threads_end();
    if (was_told && agent_ring.shared)
        record_task(PERF_RECORD_EXIT, sys_pid(), sys_pid(), sys_tid(), sys_tid());
}

static void *thread_main(void *argument)
{
    Start *s = argument;
    void *(*function)(void *) = s->function;
    void *its_argument = s->argument;
    uint32_t pid = sys_pid(), parent_tid = s->parent_tid;
    uint64_t stack_bytes = s->stack_bytes;
    atomic_store(&s->taken, false);
    bool timed = threads_are_timed(), notes = heap_is_on();
    if (notes)
        heap_thread_begin(stack_bytes);
    if (timed || notes) {
        record_task(PERF_RECORD_FORK, pid, pid, sys_tid(), parent_tid);
        if (timed)
            threads_begin(stack_bytes);
        if (hooks.has_end_key)
            (void)pthread_setspecific(hooks.end_key, end_rounds);
    }
    return function(its_argument);
}

// The least that the stack of a thread with these attributes has; NULL: the usual ones.
static uint64_t stack_bytes_of(const pthread_attr_t *attributes)
{
    enum { LEAST = 64 << 10 }; // musl's usual stack has 128 KiB, with what lies on top
    size_t bytes = 0;
    pthread_attr_t usual;
    if (!attributes && pthread_getattr_default_np && pthread_getattr_default_np(&usual) == 0) {
        (void)pthread_attr_getstacksize(&usual, &bytes);
        (void)pthread_attr_destroy(&usual);
    } else if (attributes && pthread_attr_getstacksize) {
        (void)pthread_attr_getstacksize(attributes, &bytes);
    }
    return MAX(bytes, (size_t)LEAST);
}

AGENT_EXPORT int pthread_create(pthread_t *ret, const pthread_attr_t *attributes,
                                void *(*function)(void *), void *argument)
{
    if (!hooks.create_thread)
        hooks.create_thread = (CreateThread *)next("pthread_create");
    if (!hooks.create_thread)
        return ENOSYS;
    heap_before_threads();
    Start *s = threads_are_timed() || heap_is_on() ? take_start() : NULL;
    if (!s) // later looks at the threads find it
        return hooks.create_thread(ret, attributes, function, argument);
    s->parent_tid = sys_tid();
    s->function = function;
    s->argument = argument;
    s->stack_bytes = stack_bytes_of(attributes);
    int rc = hooks.create_thread(ret, attributes, thread_main, s);
    if (rc != 0)
        atomic_store(&s->taken, false);
    return rc;
}

// ---- Modules ----------------------------------------------------------------------------

AGENT_EXPORT int dlclose(void *handle)
{
    if (!hooks.close_module)
        hooks.close_module = (CloseModule *)next("dlclose");
    int rc = hooks.close_module ? hooks.close_module(handle) : -1;
    mappings_set_stale();
    return rc;
}

// ---- Fork -----------------------------------------------------------------------------

static void before_fork(void)
{
    hooks.forking_pid = sys_pid();
    hooks.forking_tid = sys_tid();
}

static void in_child(void)
{
    for (unsigned i = 0; i < STARTS; i++)
        atomic_store(&starts[i].taken, false);
    join_after_fork(hooks.forking_pid, hooks.forking_tid);
}

// ---- Programs that load no library -----------------------------------------------------
// They are named, because the account lacks them. All of this may run in a child of vfork, or in a
// signal handler.

// Whether the file is a program of 64 bits without an interpreter, or one of 32 bits.
static bool loads_nothing(const char *path)
{
    union {
        Elf64_Ehdr e;
        uint8_t bytes[1024];
    } head = {.e = {.e_ident = {0}}};
    int fd = sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    long n = fd >= 0 ? SYS4(SYS_pread64, fd, &head, sizeof(head), 0) : -1;
    sys_close(fd);
    if (n < (long)sizeof(head.e) || __builtin_memcmp(head.bytes, ELFMAG, SELFMAG) != 0)
        return false;
    if (head.e.e_ident[EI_CLASS] != ELFCLASS64)
        return true;
    uint64_t size = (uint64_t)head.e.e_phnum * sizeof(Elf64_Phdr), start = head.e.e_phoff;
    if (head.e.e_phentsize != sizeof(Elf64_Phdr) || start > (uint64_t)n ||
        size > (uint64_t)n - start)
        return false;
    for (unsigned i = 0; i < head.e.e_phnum; i++) {
        Elf64_Phdr p;
        __builtin_memcpy(&p, head.bytes + start + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_INTERP)
            return false;
    }
    return true;
}

static bool can_execute(const char *path)
{
    enum { EXECUTE = 1 };
    return SYS4(SYS_faccessat, AT_FDCWD, path, EXECUTE, 0) == 0;
}

static void look_at_program(const char *path)
{
    if (heap_is_on() && path && can_execute(path) && loads_nothing(path))
        heap_executes_static(path);
}

static bool has_slash(const char *text)
{
    while (*text && *text != '/')
        text++;
    return *text != 0;
}

// The same for a name that is looked for in the folders of PATH.
static void look_for_program(const char *name)
{
    const char *at = environment_get("PATH");
    if (!heap_is_on() || !name || !*name)
        return;
    if (has_slash(name)) {
        look_at_program(name);
        return;
    }
    while (at && *at) {
        char path[AGENT_PATH_MAX];
        size_t size = 0;
        while (at[size] && at[size] != ':')
            size++;
        if (size && size < sizeof(path)) {
            __builtin_memcpy(path, at, size);
            path[size] = 0;
            SysText t = sys_text(path + size, sizeof(path) - size);
            sys_text_add(&t, "/");
            sys_text_add(&t, name);
            if (can_execute(path)) {
                look_at_program(path);
                return;
            }
        }
        at += size + (at[size] != 0);
    }
}

// Finds the functions behind the next ones. Constructors of the program's libraries call these
// before ours has run.
static void find_executors(void)
{
    if (hooks.spawnp)
        return;
    hooks.execv = (Execute *)next("execv");
    hooks.execvp = (Execute *)next("execvp");
    hooks.execve = (ExecuteWith *)next("execve");
    hooks.execvpe = (ExecuteWith *)next("execvpe");
    hooks.spawn = (Spawn *)next("posix_spawn");
    hooks.spawnp = (Spawn *)next("posix_spawnp");
}

static int no_function(void)
{
    if (__errno_location)
        *__errno_location() = ENOSYS;
    return -1;
}

AGENT_EXPORT int execv(const char *path, char *const arguments[])
{
    find_executors();
    look_at_program(path);
    return hooks.execv ? hooks.execv(path, arguments) : no_function();
}

AGENT_EXPORT int execve(const char *path, char *const arguments[], char *const variables[])
{
    find_executors();
    look_at_program(path);
    return hooks.execve ? hooks.execve(path, arguments, variables) : no_function();
}

AGENT_EXPORT int execvp(const char *name, char *const arguments[])
{
    find_executors();
    look_for_program(name);
    return hooks.execvp ? hooks.execvp(name, arguments) : no_function();
}

AGENT_EXPORT int execvpe(const char *name, char *const arguments[], char *const variables[])
{
    find_executors();
    look_for_program(name);
    return hooks.execvpe ? hooks.execvpe(name, arguments, variables) : no_function();
}

AGENT_EXPORT int posix_spawn(pid_t *ret, const char *path,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const arguments[],
                             char *const variables[])
{
    find_executors();
    look_at_program(path);
    return hooks.spawn ? hooks.spawn(ret, path, actions, attributes, arguments, variables) : ENOSYS;
}

AGENT_EXPORT int posix_spawnp(pid_t *ret, const char *name,
                              const posix_spawn_file_actions_t *actions,
                              const posix_spawnattr_t *attributes, char *const arguments[],
                              char *const variables[])
{
    find_executors();
    look_for_program(name);
    return hooks.spawnp ? hooks.spawnp(ret, name, actions, attributes, arguments, variables)
                        : ENOSYS;
}

// ---- Signals --------------------------------------------------------------------------

// The first word of a sigset_t is the kernel's mask, in glibc and in musl.
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
    uint64_t mask;
    if (!set || how == SIG_UNBLOCK || !threads_signal())
        return set;
    *copy = *set;
    __builtin_memcpy(&mask, copy, sizeof(mask));
    mask = threads_unblocked(mask);
    __builtin_memcpy(copy, &mask, sizeof(mask));
    return copy;
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    if (!hooks.thread_mask)
        hooks.thread_mask = (SetMask *)next("pthread_sigmask");
    return hooks.thread_mask ? hooks.thread_mask(how, without_ours(how, set, &copy), old) : ENOSYS;
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    if (!hooks.process_mask)
        hooks.process_mask = (SetMask *)next("sigprocmask");
    return hooks.process_mask ? hooks.process_mask(how, without_ours(how, set, &copy), old) : -1;
}

static void change_mask(struct sigaction *a, int signal, bool add)
{
    uint64_t mask, bit = (uint64_t)1 << (signal - 1);
    __builtin_memcpy(&mask, &a->sa_mask, sizeof(mask));
    mask = add ? mask | bit : mask & ~bit;
    __builtin_memcpy(&a->sa_mask, &mask, sizeof(mask));
}

static bool has_in_mask(const struct sigaction *a, int signal)
{
    uint64_t mask;
    __builtin_memcpy(&mask, &a->sa_mask, sizeof(mask));
    return mask >> (signal - 1) & 1;
}

// An alternate stack may have room for the frame of one signal only: ours waits until the program's
// handler there has returned.
static int set_action(int number, const struct sigaction *new, struct sigaction *old)
{
    int ours = threads_signal();
    if (ours == 0 || number < 1 || number > 64)
        return hooks.action(number, new, old);
    uint64_t bit = (uint64_t)1 << (number - 1);
    struct sigaction copy;
    bool defers = new != NULL && (new->sa_flags &SA_ONSTACK) && !has_in_mask(new, ours);
    bool deferred = atomic_load(&hooks.deferring) & bit;
    if (defers) {
        copy = *new;
        change_mask(&copy, ours, true);
    }
    int rc = hooks.action(number, defers ? &copy : new, old);
    if (rc == 0 && old && deferred)
        change_mask(old, ours, false);
    if (rc == 0 && defers)
        atomic_fetch_or(&hooks.deferring, bit);
    else if (rc == 0 && new != NULL)
        atomic_fetch_and(&hooks.deferring, ~bit);
    return rc;
}

// A program that sets a handler for every signal believes that it has set ours, too.
AGENT_EXPORT int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    if (!hooks.action)
        hooks.action = (SetAction *)next("sigaction");
    if (number == 0 || number != threads_signal())
        return hooks.action ? set_action(number, new, old) : -1;
    struct sigaction before = hooks.pretended;
    if (new)
        hooks.pretended = *new;
    if (old)
        *old = before;
    return 0;
}

// ---- Start ----------------------------------------------------------------------------

// Finds the functions behind ours, before any other thread can run.
static void hooks_init(void)
{
    hooks.create_thread = (CreateThread *)next("pthread_create");
    hooks.thread_mask = (SetMask *)next("pthread_sigmask");
    hooks.process_mask = (SetMask *)next("sigprocmask");
    hooks.action = (SetAction *)next("sigaction");
    hooks.close_module = (CloseModule *)next("dlclose");
    find_executors();
    hooks.has_end_key = pthread_key_create && pthread_setspecific &&
                        pthread_key_create(&hooks.end_key, at_thread_end) == 0;
    if (__register_atfork)
        (void)__register_atfork(before_fork, NULL, in_child, NULL);
    else if (pthread_atfork)
        (void)pthread_atfork(before_fork, NULL, in_child);
}

__attribute__((constructor)) static void agent_init(void)
{
    hooks_init();
    if (join_is_pending())
        join_session();
}
