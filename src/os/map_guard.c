// SPDX-License-Identifier: Apache-2.0
// Guards mapped files that are truncated while they are read.

#include "os/map_guard.h"

#include "base/arena.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

// A guarded mapping; with `end` 0 the entry is free. Entries are never freed, because the handler
// may be reading the list.
typedef struct Guarded {
    struct Guarded *next;
    _Atomic uintptr_t start;
    _Atomic uintptr_t end;
    atomic_bool cut;
} Guarded;

static Guarded *_Atomic list;
static atomic_uint cut_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for functions that add or remove
static uintptr_t page_size;

// Replaces the rest of the mapping by zeros: everything after the fault is gone, too. Uses only
// system calls and atomics, because it may run anywhere.
static bool replace_rest(uintptr_t at)
{
    for (Guarded *g = atomic_load(&list); g; g = g->next) {
        uintptr_t start = atomic_load(&g->start), end = atomic_load(&g->end);
        if (at < start || at >= end)
            continue;
        uintptr_t from = at & ~(page_size - 1);
        if (mmap((void *)from, end - from, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            return false;
        if (!atomic_exchange(&g->cut, true))
            atomic_fetch_add(&cut_count, 1);
        return true;
    }
    return false;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!replace_rest((uintptr_t)info->si_addr))
        signal(number, SIG_DFL); // the fault happens again and then ends the process
}

// Installs the handler at each call, because other code may have replaced it.
static void take_handler(void)
{
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
}

void map_guard_add(Bytes mapped)
{
    if (mapped.len == 0)
        return;
    pthread_mutex_lock(&lock);
    take_handler();
    Guarded *g = atomic_load(&list);
    while (g && atomic_load(&g->end))
        g = g->next;
    bool fresh = !g;
    if (fresh)
        g = heap_alloc(sizeof(*g));
    atomic_store(&g->cut, false);
    atomic_store(&g->start, (uintptr_t)mapped.ptr);
    atomic_store(&g->end, (uintptr_t)mapped.ptr + mapped.len);
    if (fresh) {
        g->next = atomic_load(&list);
        atomic_store(&list, g);
    }
    pthread_mutex_unlock(&lock);
}

void map_guard_remove(Bytes mapped)
{
    pthread_mutex_lock(&lock);
    for (Guarded *g = mapped.len ? atomic_load(&list) : NULL; g; g = g->next)
        if (atomic_load(&g->start) == (uintptr_t)mapped.ptr && atomic_load(&g->end)) {
            atomic_store(&g->end, 0);
            break;
        }
    pthread_mutex_unlock(&lock);
}

uint32_t map_guard_cut_count(void)
{
    return atomic_load(&cut_count);
}
