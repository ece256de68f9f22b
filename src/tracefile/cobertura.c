// SPDX-License-Identifier: Apache-2.0
// Cobertura's XML, as gcovr, cargo-tarpaulin, coverage.py and many others write it.
// Document: cobertura.sourceforge.net/xml/coverage-04.dtd.

#include "tracefile/tracefile.h"
#include "tracefile/xml.h"

typedef struct Reader {
    CoverSet *set;
    Arena *scratch;
    Xml xml;
    StrVec sources;
    CoverSetFile file; // of the present class; its lists are the heap's
    bool in_class, in_method;
    size_t classes; // that are whole
    CoverSetFunction method;
    const char *bad;
} Reader;

static uint64_t number_of(Reader *r, const char *attribute)
{
    uint64_t v = 0;
    if (!str_parse_u64(xml_value(&r->xml, r->scratch, attribute), 10, &v))
        r->bad = "a number was expected";
    return v;
}

// Names are relative to the one source folder, where there is one.
static Str full_name(Reader *r, Str name)
{
    if (r->sources.len != 1 || (name.len && name.ptr[0] == '/') || r->sources.at[0].len == 0 ||
        r->sources.at[0].ptr[0] != '/')
        return name;
    Str folder = r->sources.at[0];
    const char *slash = str_ends_with(folder, STR("/")) ? "" : "/";
    return arena_printf(r->scratch, "%" STR_FMT "%s%" STR_FMT, STR_ARG(folder), slash,
                        STR_ARG(name));
}

// "50% (1/2)": how many of the line's branches were taken is known, not which.
static void add_branches(Reader *r, uint32_t line, uint64_t hits)
{
    // More than any compiler makes of one line; each costs memory.
    enum { BRANCHES_MAX = 1 << 12 };
    Str text = xml_value(&r->xml, r->scratch, "condition-coverage"), head, rest, taken, all;
    uint64_t taken_count, count;
    if (!str_split(text, '(', &head, &rest) || !str_split(rest, '/', &taken, &all) ||
        !str_parse_u64(taken, 10, &taken_count) ||
        !str_parse_u64(str_slice(all, 0, str_find_char(all, ')')), 10, &count) ||
        count > BRANCHES_MAX)
        return;
    for (uint32_t i = 0; i < count; i++)
        vec_push(NULL, &r->file.branches,
                 (CoverSetBranch){
                     .line = line, .branch = i, .is_reached = hits > 0, .count = i < taken_count});
}

static void read_line(Reader *r)
{
    uint64_t line = number_of(r, "number"), hits = number_of(r, "hits");
    if (r->bad || line > UINT32_MAX) {
        r->bad = "the number or the hits of a line are not a number";
        return;
    }
    if (r->in_method && r->method.line == 0) {
        r->method.line = (uint32_t)line;
        r->method.count = hits;
    }
    // Lines of methods stand again among those of the class.
    if (r->in_method || !r->in_class)
        return;
    vec_push(NULL, &r->file.lines, (CoverSetLine){(uint32_t)line, hits});
    add_branches(r, (uint32_t)line, hits);
}

static void begin(Reader *r, Str name)
{
    if (str_equal(name, STR("class"))) {
        if (r->in_class)
            r->bad = "a class within a class";
        Str path = full_name(r, xml_value(&r->xml, r->scratch, "filename"));
        r->in_class = true;
        r->file.path = cover_set_text(r->set, path);
    } else if (str_equal(name, STR("method"))) {
        Str method = xml_value(&r->xml, r->scratch, "name");
        r->in_method = r->in_class;
        r->method = (CoverSetFunction){.name = cover_set_text(r->set, method)};
    } else if (str_equal(name, STR("line"))) {
        read_line(r);
    }
}

static void end(Reader *r, Str name)
{
    if (str_equal(name, STR("source"))) {
        vec_push(r->scratch, &r->sources, xml_decode(r->scratch, str_trim(r->xml.content)));
    } else if (str_equal(name, STR("method")) && r->in_method) {
        if (r->method.name.len)
            vec_push(NULL, &r->file.functions, r->method);
        r->in_method = false;
    } else if (str_equal(name, STR("class")) && r->in_class) {
        cover_set_file_normalise(&r->file);
        CoverSetFile *into = cover_set_file(r->set, r->file.path);
        cover_set_file_add(r->set->arena, into, &r->file);
        r->file.lines.len = r->file.branches.len = r->file.functions.len = 0;
        r->in_class = false;
        r->classes++;
    }
}

// A report that ends too early has its whole classes.
static bool check(Reader *r, Error *err)
{
    if (xml_check(&r->xml, err))
        return true;
    if (!xml_is_cut(&r->xml) || r->classes == 0)
        return false;
    vec_push(r->set->arena, &r->set->notes,
             arena_printf(r->set->arena, "%zu whole classes read, the rest is left out: %s",
                          r->classes, err->text));
    return true;
}

bool tracefile_read_cobertura(CoverSet *into, Bytes file, Error *err)
{
    Arena scratch = {0};
    Reader r = {.set = into, .scratch = &scratch, .xml = xml_over(str_from_bytes(file))};
    bool any = false;
    while (!r.bad && xml_next(&r.xml)) {
        if (!any && !str_equal(r.xml.name, STR("coverage")))
            r.bad = "the root is no <coverage>";
        any = true;
        if (r.xml.is_end)
            end(&r, r.xml.name);
        else
            begin(&r, r.xml.name);
    }
    bool ok = check(&r, err);
    if (ok && r.bad)
        ok = error_set(err, ERROR_FORMAT, "Cobertura: %s before offset 0x%zx", r.bad, r.xml.at);
    vec_free(&r.file.lines);
    vec_free(&r.file.branches);
    vec_free(&r.file.functions);
    arena_deinit(&scratch);
    return ok;
}
