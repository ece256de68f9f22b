// SPDX-License-Identifier: Apache-2.0
// One timer for each thread.

#include "agent/threads.h"

#include "agent/own_stack.h"
#include "agent/records.h"
#include "agent/ring.h"
#include "agent/sampler.h"
#include "agent/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

enum {
    SLOTS = 1 << 14,      // threads at once; a power of two
    NAME_EVERY = 16,      // samples: a thread's name is asked again
    MAIN_STACK = 8 << 20, // bytes of the first thread's stack that are known to be there
    PROBES_MAX = 1 << 10, // slots that are looked at for one thread
    SIGNAL_LOWEST = 40,   // below lie the signals of the C libraries and of old real-time programs
    SIGNAL_HIGHEST = 63,  // 64 is popular
    NAME_BYTES = 16,      // of a thread, with its NUL
    LOOK_NS = 100000000,  // how often the threads are counted …
    LOOK_LATE_NS = 1000000000, // … and how often where the number stayed the same
    TID_GONE = 0x7fffffff      // a slot that was used
};

typedef struct Slot {
    _Atomic uint32_t tid;           // 0: never used
    int32_t timer;                  // -1: none
    uint64_t counted_ns;            // processor time that samples stand for, or that came before
    uint64_t stack_low, stack_high; // its stack; 0: not known
    uint32_t name_hash;
    uint32_t samples;      // so far
    _Atomic uint32_t seen; // the number of the last look at all threads that found it
} Slot;

static struct {
    Slot slot[SLOTS];
    _Atomic uint32_t count; // timed now
    _Atomic int signal;
    _Atomic bool timed;
    uint64_t period_ns;
    _Atomic bool looking;
    _Atomic uint64_t looked_ns;
    _Atomic uint64_t look_every_ns;
    uint32_t look;
} threads;

// The kernel's struct sigaction, and its end-of-handler code.
typedef struct KernelAction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
} KernelAction;

enum { FLAG_RESTORER = 0x04000000, MASK_BYTES = 8 };

#if defined(__x86_64__)
void agent_restorer(void); // returns from a signal handler
__asm__(".text\n.hidden agent_restorer\n.type agent_restorer, @function\n"
        "agent_restorer:\n\tmov $15, %eax\n\tsyscall\n");
#define RESTORER      agent_restorer
#define RESTORER_FLAG FLAG_RESTORER
#else
#define RESTORER      NULL
#define RESTORER_FLAG 0
#endif

// ---- Slots ----------------------------------------------------------------------------

static Slot *slot_find(uint32_t tid)
{
    for (uint32_t i = 0; i < PROBES_MAX; i++) {
        Slot *s = &threads.slot[(tid + i) & (SLOTS - 1)];
        uint32_t there = atomic_load(&s->tid);
        if (there == tid)
            return s;
        if (there == 0)
            return NULL;
    }
    return NULL;
}

// A slot for a thread that has none; NULL when all are taken.
static Slot *slot_add(uint32_t tid)
{
    for (uint32_t i = 0; i < PROBES_MAX; i++) {
        Slot *s = &threads.slot[(tid + i) & (SLOTS - 1)];
        uint32_t there = atomic_load(&s->tid);
        if ((there == 0 || there == TID_GONE) &&
            atomic_compare_exchange_strong(&s->tid, &there, tid))
            return s;
    }
    return NULL;
}

// ---- Timers ---------------------------------------------------------------------------

// The clock of another thread of this process (linux/posix-timers.h): the complement of its
// number, and the bits "of a thread" and "scheduled time".
static int clock_of(uint32_t tid)
{
    return (int)(~tid << 3 | 6);
}

// The kernel's struct sigevent.
typedef struct KernelEvent {
    uint64_t value;
    int32_t signal, notify, tid;
    int32_t rest[11];
} KernelEvent;

static bool timer_start(Slot *s, uint32_t tid)
{
    KernelEvent e = {.value = (uint64_t)(uintptr_t)s,
                     .signal = atomic_load(&threads.signal),
                     .notify = SIGEV_THREAD_ID,
                     .tid = (int32_t)tid};
    s->timer = -1;
    int32_t timer = -1;
    if (SYS3(SYS_timer_create, clock_of(tid), &e, &timer) != 0)
        return false;
    struct timespec period = {.tv_sec = (time_t)(threads.period_ns / 1000000000u),
                              .tv_nsec = (long)(threads.period_ns % 1000000000u)};
    struct itimerspec every = {period, period};
    if (SYS4(SYS_timer_settime, timer, 0, &every, NULL) != 0) {
        (void)SYS1(SYS_timer_delete, timer);
        return false;
    }
    s->timer = timer;
    return true;
}

