// SPDX-License-Identifier: Apache-2.0
// Stands before a few functions of libc: threads are timed from their first instruction, and a
// program that blocks all signals does not block the timers'. All are looked up at run time, as
// weak symbols, so that the library needs no libc of a certain kind.

#include "agent/heap.h"
#include "agent/join.h"
#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "agent/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define WEAK __attribute__((weak))

extern void *dlsym(void *restrict handle, const char *restrict name) WEAK;
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
typedef int SetMask(int, const sigset_t *, sigset_t *);
typedef int SetAction(int, const struct sigaction *, struct sigaction *);

static struct {
    CreateThread *create_thread;
    SetMask *thread_mask, *process_mask;
    SetAction *action;
    CloseModule *close_module;
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
