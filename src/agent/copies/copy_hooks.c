// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of libc that copy memory and strings: each call counts as a copy of
// its stack, with its bytes. Copies that the compiler writes out as instructions,
// and those of libc itself, do not pass here.

#include "agent/heap.h"
#include "agent/join.h"
#include "agent/mappings.h"
#include "agent/sys.h"

#include <dlfcn.h>
#include <stdatomic.h>

#define WEAK __attribute__((weak))

// The agent's own code calls memcpy and memmove, too. Its calls are recognised by their address,
// for which they must stay calls.
#if defined(__has_attribute) && __has_attribute(noipa)
#define HOOK __attribute__((visibility("default"), used, noinline, noipa))
#else
#define HOOK __attribute__((visibility("default"), used, noinline))
#endif

typedef __WCHAR_TYPE__ Wide;

extern void *dlsym(void *restrict handle, const char *restrict name) WEAK;
extern size_t strlen(const char *s) WEAK;
extern void *memchr(const void *s, int byte, size_t size) WEAK;
extern void hook_chk_fail(void) __asm__("__chk_fail") WEAK;

static struct {
    void *(*move)(void *, const void *, size_t); // memmove does what memcpy does
    void *(*set)(void *, int, size_t);
} behind;
static _Atomic uint32_t state; // 0: not asked yet; 1: being found; 2: found

// ---- Without libc -----------------------------------------------------------------------

static void *own_move(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;
    if (t > f && t < f + size) {
        while (size-- > 0)
            t[size] = f[size];
        return to;
    }
    for (; size >= 8; size -= 8, t += 8, f += 8) {
        uint64_t word;
        __builtin_memcpy(&word, f, 8);
        __builtin_memcpy(t, &word, 8);
    }
    while (size-- > 0)
        *t++ = *f++;
    return to;
}

static size_t length(const char *s)
{
    size_t n = 0;
    if (strlen)
        return strlen(s);
    while (s[n])
        n++;
    return n;
}

// The place of a byte, counted from 1; 0: it is not among the first `size`.
static size_t place_of(const char *s, char byte, size_t size)
{
    if (memchr) {
        const char *at = memchr(s, byte, size);
        return at ? (size_t)(at - s) + 1 : 0;
    }
    for (size_t i = 0; i < size; i++)
        if (s[i] == byte)
            return i + 1;
    return 0;
}

static size_t length_up_to(const char *s, size_t most)
{
    size_t end = place_of(s, 0, most);
    return end ? end - 1 : most;
}

static size_t wide_length(const Wide *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

// ---- Counting ---------------------------------------------------------------------------

static bool find_behind(void)
{
    uint32_t nobody = 0;
    if (!dlsym || !atomic_compare_exchange_strong(&state, &nobody, 1))
        return atomic_load(&state) == 2;
    behind.move = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memmove");
    behind.set = (void *(*)(void *, int, size_t))dlsym(RTLD_NEXT, "memset");
    if (behind.move && behind.set)
        atomic_store(&state, 2);
    return behind.move && behind.set;
}

static inline bool is_ready(void)
{
    return LIKELY(atomic_load_explicit(&state, memory_order_acquire) == 2) || find_behind();
}

static inline bool is_on(void)
{
    return heap_is_on() || (join_is_pending() && (join_session(), heap_is_on()));
}

static void *move(void *to, const void *from, size_t size)
{
    return is_ready() ? behind.move(to, from, size) : own_move(to, from, size);
}

// Copies `size` bytes, where the call counts as a copy of `counted`.
static inline void *copy_counted(void *to, const void *from, size_t size, size_t counted,
                                 const HeapCaller *caller)
{
    if (UNLIKELY(mappings_is_own_code(caller->pc)))
        return own_move(to, from, size);
    if (is_on())
        heap_copied(counted, caller);
    return move(to, from, size);
}

static void *copy(void *to, const void *from, size_t size, const HeapCaller *caller)
{
    return copy_counted(to, from, size, size, caller);
}

// Of the forms that a compiler calls for -D_FORTIFY_SOURCE: ends the program as libc does.
static void check_room(size_t size, size_t room)
{
    if (UNLIKELY(size > room)) {
        if (hook_chk_fail)
            hook_chk_fail();
        __builtin_trap();
    }
}

// ---- Memory -----------------------------------------------------------------------------

// The names of the hooks, which are libc's.
#define NAMED(name) __asm__(name)

HOOK void *copy_memcpy(void *to, const void *from, size_t size) NAMED("memcpy");
HOOK void *copy_memmove(void *to, const void *from, size_t size) NAMED("memmove");
HOOK void *copy_mempcpy(void *to, const void *from, size_t size) NAMED("mempcpy");
HOOK void *copy_mempcpy_too(void *to, const void *from, size_t size) NAMED("__mempcpy");
HOOK void copy_bcopy(const void *from, void *to, size_t size) NAMED("bcopy");
HOOK void *copy_memccpy(void *to, const void *from, int byte, size_t size) NAMED("memccpy");
HOOK void *copy_memcpy_chk(void *to, const void *from, size_t size, size_t room)
    NAMED("__memcpy_chk");
HOOK void *copy_memmove_chk(void *to, const void *from, size_t size, size_t room)
    NAMED("__memmove_chk");
HOOK void *copy_mempcpy_chk(void *to, const void *from, size_t size, size_t room)
    NAMED("__mempcpy_chk");

void *copy_memcpy(void *to, const void *from, size_t size)
{
    return copy(to, from, size, HEAP_CALLER);
}

void *copy_memmove(void *to, const void *from, size_t size)
{
    return copy(to, from, size, HEAP_CALLER);
}

void *copy_mempcpy(void *to, const void *from, size_t size)
{
    return (char *)copy(to, from, size, HEAP_CALLER) + size;
}

void *copy_mempcpy_too(void *to, const void *from, size_t size)
{
    return (char *)copy(to, from, size, HEAP_CALLER) + size;
}

void copy_bcopy(const void *from, void *to, size_t size)
{
    (void)copy(to, from, size, HEAP_CALLER);
}

void *copy_memccpy(void *to, const void *from, int byte, size_t size)
{
    size_t end = place_of(from, (char)byte, size);
    char *start = copy(to, from, end ? end : size, HEAP_CALLER);
    return end ? start + end : NULL;
}

void *copy_memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
    check_room(size, room);
    return copy(to, from, size, HEAP_CALLER);
}