// `since_ns`: processor time up to here belongs to no sample. `stack_bytes`: of the calling thread,
// below its thread pointer; 0: not known.
static bool thread_add_with_stack(uint32_t tid, uint64_t since_ns, uint64_t stack_bytes)
{
    if (slot_find(tid))
        return true;
    Slot *s = slot_add(tid);
    if (!s) {
        atomic_fetch_add(&agent_ring.shared->untimed_threads, 1);
        return false;
    }
    s->counted_ns = since_ns;
    s->name_hash = s->samples = 0;
    s->stack_high = stack_bytes ? own_stack_end() : 0;
    if (!stack_bytes && tid == sys_pid() && main_stack_end()) {
        s->stack_high = main_stack_end();
        stack_bytes = MAIN_STACK;
    }
    s->stack_low = s->stack_high - MIN(stack_bytes, s->stack_high);
    atomic_store(&s->seen, threads.look);
    if (timer_start(s, tid)) {
        atomic_fetch_add(&threads.count, 1);
        return true;
    }
    atomic_store(&s->tid, TID_GONE);
    atomic_fetch_add(&agent_ring.shared->untimed_threads, 1);
    return false;
}

static bool thread_add(uint32_t tid, uint64_t since_ns)
{
    return thread_add_with_stack(tid, since_ns, 0);
}

static void slot_remove(Slot *s)
{
    if (s->timer >= 0) {
        (void)SYS1(SYS_timer_delete, s->timer);
        atomic_fetch_sub(&threads.count, 1);
    }
    s->timer = -1;
    atomic_store(&s->tid, TID_GONE);
}

// ---- Threads that no hook has seen ------------------------------------------------------

// The kernel's struct linux_dirent64.
typedef struct DirectoryEntry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
} DirectoryEntry;

static void take_entry(const char *name, bool from_zero)
{
    uint32_t tid = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        tid = tid * 10 + (uint32_t)(*name - '0');
    if (!tid)
        return;
    Slot *s = slot_find(tid);
    if (s)
        atomic_store(&s->seen, threads.look);
    else
        (void)thread_add(tid, from_zero ? 0 : sys_clock_ns(clock_of(tid)));
}

