// SPDX-License-Identifier: Apache-2.0
// Reads the heaps of a session.

#include "collect/agents/heaps.h"

#include "os/map_guard.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

void agent_heaps_init(AgentHeaps *h, const AgentSession *session)
{
    struct statfs fs;
    bool is_known = fstatfs(session->folder_fd, &fs) == 0;
    *h = (AgentHeaps){.session = session, .in_memory = is_known && fs.f_type == TMPFS_MAGIC};
}

static Bytes mapping_of(const AgentHeap *h)
{
    return bytes_over((const uint8_t *)h->shared, h->mapped);
}

static void heap_unmap(AgentHeap *h)
{
    if (!h->shared)
        return;
    map_guard_remove(mapping_of(h));
    munmap((void *)(uintptr_t)h->shared, h->mapped);
    h->shared = NULL;
}

static void file_name(const char *ring_name, char *to, size_t size)
{
    snprintf(to, size, WIRE_HEAP_PREFIX "%s", ring_name);
}

static bool is_heap(const WireHeap *h)
{
    return h->magic == WIRE_HEAP_MAGIC && h->version == WIRE_VERSION;
}

// The file grows with the sites. In memory it has the pages that its program has asked for: a size
// alone costs a program nothing, and would cost as much memory here.
static uint32_t room_in(const AgentHeaps *h, const struct stat *st)
{
    enum { BLOCK = 512, RESERVED = 1024 }; // sites that threads may not have written to yet
    uint64_t bytes = MAX((uint64_t)st->st_size, (uint64_t)WIRE_HEAP_HEAD) - WIRE_HEAP_HEAD;
    if (h->in_memory)
        bytes = MIN(bytes, (uint64_t)st->st_blocks * BLOCK + RESERVED * sizeof(WireSite));
    return (uint32_t)MIN(bytes / sizeof(WireSite), (uint64_t)WIRE_SITES_MAX);
}

bool agent_heaps_add(AgentHeaps *h, const char *ring_name)
{
    char name[WIRE_NAME_MAX + sizeof(WIRE_HEAP_PREFIX)];
    struct stat st;
    AgentHeap heap = {.pid = agent_ring_pid(ring_name)};
    if (strlen(ring_name) >= sizeof(heap.name))
        return false;
    memcpy(heap.name, ring_name, strlen(ring_name) + 1);
    file_name(ring_name, name, sizeof(name));
    int fd = openat(h->session->folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    // The file grows; what is mapped behind its end is not read before it is there.
    heap.mapped = WIRE_HEAP_HEAD + (size_t)WIRE_SITES_MAX * sizeof(WireSite);
    void *at = MAP_FAILED;
    WireHeap head;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= WIRE_HEAP_HEAD &&
        pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) && is_heap(&head))
        at = mmap(NULL, heap.mapped, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    heap.shared = at;
    map_guard_add(mapping_of(&heap));
    heap.started_ns = heap.shared->started_ns;
    heap.inode = st.st_ino;
    heap.room = room_in(h, &st);
    vec_push(NULL, &h->at, heap);
    return true;
}

// Copies the counts of the program so far.
static void look(AgentHeap *h)
{
    WireHeap now;
    memcpy(&now, h->shared, sizeof(now));
    if (is_heap(&now))
        h->sums = now;
}

