// SPDX-License-Identifier: Apache-2.0
// Allocates in ways that could be better; each function has one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
static void *volatile kept[5000];

KEEP static void *one_field(int size)
{
    return malloc((size_t)size); // field
}

KEEP static void one_row(void) // 1 + 4 blocks, freed at its end
{
    char **row = malloc(4 * sizeof(*row));
    for (int i = 0; i < 4; i++)
        row[i] = one_field(10 + i);
    for (int i = 0; i < 4; i++)
        free(row[i]);
    free(row);
}

KEEP static void many_rows(void)
{
    for (int i = 0; i < 2000; i++)
        one_row();
}

KEEP static void grows(void) // 300 calls of realloc
{
    char *block = NULL;
    for (int i = 0; i <= 300; i++) {
        block = realloc(block, 1000u * (unsigned)(i + 1)); // grow
        block[0] = 1;
        kept[4999] = block;
    }
    free(block);
}

KEEP static void pool(void) // 4000 blocks of 20 bytes at the peak
{
    for (int i = 0; i < 4000; i++)
        kept[i] = malloc(20);
    kept[4500] = malloc(2000000);
    free(kept[4500]);
    for (int i = 0; i < 4000; i++)
        free(kept[i]);
}

KEEP static void leaks(void) // 30 blocks of 1000 bytes
{
    for (int i = 0; i < 30; i++)
        kept[i] = strndup("", 999), kept[i] = malloc(2000); // leak
}

int main(void)
{
    many_rows();
    grows();
    pool();
    leaks();
    return 0;
}
