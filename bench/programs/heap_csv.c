// SPDX-License-Identifier: Apache-2.0
// Allocation stress: for each row of a table, in memory, a map from column to value is made and
// freed, 8 million blocks in all, some seven frames deep. Argument: rows.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 400000, COLUMNS = 10, BUCKETS = 16 };

typedef struct Entry {
    struct Entry *next;
    char *value;
    unsigned key;
} Entry;

static char *__attribute__((noinline)) copy(const char *text, size_t len)
{
    char *to = malloc(len + 1);
    memcpy(to, text, len);
    to[len] = 0;
    return to;
}

static void __attribute__((noinline))
insert(Entry **map, unsigned key, const char *text, size_t len)
{
    Entry *e = malloc(sizeof(*e));
    e->key = key;
    e->value = copy(text, len);
    e->next = map[key % BUCKETS];
    map[key % BUCKETS] = e;
}

static void __attribute__((noinline)) parse(Entry **map, const char *line)
{
    unsigned column = 0;
    const char *from = line;
    for (const char *at = line;; at++) {
        if (*at != ',' && *at != 0)
            continue;
        insert(map, column++, from, (size_t)(at - from));
        if (*at == 0)
            return;
        from = at + 1;
    }
}

static unsigned long __attribute__((noinline)) drop(Entry **map)
{
    unsigned long sum = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (Entry *e = map[i], *next; e; e = next) {
            next = e->next;
            sum += (unsigned char)e->value[0];
            free(e->value);
            free(e);
        }
    return sum;
}

static unsigned long __attribute__((noinline)) row(const char *line)
{
    Entry *map[BUCKETS] = {0};
    parse(map, line);
    return drop(map);
}

static unsigned long __attribute__((noinline)) table(unsigned rows)
{
    static const char line[] = "alpha,12.5,a longer text of a cell,7,2026-11-23,x,yes,no,0.001,end";
    unsigned long sum = 0;
    for (unsigned i = 0; i < rows; i++)
        sum += row(line);
    return sum;
}

int main(int argc, char **argv)
{
    printf("%lu\n", table(argc > 1 ? (unsigned)atoi(argv[1]) : ROWS));
    return 0;
}