// How many sites there are. The program can state any number: no more are read than fit into the
// file, as far as it is still there.
static uint32_t count_of(const AgentHeaps *all, AgentHeap *h)
{
    char name[WIRE_NAME_MAX + sizeof(WIRE_HEAP_PREFIX)];
    struct stat st;
    file_name(h->name, name, sizeof(name));
    if (fstatat(all->session->folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_ino == h->inode)
        h->room = room_in(all, &st);
    return MIN(atomic_load(&h->sums.site_count), h->room);
}

static void keep_sites(const AgentHeaps *all, AgentHeap *h)
{
    look(h);
    uint32_t count = count_of(all, h);
    heap_free(h->sites);
    h->sites = heap_alloc(MAX(count, 1u) * sizeof(*h->sites));
    h->site_count = count;
    memcpy(h->sites, (const char *)h->shared + WIRE_HEAP_HEAD, count * sizeof(*h->sites));
}

void agent_heaps_end(AgentHeaps *h, const char *ring_name)
{
    char name[WIRE_NAME_MAX + sizeof(WIRE_HEAP_PREFIX)];
    for (size_t i = 0; i < h->at.len; i++) {
        AgentHeap *heap = &h->at.at[i];
        if (!heap->shared || strcmp(heap->name, ring_name) != 0)
            continue;
        keep_sites(h, heap);
        heap_unmap(heap);
        file_name(ring_name, name, sizeof(name));
        (void)unlinkat(h->session->folder_fd, name, 0);
    }
}

AgentHeapLevel agent_heaps_level(AgentHeaps *h)
{
    AgentHeapLevel all = {0};
    for (size_t i = 0; i < h->at.len; i++) {
        AgentHeap *heap = &h->at.at[i];
        if (!heap->shared)
            continue;
        look(heap);
        uint64_t peak = atomic_load(&heap->sums.peak_bytes);
        bool rose = peak > heap->peak_seen;
        heap->peak_seen = MAX(heap->peak_seen, peak);
        all.is_peak |= rose;
        unsigned shift = heap->sums.is_sampled ? WIRE_SAMPLED_SHIFT : 0;
        uint64_t bytes = rose ? peak : atomic_load(&heap->sums.live_bytes);
        uint64_t blocks =
            rose ? atomic_load(&heap->sums.peak_blocks) : wire_heap_live_blocks(&heap->sums);
        all.bytes += bytes >> shift;
        all.blocks += blocks >> shift;
    }
    return all;
}

static void add_top(AgentHeapSums *s, AgentTopSite site)
{
    uint32_t at = s->count;
    while (at > 0 && s->top[at - 1].bytes < site.bytes)
        at--;
    if (at == AGENT_TOP_SITES)
        return;
    s->count += s->count < AGENT_TOP_SITES;
    memmove(&s->top[at + 1], &s->top[at], (s->count - 1 - at) * sizeof(s->top[0]));
    s->top[at] = site;
}

void agent_heaps_sum(AgentHeaps *h, AgentHeapSums *ret)
{
    *ret = (AgentHeapSums){0};
    for (size_t i = 0; i < h->at.len; i++) {
        AgentHeap *heap = &h->at.at[i];
        const WireSite *sites = heap->shared
                                    ? (const void *)((const char *)heap->shared + WIRE_HEAP_HEAD)
                                    : heap->sites;
        uint32_t count = heap->shared ? count_of(h, heap) : heap->site_count;
        unsigned shift = heap->sums.is_sampled ? WIRE_SAMPLED_SHIFT : 0;
        for (uint32_t site = 0; sites && site < count; site++) {
            const WireSite *s = &sites[site];
            if (s->kind != WIRE_SITE_BLOCKS)
                continue;
            ret->blocks += s->blocks >> shift;
            ret->bytes += s->bytes >> shift;
            if (heap->shared && s->live_bytes)
                add_top(ret, (AgentTopSite){(uint32_t)i, site, s->live_bytes >> shift,
                                            s->live_blocks >> shift});
        }
    }
}

void agent_heaps_finish(AgentHeaps *h)
{
    for (size_t i = 0; i < h->at.len; i++)
        if (h->at.at[i].shared)
            keep_sites(h, &h->at.at[i]);
}

void agent_heaps_deinit(AgentHeaps *h)
{
    for (size_t i = 0; i < h->at.len; i++) {
        heap_unmap(&h->at.at[i]);
        heap_free(h->at.at[i].sites);
    }
    vec_free(&h->at);
}
