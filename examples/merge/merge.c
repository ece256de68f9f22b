// SPDX-License-Identifier: Apache-2.0
// Adds up coverage counts of several runs, with a lookup that is too simple: story 2 of
// docs/tutorial.
//
//     merge --generate N SEED >FILE      writes counts of N functions in a random order
//     merge [--indexed] FILE ...         prints how many functions ran, and the sum of all counts
//
// A file has a function on each line: its name, a space, and how often it was called. The usual
// form looks a name up by comparing it with every name that it has seen. The indexed form
// (--indexed) keeps a hash table from name to row.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Function {
    char *name;
    uint64_t calls;
} Function;

typedef struct Totals {
    Function *row;
    size_t count, space;
    uint32_t *bucket; // row number + 1, 0 is empty; only of the indexed form
    size_t bucket_count;
    bool is_indexed;
} Totals;

static void *must(void *memory)
{
    if (!memory) {
        fputs("merge: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

// The row of a name by comparing with every row; `count` when there is none.
static size_t find_linear(const Totals *totals, const char *name)
{
    for (size_t i = 0; i < totals->count; i++)
        if (strcmp(totals->row[i].name, name) == 0)
            return i;
    return totals->count;
}

// The bucket of a name: that of its row, or the empty one where it belongs.
static uint32_t *find_bucket(const Totals *totals, const char *name)
{
    size_t at = hash_name(name) % totals->bucket_count;
    while (totals->bucket[at] != 0 && strcmp(totals->row[totals->bucket[at] - 1].name, name) != 0)
        at = (at + 1) % totals->bucket_count;
    return &totals->bucket[at];
}

static void grow_index(Totals *totals)
{
    free(totals->bucket);
    totals->bucket_count = totals->space * 2 + 1;
    totals->bucket = must(calloc(totals->bucket_count, sizeof(*totals->bucket)));
    for (size_t i = 0; i < totals->count; i++)
        *find_bucket(totals, totals->row[i].name) = (uint32_t)i + 1;
}

static void add_row(Totals *totals, const char *name)
{
    if (totals->count == totals->space) {
        totals->space = totals->space ? totals->space * 2 : 64;
        totals->row = must(realloc(totals->row, totals->space * sizeof(*totals->row)));
        if (totals->is_indexed)
            grow_index(totals);
    }
    totals->row[totals->count] = (Function){.name = must(strdup(name))};
    if (totals->is_indexed)
        *find_bucket(totals, name) = (uint32_t)totals->count + 1;
    totals->count++;
}

static Function *find_or_add(Totals *totals, const char *name)
{
    if (totals->is_indexed && totals->bucket_count > 0) {
        uint32_t row = *find_bucket(totals, name);
        if (row != 0)
            return &totals->row[row - 1];
        add_row(totals, name);
        return &totals->row[totals->count - 1];
    }
    size_t at = find_linear(totals, name);
    if (at == totals->count)
        add_row(totals, name);
    return &totals->row[at];
}

static bool add_file(Totals *totals, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return false;
    }
    char name[128];
    unsigned long long calls;
    while (fscanf(file, "%127s %llu", name, &calls) == 2)
        find_or_add(totals, name)->calls += calls;
    fclose(file);
    return true;
}

static void generate(unsigned count, unsigned seed)
{
    unsigned *order = must(malloc((count + 1) * sizeof(*order)));
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    srand(seed);
    for (unsigned i = count; i > 1; i--) {
        unsigned other = (unsigned)rand() % i, kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    for (unsigned i = 0; i < count; i++)
        printf("library_module_%u::function_%u %u\n", order[i] % 97, order[i], order[i] % 5);
    free(order);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--generate") == 0) {
        generate((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
        return 0;
    }
    Totals totals = {0};
    bool is_good = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--indexed") == 0)
            totals.is_indexed = true;
        else
            is_good = add_file(&totals, argv[i]) && is_good;
    }
    size_t ran = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < totals.count; i++) {
        ran += totals.row[i].calls > 0;
        sum += totals.row[i].calls;
    }
    printf("%zu of %zu functions ran, %llu calls\n", ran, totals.count, (unsigned long long)sum);
    return is_good ? 0 : 1;
}
