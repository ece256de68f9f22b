// SPDX-License-Identifier: Apache-2.0
// Opening and closing a file's debug information.

#include "dwarf/dwarf_internal.h"

bool dwarf_open(const DwarfSections *sections, const DwarfHooks *hooks, DwarfFile **ret, Error *err)
{
    if (sections->info.len == 0 || sections->abbrev.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "no debug information");
    DwarfFile *f = heap_alloc(sizeof(DwarfFile));
    if (hooks && hooks->get_dwo) {
        f->has_hooks = true;
        f->hooks = *hooks;
    }
    set_init(&f->main, f, sections);
    set_index(&f->main);
    if (f->main.units.len == 0) {
        error_set(err, ERROR_FORMAT, "debug information: %s",
                  f->stats.trouble[0] ? f->stats.trouble : "no unit");
        dwarf_close(f);
        return false;
    }
    units_index_addresses(f);
    *ret = f;
    return true;
}

// Frees the heap memory of the set's tables; the rest lies in the arena.
static void set_deinit(Set *set)
{
    for (size_t i = 0; i < set->lines.len; i++)
        lines_deinit(set->lines.at[i]);
    table_deinit(&set->abbrev_table);
    table_deinit(&set->line_table);
    table_deinit(&set->type_table);
}

void dwarf_close(DwarfFile *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->sets.len; i++)
        set_deinit(f->sets.at[i]);
    set_deinit(&f->main);
    table_deinit(&f->origin_table);
    vec_free(&f->scratch_ranges);
    arena_deinit(&f->arena);
    heap_free(f);
}
