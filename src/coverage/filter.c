// SPDX-License-Identifier: Apache-2.0
// Which source files and lines count, and under which names.

#include "coverage/filter.h"

// Whether one of the runs counts the source.
static bool is_selected(const CoverFilter *f, Str path)
{
    static const StrVec any = {0};
    bool selected = f->selections.len == 0;
    for (size_t i = 0; i < f->selections.len && !selected; i++) {
        CoverSelection s = f->selections.at[i];
        if (f->o->include.len)
            s.include = any;
        selected = cover_selection_keep(&s, path);
    }
    return selected;
}

static bool is_below(Str path, Str folder)
{
    return str_starts_with(path, folder) &&
           (path.len == folder.len || path.ptr[folder.len] == '/' || folder.len == 1);
}

// Whether the user chose the source. Sources of another machine are told by the end of their path.
static bool is_chosen(CoverFilter *f, Str path)
{
    Str file = f->chosen.len ? cover_source_file(&f->source_paths, path) : path;
    for (size_t i = 0; i < f->chosen.len; i++) {
        Str name = f->chosen_names.at[i];
        bool is_end = str_ends_with(path, name) && path.len > name.len &&
                      path.ptr[path.len - name.len - 1] == '/';
        if (is_below(file, f->chosen.at[i]) || is_end)
            return true;
    }
    return f->chosen.len == 0;
}

void cover_filter_choose(CoverFilter *f, const StrVec *paths)
{
    for (size_t i = 0; i < paths->len; i++) {
        Str name = arena_str(&f->arena, paths->at[i]);
        while (name.len > 1 && name.ptr[name.len - 1] == '/')
            name.len--;
        vec_push(&f->arena, &f->chosen_names, name);
        vec_push(&f->arena, &f->chosen, cover_source_file(&f->source_paths, name));
    }
}

bool cover_filter_keep(void *ctx, Str path)
{
    CoverFilter *f = ctx;
    if (!is_chosen(f, path))
        return false;
    CoverSelection asked = {f->o->include, f->o->exclude};
    if (!cover_selection_keep(&asked, path))
        return false;
    if (f->has_regex) {
        bool match = regexec(&f->regex, arena_c_str(&f->arena, path), 0, NULL, 0) == 0;
        if (match)
            return false;
    }
    if (is_selected(f, path))
        return true;
    intern_add(&f->left_out, path);
    return false;
}

static Str apply_maps(CoverFilter *f, Str path)
{
    for (size_t i = 0; i < f->maps.len; i++) {
        Str from = f->maps.at[i].from;
        if (!str_starts_with(path, from) || (path.len > from.len && path.ptr[from.len] != '/'))
            continue;
        return arena_printf(&f->arena, "%" STR_FMT "%" STR_FMT, STR_ARG(f->maps.at[i].to),
                            STR_ARG(str_slice(path, from.len, path.len)));
    }
    return path;
}

static void map_globs(CoverFilter *f, const StrVec *from, StrVec *to)
{
    for (size_t i = 0; i < from->len; i++)
        vec_push(&f->arena, to, arena_str(&f->arena, apply_maps(f, from->at[i])));
}

void cover_filter_select(CoverFilter *f, const CoverSelection *s)
{
    CoverSelection mapped = {0};
    map_globs(f, &s->include, &mapped.include);
    map_globs(f, &s->exclude, &mapped.exclude);
    vec_push(&f->arena, &f->selections, mapped);
}

size_t cover_filter_left_out(const CoverFilter *f)
{
    return f->left_out.texts.len ? f->left_out.texts.len - 1 : 0; // without the empty text
}

static bool add_map(CoverFilter *f, Str text, char sep, const char *option, Error *err)
{
    CoverPathMap m;
    if (!str_split(text, sep, &m.from, &m.to))
        return error_set(err, ERROR_USAGE, "%s: '%" STR_FMT "' has no '%c'", option, STR_ARG(text),
                         sep);
    while (m.from.len > 1 && m.from.ptr[m.from.len - 1] == '/')
        m.from.len--;
    while (m.to.len > 1 && m.to.ptr[m.to.len - 1] == '/')
        m.to.len--;
    vec_push(&f->arena, &f->maps, m);
    return true;
}

static bool compile(Arena *arena, Str text, const char *option, regex_t *ret, Error *err)
{
    int bad = regcomp(ret, arena_c_str(arena, text), REG_EXTENDED | REG_NOSUB);
    if (bad == 0)
        return true;
    char why[256];
    regerror(bad, ret, why, sizeof(why));
    return error_set(err, ERROR_USAGE, "%s: %s", option, why);
}

