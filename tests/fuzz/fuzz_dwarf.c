// SPDX-License-Identifier: Apache-2.0
// Fuzzes the DWARF reader: opens, lists every unit, asks for the addresses that
// line tables and functions name. Input: dwarf_bundle.h.

#include "dwarf_bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ASKED_MAX = 64, VARIABLES_MAX = 4, FUNCTIONS_MAX = 4 };

static void look_up(DwarfFile *f, uint64_t address)
{
    static DwarfFrames frames;
    bool found = dwarf_lookup(f, address, &frames);
    assert(found == (frames.len > 0) && frames.len <= DWARF_FRAMES_MAX);
    for (size_t i = 0; i < frames.len; i++) {
        // Reads every byte that a caller may read.
        uint64_t hash = str_hash(frames.at[i].name) + str_hash(frames.at[i].linkage_name) +
                        str_hash(frames.at[i].file) + str_hash(frames.at[i].decl_file);
        __asm__ volatile("" : : "r"(hash));
    }
}

static void take_counters(void *ctx, const DwarfCounters *c)
{
    (void)ctx;
    uint64_t hash = str_hash(c->function) + c->hash + c->address + c->count + c->low;
    __asm__ volatile("" : : "r"(hash));
}

typedef struct VariableNames {
    Str at[VARIABLES_MAX];
    size_t len;
} VariableNames;

static void take_variable(void *ctx, Str name)
{
    VariableNames *n = ctx;
    if (n->len < VARIABLES_MAX)
        n->at[n->len++] = name;
}

// Location lists are any bytes: those of .debug_info.
static void find_variables(DwarfFile *f, const DwarfSections *s, uint64_t address)
{
    DwarfLocations locations = {s->info, s->info};
    VariableNames names = {0};
    dwarf_variables_each(f, address, take_variable, &names);
    for (size_t i = 0; i < names.len; i++) {
        DwarfVariable v;
        Error err;
        if (dwarf_variable_find(f, &locations, address, names.at[i], &v, &err))
            assert(v.size == 1 || v.size == 2 || v.size == 4 || v.size == 8);
    }
}

static void unit_walk(DwarfFile *f, const DwarfSections *s, size_t unit)
{
    DwarfRows rows = dwarf_unit_rows(f, unit);
    for (size_t i = 0; i < rows.len; i++) {
        assert(i == 0 || rows.at[i - 1].address <= rows.at[i].address);
        if (i < ASKED_MAX) {
            (void)dwarf_unit_file(f, unit, rows.at[i].file);
            look_up(f, rows.at[i].address);
        }
    }
    DwarfFunctions functions = dwarf_unit_functions(f, unit);
    for (size_t i = 0; i < functions.len && i < ASKED_MAX; i++) {
        assert(functions.at[i].low < functions.at[i].high);
        look_up(f, functions.at[i].low);
        look_up(f, functions.at[i].high - 1);
        if (i < FUNCTIONS_MAX)
            find_variables(f, s,
                           functions.at[i].low + (functions.at[i].high - functions.at[i].low) / 2);
    }
    (void)dwarf_unit_counters(f, unit, take_counters, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DwarfBundle bundle;
    DwarfFile *f;
    Error err;
    dwarf_bundle_parse(bytes_over(data, size), &bundle);
    if (!dwarf_bundle_open(&bundle, &f, &err))
        return 0;
    for (size_t unit = 0; unit < dwarf_unit_count(f) && unit < ASKED_MAX; unit++)
        unit_walk(f, &bundle.main, unit);
    look_up(f, 0);
    look_up(f, UINT64_MAX);
    dwarf_close(f);
    return 0;
}