void *copy_memmove_chk(void *to, const void *from, size_t size, size_t room)
{
    check_room(size, room);
    return copy(to, from, size, HEAP_CALLER);
}

void *copy_mempcpy_chk(void *to, const void *from, size_t size, size_t room)
{
    check_room(size, room);
    return (char *)copy(to, from, size, HEAP_CALLER) + size;
}

// ---- Strings ----------------------------------------------------------------------------

HOOK char *copy_strcpy(char *to, const char *from) NAMED("strcpy");
HOOK char *copy_stpcpy(char *to, const char *from) NAMED("stpcpy");
HOOK char *copy_stpcpy_too(char *to, const char *from) NAMED("__stpcpy");
HOOK char *copy_strncpy(char *to, const char *from, size_t size) NAMED("strncpy");
HOOK char *copy_stpncpy(char *to, const char *from, size_t size) NAMED("stpncpy");
HOOK char *copy_strcat(char *to, const char *from) NAMED("strcat");
HOOK char *copy_strncat(char *to, const char *from, size_t size) NAMED("strncat");
HOOK size_t copy_strlcpy(char *to, const char *from, size_t room) NAMED("strlcpy");
HOOK size_t copy_strlcat(char *to, const char *from, size_t room) NAMED("strlcat");
HOOK char *copy_strcpy_chk(char *to, const char *from, size_t room) NAMED("__strcpy_chk");
HOOK char *copy_stpcpy_chk(char *to, const char *from, size_t room) NAMED("__stpcpy_chk");
HOOK char *copy_strncpy_chk(char *to, const char *from, size_t size, size_t room)
    NAMED("__strncpy_chk");
HOOK char *copy_stpncpy_chk(char *to, const char *from, size_t size, size_t room)
    NAMED("__stpncpy_chk");
HOOK char *copy_strcat_chk(char *to, const char *from, size_t room) NAMED("__strcat_chk");
HOOK char *copy_strncat_chk(char *to, const char *from, size_t size, size_t room)
    NAMED("__strncat_chk");

// Copies a string; the result is the end of the copy.
static char *copy_string(char *to, const char *from, size_t room, const HeapCaller *caller)
{
    size_t size = length(from) + 1;
    check_room(size, room);
    return (char *)copy(to, from, size, caller) + size - 1;
}

// Copies a string into `size` bytes, of which the rest becomes 0. The result is where the rest
// begins.
static char *copy_padded(char *to, const char *from, size_t size, const HeapCaller *caller)
{
    size_t used = length_up_to(from, size);
    // The 0 that ends the string counts, and those behind it do not, as in DHAT.
    (void)copy_counted(to, from, used, used + (used < size), caller);
    if (is_ready())
        (void)behind.set(to + used, 0, size - used);
    else
        for (size_t i = used; i < size; i++)
            to[i] = 0;
    return to + used;
}

