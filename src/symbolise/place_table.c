// SPDX-License-Identifier: Apache-2.0
// The results of looking up addresses of one module.

#include "symbolise/place_table.h"

#include "symbolise/demangle.h"

#include <stdlib.h>

void place_table_init(PlaceTable *t)
{
    *t = (PlaceTable){.level = SYMBOLS_NONE};
    intern_init(&t->strings, &t->arena);
}

void place_table_deinit(PlaceTable *t)
{
    intern_deinit(&t->strings);
    table_deinit(&t->function_index);
    strbuf_deinit(&t->buffer);
    arena_deinit(&t->arena);
    *t = (PlaceTable){0};
}

uint32_t place_table_function(PlaceTable *t, PlaceFunction f)
{
    uint64_t hash =
        hash_pair((uint64_t)f.name << 32 | f.linkage_name, (uint64_t)f.file << 32 | f.line);
    uint32_t row;
    for (TableProbe p = table_probe(&t->function_index, hash);
         table_next(&t->function_index, &p, &row);) {
        const PlaceFunction *g = &t->functions.at[row];
        if (g->name == f.name && g->linkage_name == f.linkage_name && g->file == f.file &&
            g->line == f.line)
            return row;
    }
    row = (uint32_t)t->functions.len;
    vec_push(&t->arena, &t->functions, f);
    table_insert(&t->function_index, hash, row);
    return row;
}

// Demangles every linkage name once.
static uint32_t name_of(PlaceTable *t, uint32_t linkage_name)
{
    if (linkage_name >= t->demangled.len)
        vec_extend(&t->arena, &t->demangled, linkage_name + 1 - t->demangled.len);
    if (t->demangled.at[linkage_name])
        return t->demangled.at[linkage_name] - 1;
    strbuf_clear(&t->buffer);
    demangle(intern_get(&t->strings, linkage_name), &t->buffer);
    uint32_t name = intern_add(&t->strings, strbuf_str(&t->buffer));
    t->demangled.at[linkage_name] = name + 1;
    return name;
}

void place_table_add(PlaceTable *t, uint64_t address, const PlaceFrames *frames)
{
    Place place = {address, (uint32_t)t->lines.len, (uint32_t)frames->len};
    for (size_t i = 0; i < frames->len; i++) {
        const PlaceFrame *f = &frames->at[i];
        uint32_t linkage_name = intern_add(&t->strings, f->linkage_name);
        PlaceFunction function = {
            .name = name_of(t, linkage_name),
            .linkage_name = linkage_name,
            .file = intern_add(&t->strings, f->decl_file),
            .line = f->decl_line,
        };
        vec_push(&t->arena, &t->lines,
                 (PlaceLine){place_table_function(t, function), intern_add(&t->strings, f->file),
                             f->line});
    }
    vec_push(&t->arena, &t->places, place);
}

static int place_compare(const void *a, const void *b)
{
    uint64_t x = ((const Place *)a)->address, y = ((const Place *)b)->address;
    return x < y ? -1 : x > y;
}

void place_table_sort(PlaceTable *t)
{
    if (t->places.len)
        qsort(t->places.at, t->places.len, sizeof(t->places.at[0]), place_compare);
}

const Place *place_table_find(const PlaceTable *t, uint64_t address)
{
    const Place key = {.address = address};
    return t->places.len ? bsearch(&key, t->places.at, t->places.len, sizeof(key), place_compare)
                         : NULL;
}
