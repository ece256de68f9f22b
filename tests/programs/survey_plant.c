// SPDX-License-Identifier: Apache-2.0
// For assay survey. The argument chooses what takes the time:
//   hot       one line takes nearly all CPU time
//   allocate  blocks that a loop allocates and frees at once take most of it
//   sleep     the program mostly sleeps
//   read      reads standard input to its end and prints how much that was; ends with status 3
// Truths: the lines marked /* hot */, /* turn */ and /* nap */ come first.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned sink;

static void hot_loop(unsigned turns)
{
    unsigned x = sink;
    for (unsigned i = 0; i < turns; i++) {
        x = ((x ^ (x >> 7)) * 1664525u + 1013904223u) ^ (x << 5) ^ (x >> 13); /* hot */
    }
    sink = x;
}

static void one_turn(unsigned turn)
{
    char *blocks[16];
    for (unsigned i = 0; i < 16; i++)
        blocks[i] = malloc(600 + 8 * ((turn + i) % 61)); /* turn */
    for (unsigned i = 0; i < 16; i++)
        free(blocks[i]);
}

static int read_all(void)
{
    char bytes[4096];
    size_t n, sum = 0;
    while ((n = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
        sum += n;
    fprintf(stderr, "read %zu bytes\n", sum);
    return 3;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "hot";
    unsigned scale = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    if (strcmp(what, "hot") == 0)
        hot_loop(30000000u * scale);
    if (strcmp(what, "allocate") == 0)
        for (unsigned i = 0; i < 100000u * scale; i++)
            one_turn(i);
    if (strcmp(what, "sleep") == 0) {
        struct timespec nap = {.tv_nsec = 200000000};
        hot_loop(200000);
        nanosleep(&nap, NULL); /* nap */
    }
    return strcmp(what, "read") == 0 ? read_all() : 0;
}
