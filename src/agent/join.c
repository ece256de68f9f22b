// SPDX-License-Identifier: Apache-2.0
// The session that this process belongs to.

#include "agent/join.h"

#include "agent/attached_threads.h"
#include "agent/environment.h"
#include "agent/heap.h"
#include "agent/heap_entries.h"
#include "agent/heap_sites.h"
#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/ring.h"
#include "agent/sampler.h"
#include "agent/sys.h"
#include "agent/threads.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>

static char folder[AGENT_PATH_MAX];
static _Atomic bool was_tried;

// ---- Finding it -----------------------------------------------------------------------

// The folder of an entry of LD_PRELOAD that ends in "/libassay.so"; ld.so(8) separates entries by
// colons and spaces. Between the folder and the name stands ld.so's $LIB.
static bool take_folder(const char *from, size_t size)
{
    static const char file[] = "/" WIRE_LIBRARY_FILE, lib[] = "/$LIB";
    size_t end = sizeof(file) - 1;
    if (size <= end || size >= sizeof(folder) ||
        __builtin_memcmp(from + size - end, file, end) != 0)
        return false;
    size -= end;
    end = sizeof(lib) - 1;
    if (size > end && __builtin_memcmp(from + size - end, lib, end) == 0)
        size -= end;
    __builtin_memcpy(folder, from, size);
    folder[size] = 0;
    return true;
}

static bool find_folder(void)
{
    const char *at = environment_get("LD_PRELOAD");
    while (at && *at) {
        size_t size = 0;
        while (at[size] && at[size] != ':' && at[size] != ' ')
            size++;
        if (take_folder(at, size))
            return true;
        at += size + (at[size] != 0);
    }
    return false;
}

static bool map_session(void)
{
    char path[AGENT_PATH_MAX];
    SysText t = sys_text(path, sizeof(path));
    sys_text_add(&t, folder);
    sys_text_add(&t, "/" WIRE_SESSION_FILE);
    int fd = sys_open(path, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return false;
    const WireSession *s = sys_map(NULL, WIRE_PAGE, PROT_READ, MAP_SHARED, fd, 0);
    sys_close(fd);
    if (!s || s->magic != WIRE_SESSION_MAGIC || s->version != WIRE_VERSION)
        return false;
    agent_ring.session = s;
    return true;
}

// ---- Joining it -----------------------------------------------------------------------

void tell_process(bool exec)
{
    char name[32] = {0};
    (void)SYS2(SYS_prctl, PR_GET_NAME, name);
    record_name(sys_pid(), sys_tid(), name, exec);
    (void)mappings_refresh(record_mapping);
}

bool join_is_pending(void)
{
    return !atomic_load_explicit(&was_tried, memory_order_relaxed) && environment() != NULL;
}

static void start_heap(void)
{
    const WireSession *s = agent_ring.session;
    if (s->notes_heap)
        heap_start(folder, agent_ring.number, s);
    if (heap_is_on())
        heap_entries_hook(folder);
}

void join_session(void)
{
    if (atomic_exchange(&was_tried, true) || !find_folder() || !map_session() ||
        agent_state() == WIRE_OVER)
        return;
    if (!ring_open_shared(folder, agent_ring.session->ring_bytes)) {
        agent_ring.session = NULL;
        return;
    }
    tell_process(true);
    start_heap();
    if (agent_ring.session->period_ns)
        (void)threads_start(agent_ring.session->period_ns, false);
}

#ifdef AGENT_ATTACHED
static bool join_folder(const char *path)
{
    SysText t = sys_text(folder, sizeof(folder));
    sys_text_add(&t, path);
    atomic_store(&was_tried, true);
    if (!map_session() || !ring_open_shared(folder, agent_ring.session->ring_bytes))
        return false;
    tell_process(true);
    heap_start(folder, agent_ring.number, agent_ring.session);
    heap_before_threads();
    if (heap_is_on())
        attach_count_children(&agent_heap->calls_of_children);
    return true;
}

static WireAttachStatus begin_attached(WireAttach *a)
{
    if (!attach_begin(a))
        return WIRE_ATTACH_NO_MEMORY;
    heap_blocks_set_granule(a->granule_bits);
    if (!join_folder(a->folder))
        return WIRE_ATTACH_NO_SESSION;
    if (!heap_is_on())
        return WIRE_ATTACH_NO_HEAP;
    return heap_entries_place(a->folder, a) ? WIRE_ATTACH_DONE : WIRE_ATTACH_NO_ENTRIES;
}

__attribute__((used, noinline)) static void attach_main(WireAttach *a)
{
    a->status = (uint32_t)begin_attached(a);
}

// The ELF entry of the image. The collector waits for the breakpoint.
#if defined(__x86_64__)
__attribute__((naked, used, visibility("default"))) void assay_attach_entry(void);
__attribute__((naked, used, visibility("default"))) void assay_attach_entry(void)
{
    __asm__("call attach_main\n\tint3");
}
#else
// The collector attaches on x86-64 alone. gcc has no naked functions for aarch64.
__attribute__((used, visibility("default"))) void assay_attach_entry(void);
__attribute__((used, visibility("default"))) void assay_attach_entry(void)
{
    __builtin_trap();
}
#endif
#endif

bool session_is_joined(void)
{
    return agent_ring.session != NULL;
}

void join_after_fork(uint32_t parent_pid, uint32_t parent_tid)
{
    if (!agent_ring.shared)
        return;
    sampler_reset();
    if (agent_ring.linear) {
        // Samples of the parent are the parent's.
        ring_reset();
        mappings_forget();
        tell_process(true);
        threads_restart();
        return;
    }
    heap_after_fork();
    ring_close();
    if (agent_state() == WIRE_OVER || !ring_open_shared(folder, agent_ring.session->ring_bytes)) {
        agent_ring.session = NULL;
        return;
    }
    record_task(PERF_RECORD_FORK, sys_pid(), parent_pid, sys_tid(), parent_tid);
    start_heap();
    threads_restart();
}
