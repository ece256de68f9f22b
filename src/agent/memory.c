// SPDX-License-Identifier: Apache-2.0
// Two of the four functions that a compiler calls by itself. The agent brings its own, because it
// needs no libc (gcc's manual, "Standards"). The other two are in copies/.

#include <stddef.h>

// The prototypes are the compiler's own; nothing includes a header for them.
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memset(void *to, int byte, size_t size)
{
    char *t = to;
    unsigned long word = 0x0101010101010101ul * (unsigned char)byte;
    for (; size >= 8; size -= 8, t += 8)
        __builtin_memcpy(t, &word, 8);
    while (size-- > 0)
        *t++ = (char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (; size > 0; size--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}
