// SPDX-License-Identifier: Apache-2.0
// Memory that is freed all at once. One arena per profile, one scratch per
// command. Running out of memory ends the process: see docs/decisions/0002.

#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

#include <stdarg.h>

typedef struct ArenaChunk ArenaChunk;
typedef struct ArenaLarge ArenaLarge;

// Zero-initialised is a valid empty arena.
typedef struct Arena {
    ArenaChunk *chunk;  // current chunk; older ones are linked behind it
    ArenaLarge *large;  // blocks that can grow in place of being copied
    size_t used_bytes;  // asked for by callers
    size_t taken_bytes; // taken from the system
    // Behind the first 64 KiB memory comes in pieces of 2 MiB, in huge pages where the
    // system has them. May be set later: what is there stays as it is. For tables that are read at
    // random all the time: a miss of the TLB costs more than one of the cache. Also where much
    // memory is touched once: 512 small pages cost five times as much as a huge one. Only blocks
    // from 4 MiB up grow without being copied.
    bool huge_pages;
} Arena;

// Frees everything the arena handed out. The arena is empty and usable again.
void arena_deinit(Arena *a);

// Takes back everything the arena handed out, and keeps its newest chunk: for what
// is made and forgotten many times.
void arena_clear(Arena *a);

// Zeroed memory, never NULL. `align` is a power of two, at most 64.
void *arena_alloc(Arena *a, size_t size, size_t align) __attribute__((malloc, returns_nonnull));

// Gives a block that came from this arena (or NULL with old_size 0) a new size,
// moving it when it must. Bytes past old_size are zero. The old block is lost.
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size, size_t align);
// The same with anything past old_size: pages that are never written cost nothing.
void *arena_grow_raw(Arena *a, void *old, size_t old_size, size_t new_size, size_t align);

#define arena_new(a, T)      ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), arena_size_of((n), sizeof(T)), _Alignof(T)))

// n * size, or the end of the process on overflow: sizes from a file are
// checked against the file before they get here.
size_t arena_size_of(size_t n, size_t size);

Str arena_str(Arena *a, Str s);       // a copy, followed by a NUL that is not counted
char *arena_c_str(Arena *a, Str s);   // a copy as a C string
Bytes arena_bytes(Arena *a, Bytes b); // a copy, 8-aligned
Str arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
Str arena_vprintf(Arena *a, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

// The only doors to malloc outside this folder's own files. They end the
// process when memory is out. heap_free accepts NULL.
void *heap_alloc(size_t size) __attribute__((malloc, returns_nonnull)); // zeroed
// Zeroed too, for what is used all over and at random, as hash tables are.
void *heap_alloc_dense(size_t size) __attribute__((malloc, returns_nonnull));
void *heap_grow(void *old, size_t new_size) __attribute__((returns_nonnull));
void heap_free(void *ptr);

#endif // BASE_ARENA_H