// Times all threads of the process that have no timer, and forgets those that have ended.
static void look_at_all(bool from_zero)
{
    bool idle = false;
    if (!atomic_compare_exchange_strong(&threads.looking, &idle, true))
        return;
    threads.look++;
    _Alignas(8) char buf[2048] = {0};
    int fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    long n;
    while (fd >= 0 && (n = SYS3(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
        for (long at = 0; at < n;) {
            const DirectoryEntry *e = (const void *)(buf + at);
            take_entry(e->name, from_zero);
            at += e->size;
        }
    sys_close(fd);
    for (uint32_t i = 0; fd >= 0 && i < SLOTS; i++) {
        Slot *s = &threads.slot[i];
        uint32_t tid = atomic_load(&s->tid);
        // The directory may miss a thread that began meanwhile: it is asked for by name.
        if (tid && tid != TID_GONE && atomic_load(&s->seen) != threads.look &&
            SYS3(SYS_tgkill, sys_pid(), tid, 0) != 0)
            slot_remove(s);
    }
    atomic_store(&threads.looking, false);
}

static uint64_t thread_count(void)
{
    struct stat st = {0};
    if (SYS4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) != 0)
        return 0;
    return st.st_nlink - 2; // a folder for each
}

// Programs make threads without pthread_create, too: Go's runtime does.
static void look_now_and_then(uint64_t now_ns)
{
    uint64_t last = atomic_load(&threads.looked_ns);
    uint64_t every = MAX(atomic_load(&threads.look_every_ns), (uint64_t)LOOK_NS);
    if (now_ns - last < every || !atomic_compare_exchange_strong(&threads.looked_ns, &last, now_ns))
        return;
    uint64_t there = thread_count();
    bool is_same = !there || there == atomic_load(&threads.count);
    atomic_store(&threads.look_every_ns,
                 is_same ? MIN(every * 2, (uint64_t)LOOK_LATE_NS) : LOOK_NS);
    if (!is_same)
        look_at_all(true);
}

// ---- The handler ----------------------------------------------------------------------

static void tell_name(Slot *s, uint32_t tid)
{
    char name[NAME_BYTES] = {0};
    uint32_t hash = 2166136261u; // FNV-1a
    if (SYS2(SYS_prctl, PR_GET_NAME, name) != 0)
        return;
    for (unsigned i = 0; i < NAME_BYTES && name[i]; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    if (hash == s->name_hash)
        return;
    s->name_hash = hash;
    record_name(sys_pid(), tid, name, false);
}

// Whether the sample is one of those that a full buffer in private memory still keeps. It stands
// for those left out.
static bool is_kept(uint64_t *weight_ns)
{
    static _Atomic uint32_t number;
    uint32_t thinned = atomic_load(&agent_ring.thinned);
    if (!thinned)
        return true;
    *weight_ns <<= thinned;
    return (atomic_fetch_add(&number, 1) & ((1u << thinned) - 1)) == 0;
}

static void sample(Slot *s, uint32_t tid, const void *context)
{
    uint64_t now = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), weight = now - s->counted_ns;
    WireState state = agent_state();
    if (state == WIRE_OVER) {
        slot_remove(s);
        return;
    }
    if (state == WIRE_WAITING || now < s->counted_ns) {
        s->counted_ns = now;
        return;
    }
    uint64_t before = s->counted_ns;
    s->counted_ns = now;
    if (!is_kept(&weight))
        return;
    if (s->samples++ % NAME_EVERY == 0)
        tell_name(s, tid);
    uint64_t now_ns = sys_clock_ns(CLOCK_MONOTONIC);
    look_now_and_then(now_ns);
    if (sampler_take(&(SampleAsk){.context = context,
                                  .tid = tid,
                                  .time_ns = now_ns,
                                  .weight_ns = weight,
                                  .stack_low = s->stack_low,
                                  .stack_high = s->stack_high}))
        return;
    s->counted_ns = before; // the next sample stands for this one, too
    if (agent_ring.linear)
        ring_thin();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    Slot *s = info->si_ptr;
    if (info->si_code != SI_TIMER || s < threads.slot || s >= threads.slot + SLOTS ||
        !atomic_load(&threads.timed))
        return;
    // The kernel sends the signal of a thread's timer to that thread only.
    uint32_t tid = atomic_load(&s->tid);
    if (tid && tid != TID_GONE)
        sample(s, tid, context);
}

// The highest real-time signal that the program does not use.
static bool take_signal(void)
{
    KernelAction ours = {.handler = on_signal,
                         .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | RESTORER_FLAG,
                         .restorer = RESTORER,
                         .mask = ~(uint64_t)0};
    if (atomic_load(&threads.signal))
        return true;
    for (int i = SIGNAL_HIGHEST; i >= SIGNAL_LOWEST; i--) {
        KernelAction there = {0};
        if (SYS4(SYS_rt_sigaction, i, NULL, &there, MASK_BYTES) != 0 || there.handler)
            continue; // SIG_DFL is NULL
        if (SYS4(SYS_rt_sigaction, i, &ours, NULL, MASK_BYTES) == 0) {
            atomic_store(&threads.signal, i);
            return true;
        }
    }
    return false;
}

// A process inherits its signal mask: the one that started it may have blocked everything.
static void unblock_signal(void)
{
    uint64_t mask = (uint64_t)1 << (atomic_load(&threads.signal) - 1);
    (void)SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, MASK_BYTES);
}

// ---- Start and end --------------------------------------------------------------------

bool threads_start(uint64_t period_ns, bool all)
{
    if (!take_signal())
        return false;
    threads.period_ns = period_ns;
    unblock_signal();
    atomic_store(&threads.timed, true);
    bool ok = thread_add(sys_tid(), sys_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    if (ok && all)
        look_at_all(false);
    atomic_store(&threads.timed, ok);
    return ok;
}

void threads_stop(void)
{
    atomic_store(&threads.timed, false);
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t tid = atomic_load(&threads.slot[i].tid);
        if (tid && tid != TID_GONE)
            slot_remove(&threads.slot[i]);
    }
}

void threads_begin(uint64_t stack_bytes)
{
    if (!atomic_load(&threads.timed))
        return;
    uint32_t tid = sys_tid();
    unblock_signal();
    (void)thread_add_with_stack(tid, sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), stack_bytes);
}

void threads_end(void)
{
    Slot *s = slot_find(sys_tid());
    if (s && atomic_load(&threads.timed))
        slot_remove(s);
}

void threads_restart(void)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        threads.slot[i].timer = -1; // the parent's
        if (atomic_load(&threads.slot[i].tid))
            atomic_store(&threads.slot[i].tid, 0);
    }
    atomic_store(&threads.count, 0);
    atomic_store(&threads.looking, false);
    if (atomic_load(&threads.timed))
        (void)thread_add(sys_tid(), sys_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

bool threads_are_timed(void)
{
    return atomic_load(&threads.timed);
}

int threads_signal(void)
{
    return atomic_load(&threads.signal);
}

uint64_t threads_unblocked(uint64_t mask)
{
    int number = atomic_load(&threads.signal);
    return number ? mask & ~((uint64_t)1 << (number - 1)) : mask;
}
