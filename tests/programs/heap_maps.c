// SPDX-License-Identifier: Apache-2.0
// Maps memory in known ways; a page has 4096 bytes here.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
enum { PAGE = 4096 };
static void *volatile kept[8];

static void *pages(size_t count)
{
    void *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? exit(1), NULL : at;
}

KEEP void stays(void) // 1 mapping of 10 pages
{
    kept[0] = pages(10);
}

KEEP void goes(void) // 50 mappings of 3 pages, one at a time
{
    for (int i = 0; i < 50; i++) {
        void *volatile at = pages(3);
        munmap(at, 3 * PAGE);
    }
}

KEEP void shrinks(void) // 8 pages, of which 2 in the middle, the first and the last go: 4 stay
{
    char *volatile at = pages(8);
    munmap(at + 3 * PAGE, 2 * PAGE);
    munmap(at, PAGE);
    munmap(at + 7 * PAGE, 100);
}

KEEP void moves(void) // 2 mappings: 4 pages, then 20; 20 stay
{
    void *volatile at = pages(4);
    kept[1] = mremap(at, 4 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
}

KEEP void replaces(void) // 2 mappings: 6 pages, of which 2 are mapped again; 6 stay
{
    char *volatile at = pages(6);
    kept[2] = mmap(at + PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

KEEP void breaks(void) // 1 mapping of 5 pages, of which 2 go
{
    sbrk(5 * PAGE);
    sbrk(-2 * PAGE);
}

KEEP void fails(void) // nothing
{
    kept[3] = mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept[3] != MAP_FAILED || munmap((void *)1, PAGE) == 0 ||
        mremap(NULL, PAGE, PAGE, 0) != MAP_FAILED)
        exit(2);
}

KEEP void uses_all(void) // a block of 100 bytes, of which the program uses all that are there
{
    char *volatile block = malloc(100);
    size_t usable = malloc_usable_size(block);
    for (size_t i = 0; i < usable; i++)
        block[i] = 1;
    kept[4] = block;
}

KEEP static void in_child(void) // 1 page in the child; the parent's 10 are not its own
{
    kept[5] = pages(1);
    munmap(kept[0], 10 * PAGE);
}

int main(void)
{
    stays();
    goes();
    shrinks();
    moves();
    replaces();
    breaks();
    fails();
    uses_all();
    if (fork() == 0) {
        in_child();
        _exit(0);
    }
    wait(NULL);
    return 0;
}
