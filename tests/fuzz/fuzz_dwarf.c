// SPDX-License-Identifier: Apache-2.0
// Fuzzes the DWARF reader: opens, lists every unit, asks for the addresses that
// line tables and functions name. Input: dwarf_bundle.h.

#include "dwarf_bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ASKED_MAX = 64 };

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

static void unit_walk(DwarfFile *f, size_t unit)
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
        unit_walk(f, unit);
    look_up(f, 0);
    look_up(f, UINT64_MAX);
    dwarf_close(f);
    return 0;
}