// Copies at most `size` bytes of a string behind another, and a 0.
static char *append(char *to, const char *from, size_t size, size_t room, const HeapCaller *caller)
{
    size_t used = length(to), more = length_up_to(from, size);
    check_room(used + more + 1, room);
    (void)copy_counted(to + used, from, more, more + 1, caller);
    to[used + more] = 0;
    return to;
}

char *copy_strcpy(char *to, const char *from)
{
    (void)copy_string(to, from, SIZE_MAX, HEAP_CALLER);
    return to;
}

char *copy_stpcpy(char *to, const char *from)
{
    return copy_string(to, from, SIZE_MAX, HEAP_CALLER);
}

char *copy_stpcpy_too(char *to, const char *from)
{
    return copy_string(to, from, SIZE_MAX, HEAP_CALLER);
}

char *copy_strncpy(char *to, const char *from, size_t size)
{
    (void)copy_padded(to, from, size, HEAP_CALLER);
    return to;
}

char *copy_stpncpy(char *to, const char *from, size_t size)
{
    return copy_padded(to, from, size, HEAP_CALLER);
}

char *copy_strcat(char *to, const char *from)
{
    return append(to, from, SIZE_MAX, SIZE_MAX, HEAP_CALLER);
}

char *copy_strncat(char *to, const char *from, size_t size)
{
    return append(to, from, size, SIZE_MAX, HEAP_CALLER);
}

size_t copy_strlcpy(char *to, const char *from, size_t room)
{
    size_t size = length(from), used = MIN(size, room - 1);
    if (room == 0)
        return size;
    (void)copy_counted(to, from, used, used + 1, HEAP_CALLER);
    to[used] = 0;
    return size;
}

size_t copy_strlcat(char *to, const char *from, size_t room)
{
    size_t before = length_up_to(to, room), size = length(from);
    if (before == room)
        return room + size;
    size_t used = MIN(size, room - before - 1);
    (void)copy_counted(to + before, from, used, used + 1, HEAP_CALLER);
    to[before + used] = 0;
    return before + size;
}

char *copy_strcpy_chk(char *to, const char *from, size_t room)
{
    (void)copy_string(to, from, room, HEAP_CALLER);
    return to;
}

char *copy_stpcpy_chk(char *to, const char *from, size_t room)
{
    return copy_string(to, from, room, HEAP_CALLER);
}

char *copy_strncpy_chk(char *to, const char *from, size_t size, size_t room)
{
    check_room(size, room);
    (void)copy_padded(to, from, size, HEAP_CALLER);
    return to;
}

char *copy_stpncpy_chk(char *to, const char *from, size_t size, size_t room)
{
    check_room(size, room);
    return copy_padded(to, from, size, HEAP_CALLER);
}

char *copy_strcat_chk(char *to, const char *from, size_t room)
{
    return append(to, from, SIZE_MAX, room, HEAP_CALLER);
}

char *copy_strncat_chk(char *to, const char *from, size_t size, size_t room)
{
    return append(to, from, size, room, HEAP_CALLER);
}

// ---- Wide characters --------------------------------------------------------------------

HOOK Wide *copy_wmemcpy(Wide *to, const Wide *from, size_t count) NAMED("wmemcpy");
HOOK Wide *copy_wmemmove(Wide *to, const Wide *from, size_t count) NAMED("wmemmove");
HOOK Wide *copy_wcscpy(Wide *to, const Wide *from) NAMED("wcscpy");
HOOK Wide *copy_wcscat(Wide *to, const Wide *from) NAMED("wcscat");

Wide *copy_wmemcpy(Wide *to, const Wide *from, size_t count)
{
    return copy(to, from, count * sizeof(*to), HEAP_CALLER);
}

Wide *copy_wmemmove(Wide *to, const Wide *from, size_t count)
{
    return copy(to, from, count * sizeof(*to), HEAP_CALLER);
}

Wide *copy_wcscpy(Wide *to, const Wide *from)
{
    return copy(to, from, (wide_length(from) + 1) * sizeof(*to), HEAP_CALLER);
}

Wide *copy_wcscat(Wide *to, const Wide *from)
{
    (void)copy(to + wide_length(to), from, (wide_length(from) + 1) * sizeof(*to), HEAP_CALLER);
    return to;
}
