// SPDX-License-Identifier: Apache-2.0
// A program with a slow spot, for trying assay on.
//
//     csv [--fast] FILE [PASSES]
//
// FILE is a table with one record a line and fields between semicolons, for
// example Debian's /usr/share/unicode/UnicodeData.txt (34 924 characters). It
// has no header line, so the column names stand below. For each column that
// classifies characters the program groups the records by it and prints the
// largest group.
//
// The slow form is how such programs are first written: each record becomes a
// hash map from column name to value, with a copy of every name and of every
// value. It is convenient: `map_get(row, "category")`. The profile says what
// that convenience costs. The fast form (--fast) keeps one record, whose fields
// point into the line, and looks a column's number up once.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 15, BUCKETS = 32, GROUPS_MAX = 8192 };

static const char *const header[COLUMNS] = {
    "code",          "name",    "category",      "combining",     "bidi",
    "decomposition", "decimal", "digit",         "numeric",       "mirrored",
    "old name",      "comment", "upper mapping", "lower mapping", "title mapping",
};

// What the records are grouped by, one question a pass.
static const char *const questions[] = {"category", "combining", "bidi", "numeric", "mirrored"};

static void *must(void *memory)
{
    if (!memory) {
        fputs("csv: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

// ---- Groups: how many records share a value, and how long their names are -------------------

typedef struct Group {
    char *key;
    unsigned long records;
    unsigned long name_bytes;
} Group;

typedef struct Groups {
    Group slot[GROUPS_MAX];
    unsigned count;
} Groups;

static uint32_t hash_text(const char *text, size_t len)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static void groups_add(Groups *groups, const char *key, size_t len, size_t name_bytes)
{
    uint32_t at = hash_text(key, len) % GROUPS_MAX;
    for (;; at = (at + 1) % GROUPS_MAX) {
        Group *group = &groups->slot[at];
        if (!group->key) {
            if (++groups->count == GROUPS_MAX) {
                fputs("csv: too many groups\n", stderr);
                exit(1);
            }
            group->key = must(strndup(key, len));
        }
        if (strncmp(group->key, key, len) == 0 && group->key[len] == '\0') {
            group->records++;
            group->name_bytes += name_bytes;
            return;
        }
    }
}

static void groups_print_largest(const Groups *groups, const char *question)
{
    const Group *best = NULL;
    for (unsigned i = 0; i < GROUPS_MAX; i++) {
        const Group *group = &groups->slot[i];
        if (group->key && (!best || group->records > best->records))
            best = group;
    }
    if (best)
        printf("%-10s %5u groups, largest '%s' with %lu records, names of %.1f bytes\n", question,
               groups->count, best->key, best->records,
               (double)best->name_bytes / (double)best->records);
}

static void groups_free(Groups *groups)
{
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        free(groups->slot[i].key);
    free(groups);
}

// ---- The slow form: a map for every row --------------------------------------------------

typedef struct Entry {
    struct Entry *next;
    char *key;
    char *value;
} Entry;

typedef struct Map {
    Entry *bucket[BUCKETS];
} Map;

static void map_put(Map *map, const char *key, const char *value, size_t value_len)
{
    Entry *entry = must(malloc(sizeof(*entry)));
    Entry **bucket = &map->bucket[hash_text(key, strlen(key)) % BUCKETS];
    entry->key = must(strdup(key));
    entry->value = must(strndup(value, value_len));
    entry->next = *bucket;
    *bucket = entry;
}

static const char *map_get(const Map *map, const char *key)
{
    const Entry *entry = map->bucket[hash_text(key, strlen(key)) % BUCKETS];
    while (entry && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry ? entry->value : "";
}

static void map_free(Map *map)
{
    for (int i = 0; i < BUCKETS; i++) {
        Entry *next;
        for (Entry *entry = map->bucket[i]; entry; entry = next) {
            next = entry->next;
            free(entry->key);
            free(entry->value);
            free(entry);
        }
    }
    free(map);
}

// One line becomes a fresh map: 46 allocations for 15 fields.
static Map *row_parse(const char *line, const char *end)
{
    Map *row = must(calloc(1, sizeof(*row)));
    for (int column = 0; column < COLUMNS && line <= end; column++) {
        const char *stop = memchr(line, ';', (size_t)(end - line));
        if (!stop)
            stop = end;
        map_put(row, header[column], line, (size_t)(stop - line));
        line = stop + 1;
    }
    return row;
}

static void group_slowly(const char *text, const char *end, const char *question, Groups *groups)
{
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        Map *row = row_parse(text, line_end);
        const char *key = map_get(row, question);
        groups_add(groups, key, strlen(key), strlen(map_get(row, "name")));
        map_free(row);
        text = line_end + 1;
    }
}

// ---- The fast form: one record, reused -----------------------------------------------------

typedef struct Field {
    const char *text;
    size_t len;
} Field;

static void record_parse(Field record[COLUMNS], const char *line, const char *end)
{
    for (int column = 0; column < COLUMNS; column++) {
        const char *stop = line < end ? memchr(line, ';', (size_t)(end - line)) : NULL;
        if (!stop)
            stop = end;
        record[column] = (Field){line, line < stop ? (size_t)(stop - line) : 0};
        line = stop < end ? stop + 1 : end;
    }
}

static int column_find(const char *name)
{
    for (int column = 0; column < COLUMNS; column++)
        if (strcmp(header[column], name) == 0)
            return column;
    fprintf(stderr, "csv: no column '%s'\n", name);
    exit(1);
}

static void group_fast(const char *text, const char *end, const char *question, Groups *groups)
{
    int key = column_find(question);
    int name = column_find("name");
    Field record[COLUMNS];
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        record_parse(record, text, line_end);
        groups_add(groups, record[key].text, record[key].len, record[name].len);
        text = line_end + 1;
    }
}

// ---- The program ---------------------------------------------------------------------------

static char *file_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
        perror(path);
        exit(1);
    }
    char *text = must(malloc((size_t)size + 1));
    *len = fread(text, 1, (size_t)size, file);
    text[*len] = '\0';
    fclose(file);
    return text;
}

static void answer(const char *text, size_t len, const char *question, bool fast, bool print)
{
    Groups *groups = must(calloc(1, sizeof(*groups)));
    if (fast)
        group_fast(text, text + len, question, groups);
    else
        group_slowly(text, text + len, question, groups);
    if (print)
        groups_print_largest(groups, question);
    groups_free(groups);
}

int main(int argc, char **argv)
{
    bool fast = argc > 1 && strcmp(argv[1], "--fast") == 0;
    int first = fast ? 2 : 1;
    if (argc <= first) {
        fputs("usage: csv [--fast] FILE [PASSES]\n", stderr);
        return 2;
    }
    long passes = argc > first + 1 ? strtol(argv[first + 1], NULL, 10) : 6;
    size_t len;
    char *text = file_read(argv[first], &len);
    for (long pass = 1; pass <= passes; pass++)
        for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
            answer(text, len, questions[i], fast, pass == passes);
    free(text);
    return 0;
}
