// SPDX-License-Identifier: Apache-2.0
// Merges two lists of line numbers, in a way that takes four times as long for twice the size:
// story 3 of docs/tutorial.
//
//     grow [--appended] N
//
// Each list has N lines. The usual form keeps the result sorted all the time: it inserts each line
// where it belongs and moves the rest up. The other form (--appended) appends all lines and sorts
// once.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lines {
    unsigned *line;
    size_t count;
} Lines;

// The first place whose line is not less.
static size_t place_of(const Lines *lines, unsigned line)
{
    size_t low = 0, high = lines->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lines->line[middle] < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void move_up(Lines *lines, size_t from)
{
    for (size_t i = lines->count; i > from; i--)
        lines->line[i] = lines->line[i - 1];
}

static void insert_sorted(Lines *lines, unsigned line)
{
    size_t at = place_of(lines, line);
    if (at < lines->count && lines->line[at] == line)
        return;
    move_up(lines, at);
    lines->line[at] = line;
    lines->count++;
}

static int compare(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

static void sort_once(Lines *lines)
{
    qsort(lines->line, lines->count, sizeof(*lines->line), compare);
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (i == 0 || lines->line[i] != lines->line[kept - 1])
            lines->line[kept++] = lines->line[i];
    lines->count = kept;
}

int main(int argc, char **argv)
{
    bool appends = argc == 3 && strcmp(argv[1], "--appended") == 0;
    if (argc != 2 + appends) {
        fputs("usage: grow [--appended] N\n", stderr);
        return 2;
    }
    size_t n = strtoul(argv[1 + appends], NULL, 10);
    Lines lines = {.line = malloc((2 * n + 1) * sizeof(*lines.line))};
    if (!lines.line) {
        fputs("grow: out of memory\n", stderr);
        return 1;
    }
    unsigned state = 1;
    for (size_t i = 0; i < 2 * n; i++) {
        state = state * 1664525u + 1013904223u; // the generator of Numerical Recipes
        if (appends)
            lines.line[lines.count++] = state >> 8;
        else
            insert_sorted(&lines, state >> 8);
    }
    if (appends)
        sort_once(&lines);
    printf("%zu different lines\n", lines.count);
    free(lines.line);
    return 0;
}
