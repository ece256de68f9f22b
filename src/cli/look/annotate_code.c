// SPDX-License-Identifier: Apache-2.0
// The instructions of an annotated function.

#include "cli/look/annotate_code.h"

#include "symbolise/demangle.h"

enum { CODE_MAX_BYTES = 16 << 20 };

static const Symbol *find_symbol(const ModuleSymbols *m, uint64_t svma)
{
    for (size_t i = 0; i < m->table_count; i++) {
        const Symbol *s = symbol_index_find(&m->tables[i], svma);
        if (s)
            return s;
    }
    return NULL;
}

static uint64_t value_at(const Annotation *a, const AnnotateAddress *at)
{
    return a->address_total.at[at->first_value];
}

// The address with most value; the stretch around it is what is shown.
static const AnnotateAddress *hottest_address(const Annotation *a)
{
    const AnnotateAddress *best = NULL;
    for (size_t i = 0; i < a->addresses.len; i++) {
        const AnnotateAddress *at = &a->addresses.at[i];
        bool in_file = a->profile->modules.kind.at[at->module.v] == MODULE_FILE;
        if (in_file && (!best || value_at(a, at) > value_at(a, best)))
            best = at;
    }
    return best;
}

// The first of the places where the object may be that has it.
static bool open_module(Code *c, const Annotation *a, ModuleId module,
                        const RecordingSearch *search, Error *err)
{
    const Modules *m = &a->profile->modules;
    Str path = profile_text(a->profile, m->path.at[module.v]);
    Str hex = profile_text(a->profile, m->build_id.at[module.v]);
    BuildId id = {0};
    for (size_t i = 0; i + 1 < hex.len && id.len < ELF_BUILD_ID_MAX; i += 2) {
        uint64_t byte;
        if (!str_parse_u64(str_slice(hex, i, i + 2), 16, &byte))
            break;
        id.bytes[id.len++] = (uint8_t)byte;
    }
    static const SymboliseFiles plain_files;
    ModuleCandidateVec candidates = {0};
    module_candidates(&c->arena, &search->modules, path, hex, &candidates);
    for (size_t i = 0; i < candidates.len; i++) {
        module_symbols_open(&c->symbols, &plain_files, &search->debug, candidates.at[i].path, &id,
                            (Bytes){0});
        if (c->symbols.has_object)
            return true;
        module_symbols_close(&c->symbols);
    }
    error_set(err, ERROR_NOT_FOUND,
              "cannot show instructions: '%" STR_FMT "' is not the file that "
              "was recorded, or cannot be read",
              STR_ARG(path));
    return error_hint(err,
                      "--symfs DIR or --debug-dir DIR says where it is; build-id wanted: %" STR_FMT,
                      STR_ARG(hex.len ? hex : STR("none")));
}

static bool open_disasm(Code *c, Error *err)
{
    switch (c->symbols.elf.machine) {
    case EM_X86_64:
        return disasm_open(&c->arena, DISASM_X86_64, &c->disasm, err);
    case EM_AARCH64:
        return disasm_open(&c->arena, DISASM_AARCH64, &c->disasm, err);
    default:
        return error_set(err, ERROR_UNSUPPORTED, "cannot show instructions of ELF machine %u",
                         c->symbols.elf.machine);
    }
}

// "name" or "name+0x1c", demangled; "" for an address that no symbol covers.
static Str name_of(Code *c, uint64_t svma)
{
    const Symbol *s = find_symbol(&c->symbols, svma);
    if (!s || s->name.len == 0)
        return STR("");
    StrBuf name = {0};
    demangle(s->name, &name);
    if (svma != s->function_start)
        strbuf_printf(&name, "+0x%llx", (unsigned long long)(svma - s->function_start));
    Str kept = arena_str(&c->arena, strbuf_str(&name));
    strbuf_deinit(&name);
    return kept;
}

