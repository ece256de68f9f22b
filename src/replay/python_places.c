// SPDX-License-Identifier: Apache-2.0
// Direct-mapped caches of code objects and of places in them.

#include "replay/python_places.h"

enum { CODE_CACHE_SIZE = 1 << 9, PLACE_CACHE_SIZE = 1 << 11 };

typedef struct KnownCode {
    uint64_t address; // 0: empty
    int64_t second;   // of the last read
    uint64_t version; // of its places
    PythonCode code;
    FunctionId function; // 0: it could not be named
    StrId file;
    StrBuf lines; // its table of lines
} KnownCode;

typedef struct KnownPlace {
    uint64_t code, instruction; // code 0: empty
    uint64_t version;           // of the code
    FrameId frame;
} KnownPlace;

struct PythonPlaces {
    Profile *profile;
    ModuleId module;
    uint64_t versions;
    KnownCode codes[CODE_CACHE_SIZE];
    KnownPlace places[PLACE_CACHE_SIZE];
};

PythonPlaces *python_places_new(Profile *profile, ModuleId module)
{
    PythonPlaces *c = heap_alloc(sizeof(*c));
    c->profile = profile;
    c->module = module;
    return c;
}

void python_places_free(PythonPlaces *c)
{
    for (size_t i = 0; c && i < CODE_CACHE_SIZE; i++)
        strbuf_deinit(&c->codes[i].lines);
    heap_free(c);
}

static bool code_same(const PythonCode *a, const PythonCode *b)
{
    return a->name == b->name && a->file == b->file && a->lines == b->lines &&
           a->first_line == b->first_line;
}

static void name_code(PythonPlaces *c, KnownCode *k, const Python *p, const ProcessMemory *m)
{
    StrBuf name = {0}, file = {0};
    k->function = (FunctionId){0};
    k->version = ++c->versions;
    strbuf_clear(&k->lines);
    if (python_code_name(p, m, &k->code, &name, &file)) {
        k->file = profile_str(c->profile, strbuf_str(&file));
        k->function = profile_function(c->profile, strbuf_str(&name), STR(""), strbuf_str(&file),
                                       k->code.first_line);
        (void)python_code_lines(m, &k->code, &k->lines);
    }
    strbuf_deinit(&name);
    strbuf_deinit(&file);
}

static KnownCode *find_code(PythonPlaces *c, const Python *p, const ProcessMemory *m,
                            uint64_t address, int64_t second)
{
    KnownCode *k = &c->codes[hash_u64(address) & (CODE_CACHE_SIZE - 1)];
    bool is_known = k->address == address;
    PythonCode now;
    if (is_known && k->second == second)
        return k;
    if (!python_code_read(p, m, address, &now))
        return is_known ? k : NULL;
    k->second = second;
    if (is_known && k->function.v && code_same(&k->code, &now))
        return k;
    k->address = address;
    k->code = now;
    name_code(c, k, p, m);
    return k;
}

FrameId python_places_find(PythonPlaces *c, const Python *p, const ProcessMemory *m,
                           const PythonFrame *f, int64_t second)
{
    KnownCode *code = find_code(c, p, m, f->code & p->code_mask, second);
    if (!code || code->function.v == 0)
        return (FrameId){0};
    KnownPlace *k = &c->places[hash_pair(f->code, f->instruction) & (PLACE_CACHE_SIZE - 1)];
    if (k->code == f->code && k->instruction == f->instruction && k->version == code->version)
        return k->frame;
    uint32_t line = python_line(p, f, &code->code, bytes_from_str(strbuf_str(&code->lines)));
    *k = (KnownPlace){
        f->code, f->instruction, code->version,
        profile_named_frame(c->profile, c->module, 0, code->function, code->file, line, 0)};
    return k->frame;
}
