// SPDX-License-Identifier: Apache-2.0
// An arena: memory that is freed all at once. There is one arena for each profile and one
// scratch arena for each command. Running out of memory ends the process: docs/decisions/0002.

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
    // After its first 64 KiB the arena takes memory in pieces of 2 MiB, in huge pages where the
    // system has them. Set it for tables that are read at random, because a miss of the TLB costs
    // more than a miss of the cache, and where much memory is touched once, because 512 small
    // pages cost five times as much as a huge one. Only blocks of 4 MiB and more can then grow
    // without being copied. It may be set at any time and does not change existing blocks.
    bool huge_pages;
} Arena;

// Frees all memory of the arena. The arena is empty then and may be used again.
void arena_deinit(Arena *a);

// Frees all memory of the arena but its newest chunk, which the next allocations reuse. Cheaper
// than arena_deinit for an arena that is filled and emptied in a loop.
void arena_clear(Arena *a);

// Zeroed memory, never NULL. `align` is a power of two, at most 64.
void *arena_alloc(Arena *a, size_t size, size_t align) __attribute__((malloc, returns_nonnull));

// Resizes a block of this arena (or allocates one: `old` NULL, `old_size` 0) and returns its new
// address; `old` must not be used any more. Bytes after `old_size` are zero.
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size, size_t align);
// The same, but bytes after `old_size` are undefined, so that pages which are never written
// cost nothing.
void *arena_grow_raw(Arena *a, void *old, size_t old_size, size_t new_size, size_t align);

#define arena_new(a, T)      ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), arena_size_of((n), sizeof(T)), _Alignof(T)))

// n * size. An overflow ends the process; a caller checks a size from a file against the size of
// the file first.
size_t arena_size_of(size_t n, size_t size);

Str arena_str(Arena *a, Str s);       // a copy, followed by a NUL that is not counted
char *arena_c_str(Arena *a, Str s);   // a copy as a C string
Bytes arena_bytes(Arena *a, Bytes b); // a copy, 8-aligned
// Formatted text of any length, followed by a NUL that is not counted.
Str arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
// The same with a va_list, which is used up.
Str arena_vprintf(Arena *a, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

// Outside base/ these replace malloc, realloc and free. Where memory runs out they end the
// process, so that no result needs a check.
void *heap_alloc(size_t size) __attribute__((malloc, returns_nonnull)); // zeroed
// Zeroed, too. For large memory that is read at random, as a hash table is: it is touched at
// once and lies in huge pages where the system has them.
void *heap_alloc_dense(size_t size) __attribute__((malloc, returns_nonnull));
// Resizes heap memory (NULL: allocates) and returns its new address; new bytes are undefined.
void *heap_grow(void *old, size_t new_size) __attribute__((returns_nonnull));
// The text, borrowed, that standard error gets when memory runs out, in place of "out of memory";
// NULL: that one again. For a limit of memory that a command has set itself.
void memory_refusal_message(const char *message);

// Frees memory of the three above. Accepts NULL.
void heap_free(void *ptr);

#endif // BASE_ARENA_H
