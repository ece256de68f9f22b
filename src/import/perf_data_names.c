// SPDX-License-Identifier: Apache-2.0
// Names out of the symbols that perf.data itself holds: Android's simpleperf writes them, for the
// recorded files are on the phone.

#include "import/perf_data_internal.h"

#include <stdlib.h>

#include "symbolise/demangle.h"

static int by_address(const void *a, const void *b)
{
    const PerfDataSymbol *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static const PerfDataFile *file_of(const PerfDataImport *in, Str path)
{
    bool is_kernel = str_starts_with(path, STR("[kernel"));
    for (size_t i = 0; i < in->info->files.len; i++) {
        const PerfDataFile *f = &in->info->files.at[i];
        if (str_equal(f->path, path) || (is_kernel && str_starts_with(f->path, STR("[kernel"))))
            return f;
    }
    return NULL;
}

// What is added to an address of the module to get one of the file's symbols. A file that could
// not be opened has offsets for addresses.
static uint64_t shift_of(const PerfDataImport *in, ModuleId module, const PerfDataFile *file)
{
    const ModuleSet *set = consumer_modules(in->consumer);
    if (in->profile->modules.kind.at[module.v] != MODULE_FILE)
        return 0;
    for (size_t i = 0; i < set->files.len; i++)
        if (set->files.at[i]->id.v == module.v && set->files.at[i]->opened)
            return 0;
    return file->first_address - file->first_offset;
}

// The last symbol that begins at or before the address, if it reaches to it.
static const PerfDataSymbol *symbol_at(const PerfDataFile *file, uint64_t address)
{
    size_t low = 0, high = file->symbols.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->symbols.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const PerfDataSymbol *s = low ? &file->symbols.at[low - 1] : NULL;
    return s && (s->size == 0 || address - s->address < s->size) ? s : NULL;
}

static void name_frame(PerfDataImport *in, FrameId frame)
{
    Profile *p = in->profile;
    ModuleId module = p->frames.module.at[frame.v];
    const PerfDataFile *file = file_of(in, profile_text(p, p->modules.path.at[module.v]));
    const PerfDataSymbol *s =
        file ? symbol_at(file, p->frames.address.at[frame.v] + shift_of(in, module, file)) : NULL;
    if (!s || s->name.len == 0)
        return;
    StrBuf plain = {0};
    (void)demangle(s->name, &plain); // adds a name that is not mangled as it is
    Str name = strbuf_str(&plain);
    FunctionId function = profile_function(p, name, s->name, STR(""), 0);
    profile_frame_resolve(p, frame, function, (StrId){0}, 0);
    strbuf_deinit(&plain);
}

void perf_data_embedded_names(PerfDataImport *in)
{
    const PerfDataFileVec *files = &in->info->files;
    if (files->len == 0 || !in->consumer)
        return;
    for (size_t i = 0; i < files->len; i++)
        if (files->at[i].symbols.len)
            qsort(files->at[i].symbols.at, files->at[i].symbols.len, sizeof(PerfDataSymbol),
                  by_address);
    uint32_t count = profile_frame_count(in->profile);
    for (uint32_t f = 1; f < count; f++)
        if (in->profile->frames.function.at[f].v == 0 &&
            !(in->profile->frames.flags.at[f] & FRAME_CUT))
            name_frame(in, (FrameId){f});
}
