// SPDX-License-Identifier: Apache-2.0
// The thread-local data of an agent that is put into a running process: a table by the thread
// pointer, because no dynamic linker knows of the image.

#include "agent/attached_threads.h"

#ifdef AGENT_ATTACHED

#include "agent/own_stack.h"
#include "agent/sys.h"
#include "wire/attach.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { PAGE = 4096, MADV_WIPE_ON_FORK = 18 };

static WireThread threads[WIRE_THREADS_MAX];
static _Atomic uint32_t others;
static uint32_t tid_offset;
// 1 in the process that was attached to, 0 in its children: the kernel clears the page there.
static uint8_t *is_here;
static _Atomic uint64_t *calls_of_children;

// ---- Threads ----------------------------------------------------------------------------

// The row of the calling thread, which is made when it is new; NULL: there is no room.
static WireThread *find_thread(void)
{
    uint64_t pointer = own_stack_end();
    uint32_t at = wire_thread_row(pointer);
    for (unsigned i = 0; i < WIRE_THREAD_PROBES; i++, at++) {
        WireThread *t = &threads[at & (WIRE_THREADS_MAX - 1)];
        uint64_t there = atomic_load_explicit(&t->pointer, memory_order_relaxed);
        if (LIKELY(there == pointer) ||
            (there == 0 && atomic_compare_exchange_strong(&t->pointer, &there, pointer)))
            return t;
    }
    return NULL;
}

// What the compiler calls to find a thread-local variable (Drepper, "ELF Handling For Thread-Local
// Storage", 3.4.2). No thread without a row comes here.
typedef struct TlsIndex {
    unsigned long module, offset;
} TlsIndex;

void *__tls_get_addr(const TlsIndex *index);

__attribute__((used)) void *__tls_get_addr(const TlsIndex *index)
{
    WireThread *t = find_thread();
    return t ? t->tls + index->offset : NULL;
}

static uint64_t hex(const char **at)
{
    uint64_t value = 0;
    for (;; (*at)++) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

// Finds the mapping that holds the address. False: it cannot be found.
static bool find_mapping(uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    enum { LINE = 40 }; // of each line so much is kept
    char buf[512] = {0}, line[LINE + 1];
    long n;
    size_t len = 0;
    bool found = false;
    int fd = sys_open("/proc/self/maps", O_RDONLY, 0);
    while (fd >= 0 && !found && (n = SYS3(SYS_read, fd, buf, sizeof(buf))) > 0)
        for (long i = 0; i < n && !found; i++) {
            if (buf[i] != '\n') {
                if (len < LINE)
                    line[len++] = buf[i];
                continue;
            }
            line[len] = 0;
            const char *at = line;
            *ret_low = hex(&at);
            at += *at == '-';
            *ret_high = hex(&at);
            found = address >= *ret_low && address < *ret_high;
            len = 0;
        }
    sys_close(fd);
    return found;
}

__attribute__((noinline)) static void begin_thread(WireThread *t, uint32_t tid, uint64_t sp,
                                                   AttachedCall *ret)
{
    enum { MAIN_STACK = 8 << 20 };
    ret->is_first = true;
    ret->had_other = t->tid != 0;
    t->tid = tid;
    // The stack of the main thread grows.
    if (find_mapping(sp, &ret->stack_low, &ret->stack_high) && tid == sys_pid())
        ret->stack_low = ret->stack_high - MAIN_STACK;
}

bool attach_enter(uint64_t sp, AttachedCall *ret)
{
    WireThread *t = find_thread();
    *ret = (AttachedCall){0};
    if (!t || !*is_here) {
        (void)atomic_fetch_add(&others, 1);
        if (!*is_here && calls_of_children)
            (void)atomic_fetch_add(calls_of_children, 1);
        return false;
    }
    // No other thread changes it.
    uint32_t inside = atomic_load_explicit(&t->inside, memory_order_relaxed);
    atomic_store_explicit(&t->inside, inside + 1, memory_order_relaxed);
    ret->inside = &t->inside;
    uint32_t tid = tid_offset ? *(const uint32_t *)(uintptr_t)(own_stack_end() + tid_offset) : 1;
    if (UNLIKELY(tid != t->tid))
        begin_thread(t, tid, sp, ret);
    return true;
}

void attach_leave(const AttachedCall *call)
{
    if (!call->inside) {
        (void)atomic_fetch_sub(&others, 1);
        return;
    }
    uint32_t now = atomic_load_explicit(call->inside, memory_order_relaxed);
    atomic_store_explicit(call->inside, now - 1, memory_order_relaxed);
}

void attach_count_children(_Atomic uint64_t *to)
{
    calls_of_children = to;
}

bool attach_begin(WireAttach *a)
{
    tid_offset = a->tid_offset;
    a->threads = (uint64_t)(uintptr_t)threads;
    a->others = (uint64_t)(uintptr_t)&others;
    sys_kept(&a->maps, &a->files);
    is_here = sys_map(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!is_here || SYS3(SYS_madvise, is_here, PAGE, MADV_WIPE_ON_FORK) != 0)
        return false;
    *is_here = 1;
    return true;
}

#else

// The other builds have nothing here.
typedef int AttachNothing;

#endif
