// SPDX-License-Identifier: Apache-2.0
// The arena: allocates one after the other in growing chunks. Blocks from 32 KB up (from 4 MB where
// the chunks are huge pages) are separate, so that realloc can move a growing column by mremap
// instead of copying it.

#include "base/arena.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    CHUNK_MIN = 16 * 1024,
    CHUNK_MAX = 1024 * 1024,
    LARGE_MIN = 32 * 1024,
    LARGE_HEAD = 64, // keeps the payload 64-aligned relative to malloc's 16
    HUGE_PAGE = 2 << 20,
    // A huge page costs as much as a hundred small ones, so that an arena starts with small ones up
    // to this size.
    HUGE_FROM = 64 * 1024,
    HUGE_MIN = 4 << 20,  // the smallest size that contains a huge page at any address
    WHOLE_MIN = 1 << 20, // the smallest size for which alignment to a huge page is worth it
};

struct ArenaChunk {
    ArenaChunk *older;
    size_t size; // of the payload
    size_t used;
    bool mapped; // by mmap, of whole huge pages
    uint8_t data[];
};

// The list is doubly linked, so that a block can be replaced when it grows. The payload starts
// LARGE_HEAD bytes after the start of the block.
struct ArenaLarge {
    ArenaLarge *next;
    ArenaLarge *prev;
    size_t size;
};

static const char *_Atomic refusal_message;

void memory_refusal_message(const char *message)
{
    atomic_store(&refusal_message, message);
}

static COLD _Noreturn void out_of_memory(size_t size)
{
    const char *message = atomic_load(&refusal_message);
    if (message)
        fprintf(stderr, "assay: %s\n", message);
    else
        fprintf(stderr, "assay: out of memory: %zu bytes more were refused\n", size);
    _exit(1);
}

// Asks for huge pages for a large block. The first touch of a page costs more than its use; with
// huge pages 512 are touched at once.
static void prefer_huge_pages(void *block, size_t size)
{
    if (size < HUGE_PAGE)
        return;
    uintptr_t from = align_up((uintptr_t)block, HUGE_PAGE);
    uintptr_t to = align_down((uintptr_t)block + size, HUGE_PAGE);
    int saved = errno; // when it fails, the memory has small pages
    if (from < to)
        madvise((uint8_t *)block + (from - (uintptr_t)block), to - from, MADV_HUGEPAGE);
    errno = saved;
}

void *heap_alloc(size_t size)
{
    void *ptr = calloc(1, size ? size : 1);
    if (!ptr)
        out_of_memory(size);
    prefer_huge_pages(ptr, size);
    return ptr;
}

// Allocates a block of known size in whole, aligned huge pages.
static void *heap_whole_pages(size_t size)
{
    size_t total = align_up(size, HUGE_PAGE);
    void *ptr = aligned_alloc(HUGE_PAGE, total);
    if (ptr)
        prefer_huge_pages(ptr, total);
    return ptr;
}

void *heap_grow(void *old, size_t new_size)
{
    if (!old && new_size >= WHOLE_MIN && new_size < SIZE_MAX - HUGE_PAGE) {
        old = heap_whole_pages(new_size);
        if (old)
            return old;
    }
    void *ptr = realloc(old, new_size ? new_size : 1);
    if (!ptr)
        out_of_memory(new_size);
    prefer_huge_pages(ptr, new_size);
    return ptr;
}

void *heap_alloc_dense(size_t size)
{
    if (size < WHOLE_MIN)
        return heap_alloc(size);
    return memset(heap_grow(NULL, size), 0, size);
}

void heap_free(void *ptr)
{
    free(ptr);
}

size_t arena_size_of(size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        out_of_memory(SIZE_MAX);
    return total;
}

// The smallest size of a separate block.
static size_t large_min(const Arena *a)
{
    return a->huge_pages ? HUGE_MIN : LARGE_MIN;
}

static void *large_data(ArenaLarge *l)
{
    return (uint8_t *)l + LARGE_HEAD;
}

static void large_link(Arena *a, ArenaLarge *l)
{
    l->prev = NULL;
    l->next = a->large;
    if (a->large)
        a->large->prev = l;
    a->large = l;
}

static void *large_alloc(Arena *a, size_t size)
{
    if (size > SIZE_MAX - LARGE_HEAD)
        out_of_memory(size);
    ArenaLarge *l = heap_alloc(size + LARGE_HEAD);
    l->size = size;
    large_link(a, l);
    a->taken_bytes += size + LARGE_HEAD;
    return large_data(l);
}

// New bytes are not zeroed.
static void *large_grow(Arena *a, void *old, size_t new_size)
{
    ArenaLarge *l = (ArenaLarge *)(void *)((uint8_t *)old - LARGE_HEAD);
    size_t old_size = l->size;
    if (new_size <= old_size)
        return old;
    if (new_size > SIZE_MAX - LARGE_HEAD)
        out_of_memory(new_size);
    l = heap_grow(l, new_size + LARGE_HEAD);
    l->size = new_size;
    if (l->prev)
        l->prev->next = l;
    else
        a->large = l;
    if (l->next)
        l->next->prev = l;
    a->taken_bytes += new_size - old_size;
    return large_data(l);
}