// The level of the target in the chain at an address: where it was inlined, its
// own; else the outermost, the function that really stands there.
static const PlaceFrame *target_level(const Annotation *a, const PlaceFrames *frames)
{
    const Profile *p = a->profile;
    FunctionId function = p->frames.function.at[a->keys->first.at[a->key].v];
    Str name = profile_text(p, p->functions.linkage_name.at[function.v]);
    for (size_t i = frames->len; i-- > 0;)
        if (str_equal(frames->at[i].linkage_name, name))
            return &frames->at[i];
    return &frames->at[frames->len - 1];
}

static void place_line(Code *c, const Annotation *a, CodeLine *line)
{
    PlaceFrames frames;
    if (!module_symbols_lookup(&c->symbols, line->instruction.address, &frames) || frames.len == 0)
        return;
    const PlaceFrame *level = target_level(a, &frames);
    line->file = arena_str(&c->arena, level->file);
    line->line = level->line;
    if (level != &frames.at[0]) {
        StrBuf name = {0};
        demangle(frames.at[0].linkage_name, &name);
        line->inlined = arena_str(&c->arena, strbuf_str(&name));
        strbuf_deinit(&name);
    }
}

static void decode(Code *c, const Annotation *a)
{
    Bytes code = elf_bytes_at_svma(&c->symbols.elf, c->start);
    code = bytes_slice(code, 0, MIN(c->end - c->start, (uint64_t)CODE_MAX_BYTES));
    uint64_t at = c->start;
    CodeLine line = {0};
    while (disasm_next(c->disasm, &c->arena, code, at, &line.instruction)) {
        line.self = arena_array(&c->arena, uint64_t, a->metric_count);
        line.total = arena_array(&c->arena, uint64_t, a->metric_count);
        if (line.instruction.has_target)
            line.target_name = name_of(c, line.instruction.target);
        place_line(c, a, &line);
        vec_push(&c->arena, &c->lines, line);
        at += line.instruction.length;
        code = bytes_slice(code, line.instruction.length, code.len);
        line = (CodeLine){0};
    }
}

// Addresses and instructions are both in order: one pass gives each its value.
static void distribute(Code *c, const Annotation *a, ModuleId module)
{
    size_t row = 0;
    for (size_t i = 0; i < a->addresses.len; i++) {
        const AnnotateAddress *at = &a->addresses.at[i];
        bool inside = at->module.v == module.v && at->address >= c->start && at->address < c->end;
        while (inside && row + 1 < c->lines.len &&
               c->lines.at[row + 1].instruction.address <= at->address)
            row++;
        if (!inside || c->lines.len == 0) {
            c->left_out += value_at(a, at);
            continue;
        }
        for (size_t m = 0; m < a->metric_count; m++) {
            c->lines.at[row].self[m] += a->address_self.at[at->first_value + m];
            c->lines.at[row].total[m] += a->address_total.at[at->first_value + m];
        }
    }
}

bool code_init(Code *c, const Annotation *a, const RecordingSearch *search, Error *err)
{
    *c = (Code){0};
    const AnnotateAddress *hottest = hottest_address(a);
    if (!hottest)
        return error_set(err, ERROR_NOT_FOUND,
                         "cannot show instructions: no sample of this "
                         "function lies in a file");
    if (!open_module(c, a, hottest->module, search, err))
        return false;
    const Symbol *symbol = find_symbol(&c->symbols, hottest->address);
    if (!symbol) {
        error_set(err, ERROR_NOT_FOUND, "cannot show instructions: no symbol covers address 0x%llx",
                  (unsigned long long)hottest->address);
        return false;
    }
    c->function = symbol->name;
    c->start = symbol->start;
    c->end = symbol->end;
    if (!open_disasm(c, err))
        return false;
    decode(c, a);
    distribute(c, a, hottest->module);
    return true;
}

void code_deinit(Code *c)
{
    disasm_close(c->disasm);
    if (c->symbols.path.ptr)
        module_symbols_close(&c->symbols);
    arena_deinit(&c->arena);
}