static bool compile_patterns(CoverFilter *f, Error *err)
{
    static const char *const options[COVER_PATTERN_COUNT] = {"--excl-line",     "--excl-start",
                                                             "--excl-stop",     "--excl-br-line",
                                                             "--excl-br-start", "--excl-br-stop"};
    for (size_t i = 0; i < COVER_PATTERN_COUNT; i++) {
        if (f->o->patterns[i].len == 0)
            continue;
        if (!compile(&f->arena, f->o->patterns[i], options[i], &f->pattern_regexes[i], err))
            return false;
        f->patterns.at[i] = &f->pattern_regexes[i];
        f->has_patterns = true;
    }
    return true;
}

bool cover_filter_init(CoverFilter *f, const CoverFilterOptions *o, Profile *profile, Error *err)
{
    f->o = o;
    f->profile = profile;
    f->sources.folders = o->source_folders;
    cover_source_paths_init(&f->source_paths, &f->arena);
    intern_init(&f->paths, &f->arena);
    intern_init(&f->left_out, &f->arena);
    for (size_t i = 0; i < o->prefix_maps.len; i++)
        if (!add_map(f, o->prefix_maps.at[i], '=', "--prefix-map", err))
            return false;
    for (size_t i = 0; i < o->equivalences.len; i++)
        if (!add_map(f, o->equivalences.at[i], ',', "--path-equivalence", err))
            return false;
    if (o->ignore_regex.len) {
        if (!compile(&f->arena, o->ignore_regex, "--ignore-filename-regex", &f->regex, err))
            return false;
        f->has_regex = true;
    }
    return compile_patterns(f, err);
}

void cover_filter_deinit(CoverFilter *f)
{
    if (f->has_regex)
        regfree(&f->regex);
    for (size_t i = 0; i < COVER_PATTERN_COUNT; i++)
        if (f->patterns.at[i])
            regfree(&f->pattern_regexes[i]);
    cover_sources_deinit(&f->sources);
    cover_source_paths_deinit(&f->source_paths);
    if (f->paths.arena)
        intern_deinit(&f->paths);
    if (f->left_out.arena)
        intern_deinit(&f->left_out);
    arena_deinit(&f->arena);
}

Str cover_filter_map(void *ctx, Str path)
{
    CoverFilter *f = ctx;
    Str mapped = apply_maps(f, path);
    return f->keep_spelling ? mapped : cover_source_path(&f->source_paths, mapped);
}

CoverExclusions *cover_filter_exclusions(void *ctx, Str path)
{
    CoverFilter *f = ctx;
    uint32_t id = intern_add(&f->paths, path);
    if (id < f->found.len)
        return f->found.at[id];
    vec_extend(&f->arena, &f->found, id + 1 - f->found.len);
    CoverExclusions e;
    Str text;
    if (f->is_changed && f->is_changed(f->is_changed_ctx, path))
        return NULL;
    if (cover_source_text(&f->sources, path, &text) &&
        cover_exclusions_find(&f->arena, text, f->has_patterns ? &f->patterns : NULL, &e)) {
        CoverExclusions *kept = arena_new(&f->arena, CoverExclusions);
        *kept = e;
        f->found.at[id] = kept;
        if (e.open)
            profile_note(f->profile, NOTE_WARNING, STR("mark-open"),
                         "'%" STR_FMT
                         "': %u exclusion%s not stopped: the rest of the file is left out",
                         STR_ARG(path), e.open, e.open == 1 ? " is" : "s are");
        if (e.unread)
            profile_note(f->profile, NOTE_WARNING, STR("mark-unread"),
                         "'%" STR_FMT
                         "': %u EXCL_BR_WITHOUT_HIT without effect: \": missed/all\" is to "
                         "stand behind it, as in \": 1/2\"",
                         STR_ARG(path), e.unread);
    }
    return f->found.at[id];
}

bool cover_filter_has_marks(const CoverFilter *f)
{
    for (size_t i = 0; i < f->found.len; i++)
        if (f->found.at[i])
            return true;
    return false;
}

void cover_filter_settle(CoverFilter *f)
{
    for (uint32_t i = 0; i < f->found.len; i++) {
        CoverExclusions *e = f->found.at[i];
        if (!e)
            continue;
        cover_exclusions_settle(e);
        if (e->unplaced)
            profile_note(
                f->profile, NOTE_WARNING, STR("mark-unplaced"),
                "'%" STR_FMT "': %u mark%s of functions without effect: no function is known to "
                "start there, or not where it ends",
                STR_ARG(intern_get(&f->paths, i)), e->unplaced, e->unplaced == 1 ? "" : "s");
        e->unplaced = 0;
    }
}
