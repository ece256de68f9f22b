// SPDX-License-Identifier: Apache-2.0
// new_pages N: touches 16384 new pages N times. Truth: touch has 16384 * N page
// faults of its own, as fast as the kernel can serve them.

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, BYTES = 16384 * PAGE };

__attribute__((noinline)) static void touch(char *p)
{
    for (size_t i = 0; i < BYTES; i += PAGE)
        ((volatile char *)p)[i] = 1;
}

int main(int argc, char **argv)
{
    for (int n = argc > 1 ? atoi(argv[1]) : 1; n > 0; n--) {
        char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return 1;
        madvise(p, BYTES, MADV_NOHUGEPAGE);
        touch(p);
        munmap(p, BYTES);
    }
    return 0;
}