// Maps a chunk of whole, aligned huge pages; the system zeroes them.
static ArenaChunk *chunk_map(size_t at_least)
{
    if (at_least > SIZE_MAX / 2)
        out_of_memory(at_least);
    size_t total = align_up(sizeof(ArenaChunk) + at_least, HUGE_PAGE);
    uint8_t *all =
        mmap(NULL, total + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        out_of_memory(total);
    size_t before = align_up((uintptr_t)all, HUGE_PAGE) - (uintptr_t)all;
    if (before)
        munmap(all, before);
    if (before < HUGE_PAGE)
        munmap(all + before + total, HUGE_PAGE - before);
    madvise(all + before, total, MADV_HUGEPAGE); // when it fails, the memory has small pages
    ArenaChunk *c = (ArenaChunk *)(void *)(all + before);
    c->size = total - sizeof(ArenaChunk);
    c->mapped = true;
    return c;
}

static void chunk_free(ArenaChunk *c)
{
    if (c->mapped)
        munmap(c, c->size + sizeof(ArenaChunk));
    else
        heap_free(c);
}

static ArenaChunk *chunk_add(Arena *a, size_t at_least)
{
    if (a->huge_pages && MAX(a->taken_bytes, at_least) >= HUGE_FROM) {
        ArenaChunk *c = chunk_map(at_least);
        c->older = a->chunk;
        a->chunk = c;
        a->taken_bytes += c->size + sizeof(ArenaChunk);
        return c;
    }
    size_t size = a->chunk ? MIN(a->chunk->size * 2, (size_t)CHUNK_MAX) : (size_t)CHUNK_MIN;
    if (size < at_least)
        size = at_least;
    ArenaChunk *c = heap_alloc(sizeof(ArenaChunk) + size);
    c->size = size;
    c->older = a->chunk;
    a->chunk = c;
    a->taken_bytes += size + sizeof(ArenaChunk);
    return c;
}

static size_t chunk_offset(const ArenaChunk *c, size_t align)
{
    uintptr_t base = (uintptr_t)c->data;
    return (size_t)(align_up(base + c->used, align) - base);
}

void *arena_alloc(Arena *a, size_t size, size_t align)
{
    assert(align && (align & (align - 1)) == 0 && align <= 64);
    a->used_bytes += size;
    if (size >= large_min(a) && align <= 16)
        return large_alloc(a, size);
    ArenaChunk *c = a->chunk;
    size_t at = c ? chunk_offset(c, align) : 0;
    if (!c || at > c->size || size > c->size - at) {
        c = chunk_add(a, size + align);
        at = chunk_offset(c, align);
    }
    c->used = at + size;
    return c->data + at;
}

void *arena_grow_raw(Arena *a, void *old, size_t old_size, size_t new_size, size_t align)
{
    if (!old)
        return arena_alloc(a, new_size, align);
    if (old_size >= large_min(a) && align <= 16) {
        a->used_bytes += new_size > old_size ? new_size - old_size : 0;
        return large_grow(a, old, new_size);
    }
    ArenaChunk *c = a->chunk;
    bool is_last = c && (uint8_t *)old + old_size == c->data + c->used;
    if (is_last && new_size < large_min(a) && new_size - old_size <= c->size - c->used) {
        c->used += new_size - old_size;
        a->used_bytes += new_size - old_size;
        return old;
    }
    void *moved = arena_alloc(a, new_size, align);
    memcpy(moved, old, MIN(old_size, new_size));
    return moved;
}

void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size, size_t align)
{
    void *grown = arena_grow_raw(a, old, old_size, new_size, align);
    if (new_size > old_size)
        memset((uint8_t *)grown + old_size, 0, new_size - old_size);
    return grown;
}

static void free_all(Arena *a)
{
    while (a->chunk) {
        ArenaChunk *older = a->chunk->older;
        chunk_free(a->chunk);
        a->chunk = older;
    }
    while (a->large) {
        ArenaLarge *next = a->large->next;
        heap_free(a->large);
        a->large = next;
    }
}

void arena_deinit(Arena *a)
{
    free_all(a);
    *a = (Arena){.huge_pages = a->huge_pages};
}

void arena_clear(Arena *a)
{
    ArenaChunk *newest = a->chunk;
    if (newest) {
        a->chunk = newest->older;
        memset(newest->data, 0, newest->used);
        newest->older = NULL;
        newest->used = 0;
    }
    free_all(a);
    a->chunk = newest;
    a->used_bytes = 0;
    a->taken_bytes = newest ? newest->size + sizeof(ArenaChunk) : 0;
}

Str arena_str(Arena *a, Str s)
{
    char *copy = arena_alloc(a, s.len + 1, 1);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return (Str){copy, s.len};
}

char *arena_c_str(Arena *a, Str s)
{
    char *copy = arena_alloc(a, s.len + 1, 1);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

Bytes arena_bytes(Arena *a, Bytes b)
{
    uint8_t *copy = arena_alloc(a, b.len, 8);
    bytes_copy(copy, b);
    return (Bytes){copy, b.len};
}

Str arena_vprintf(Arena *a, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    assert(len >= 0);
    char *text = arena_alloc(a, (size_t)len + 1, 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return (Str){text, (size_t)len};
}

Str arena_printf(Arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    Str s = arena_vprintf(a, fmt, args);
    va_end(args);
    return s;
}
