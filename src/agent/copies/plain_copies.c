// SPDX-License-Identifier: Apache-2.0
// memcpy and memmove for the agent itself, where the program's copies are not recorded. A compiler
// calls them by itself (gcc's manual, "Standards").

#include <stddef.h>

// The prototypes are the compiler's own; nothing includes a header for them.
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    char *t = to;
    const char *f = from;
    for (; size >= 8; size -= 8, t += 8, f += 8) {
        unsigned long word;
        __builtin_memcpy(&word, f, 8);
        __builtin_memcpy(t, &word, 8);
    }
    while (size-- > 0)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;
    if (t <= f || t >= f + size)
        return memcpy(to, from, size); // it goes upwards, byte by byte or word by word
    while (size-- > 0)
        t[size] = f[size];
    return to;
}
