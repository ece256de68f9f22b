// SPDX-License-Identifier: Apache-2.0
// From files to evaluated functions, with notes about those that cannot be counted.

#include "coverage/llvm/programs.h"

#include <stdio.h>

#include "elf/elf.h"
#include "os/file.h"

void cover_programs_init(CoverPrograms *p, Arena *arena)
{
    p->counts.arena = arena;
    p->counts.correlations = &p->correlations;
    cover_correlations_init(&p->correlations);
    cover_data_init(&p->data, arena);
}

void cover_programs_deinit(CoverPrograms *p)
{
    cover_counts_deinit(&p->counts);
    cover_correlations_deinit(&p->correlations);
    cover_data_deinit(&p->data);
}

// What the readers below need.
typedef struct Reader {
    CoverReading *r;
    const CoverInputVec *profiles, *objects;
    CoverPrograms *p;
} Reader;

// ---- Files -----------------------------------------------------------------------

static bool add_profiles(const Reader *in, bool spare, Error *err)
{
    CoverCounts *counts = &in->p->counts;
    for (size_t i = 0; i < in->profiles->len; i++) {
        const CoverInput *input = &in->profiles->at[i];
        if (input->is_spare != spare)
            continue;
        MappedFile m = {0};
        // Folders hold what killed programs left: one bad file there is a warning.
        bool ok = os_map_file(input->path, &m, err) &&
                  cover_counts_add(counts, input->path, m.bytes, input->weight, err);
        os_unmap_file(&m);
        if (!ok && input->asked)
            return false;
        if (!ok)
            cover_note_left_out(in->r, err);
    }
    return true;
}

static bool read_profiles(const Reader *in, Error *err)
{
    CoverCounts *counts = &in->p->counts;
    for (size_t i = 0; i < in->objects->len; i++)
        cover_correlations_offer(&in->p->correlations, in->objects->at[i].path);
    if (!add_profiles(in, false, err))
        return false;
    bool has_raw = counts->profile_count > 0;
    if (!has_raw && !add_profiles(in, true, err))
        return false;
    for (size_t i = 0; i < in->profiles->len && has_raw; i++)
        if (in->profiles->at[i].is_spare)
            cover_note_spare(in->r, in->profiles->at[i].path);
    if (in->profiles->len && counts->profile_count == 0)
        return error_set(err, ERROR_FORMAT, "none of the %zu profiles could be read",
                         in->profiles->len);
    return cover_counts_finish(counts, err);
}

static void take_build(const Reader *in, Bytes file)
{
    Elf elf;
    if (!elf_parse(in->r->arena, file, &elf, NULL))
        return;
    BuildId id = elf_build_id(&elf);
    if (id.len)
        vec_push(in->r->arena, &in->p->builds, id);
}

// An object without mapping (a shell, a library of others) is left out beside objects that have it.
static void note_no_mapping(const Reader *in, Str path)
{
    profile_note(in->r->profile, NOTE_WARNING, STR("object-without-mapping"),
                 "'%" STR_FMT "' has no coverage mapping: it is left out", STR_ARG(path));
}

static bool read_objects(const Reader *in, Error *err)
{
    Arena *arena = in->r->arena;
    CoverPrograms *p = in->p;
    for (size_t i = 0; i < in->objects->len; i++) {
        Str path = in->objects->at[i].path;
        MappedFile m = {0};
        CovMapSections sections;
        CovMap map;
        if (!os_map_file(path, &m, err))
            return false;
        bool ok = cover_object_sections(arena, m.bytes, &sections, err) &&
                  covmap_parse(arena, sections, &map, err);
        if (ok) {
            in->r->built_ns = MAX(in->r->built_ns, m.identity.mtime_ns);
            cover_data_add_object(&p->data, &map, path, &p->counts);
            take_build(in, m.bytes);
            covmap_deinit(&map);
            p->has_mapping = true;
        }
        os_unmap_file(&m);
        bool none = !ok && err->kind == ERROR_NOT_FOUND && in->objects->len > 1;
        if (!ok && !none)
            return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
        if (none && !cover_correlations_used(&p->correlations, path)) // else a debug file
            note_no_mapping(in, path);
    }
    if (p->has_mapping)
        return true;
    error_set(err, ERROR_NOT_FOUND, "none of the %zu objects has coverage mapping",
              in->objects->len);
    return error_hint(err,
                      "compile with clang -fprofile-instr-generate -fcoverage-mapping, or rustc "
                      "-C instrument-coverage");
}

// ---- What could not be counted ----------------------------------------------------

#define KEY_NOT_COUNTED   STR("function-not-counted")
#define KEY_ANOTHER_BUILD STR("profile-of-another-build")
#define KEY_COUNTS        STR("counts-left-out")

static void note_issue(Profile *into, const CoverIssue *issue)
{
    char profile_hash[32] = "none";
    if (issue->profile_hash)
        snprintf(profile_hash, sizeof(profile_hash), "0x%llx",
                 (unsigned long long)issue->profile_hash);
    profile_note(into, NOTE_WARNING, KEY_NOT_COUNTED,
                 "function '%" STR_FMT "' of '%" STR_FMT "' (%" STR_FMT
                 "): %s; hash 0x%llx in the object, %s in the profile",
                 STR_ARG(issue->function), STR_ARG(issue->object), STR_ARG(issue->file),
                 cover_issue_text(issue->kind), (unsigned long long)issue->object_hash,
                 profile_hash);
}

static void note_issues(const CoverData *d, Profile *into)
{
    size_t counts[COVER_ISSUE_COUNT] = {0};
    for (size_t i = 0; i < d->issues.len; i++) {
        const CoverIssue *issue = &d->issues.at[i];
        counts[issue->kind]++;
        if (d->explain)
            note_issue(into, issue);
    }
    for (int kind = 0; kind < COVER_ISSUE_COUNT && !d->explain; kind++)
        if (counts[kind])
            profile_note(into, NOTE_WARNING, KEY_NOT_COUNTED,
                         "%zu function%s: %s (--explain names %s)", counts[kind],
                         counts[kind] == 1 ? "" : "s", cover_issue_text((CoverIssueKind)kind),
                         counts[kind] == 1 ? "it" : "them");
}

// Whether one of the objects has one of the profile's build-ids. Yes when nothing is known.
static bool is_of_objects(const Reader *in, const ProfRaw *p)
{
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    bool any = false;
    c.big_endian = p->big_endian;
    while (cursor_more(&c)) {
        uint64_t len = cursor_u64(&c);
        Bytes id = cursor_padded(&c, len, 8);
        for (size_t i = 0; i < in->p->builds.len && id.len; i++)
            if (bytes_equal(id, in->p->builds.at[i].bytes, in->p->builds.at[i].len))
                return true;
        any |= id.len != 0;
    }
    return !any;
}

static void note_writer(const Reader *in, Str path, const ProfRaw *p)
{
    Arena *arena = in->r->arena;
    BuildId writer = {0};
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    c.big_endian = p->big_endian;
    uint64_t len = cursor_u64(&c);
    Bytes id = cursor_padded(&c, len, 8);
    writer.len = (uint32_t)MIN(id.len, sizeof(writer.bytes));
    if (writer.len)
        memcpy(writer.bytes, id.ptr, writer.len);
    profile_note(in->r->profile, NOTE_WARNING, KEY_ANOTHER_BUILD,
                 "'%" STR_FMT "' was written by build %" STR_FMT
                 ", and the object is of build %" STR_FMT "%s",
                 STR_ARG(path), STR_ARG(build_id_hex(arena, &writer)),
                 STR_ARG(build_id_hex(arena, &in->p->builds.at[0])),
                 in->p->builds.len > 1 ? " (or that of the other objects)" : "");
}

// Where functions are of another build: names the raw profiles whose build-id differs.
static void note_stale_profiles(const Reader *in)
{
    enum { NOTED_MAX = 3 };
    size_t noted = 0;
    for (size_t i = 0; i < in->profiles->len && in->p->builds.len; i++) {
        Str path = in->profiles->at[i].path;
        MappedFile m = {0};
        ProfRaw p;
        if (!os_map_file(path, &m, NULL))
            continue;
        if (profraw_is(m.bytes) && profraw_parse(m.bytes, 0, &p, NULL) && !is_of_objects(in, &p) &&
            ++noted <= NOTED_MAX)
            note_writer(in, path, &p);
        os_unmap_file(&m);
    }
    if (noted > NOTED_MAX)
        profile_note(in->r->profile, NOTE_WARNING, KEY_ANOTHER_BUILD,
                     "and %zu more profiles of other builds", noted - NOTED_MAX);
}

static void note_number(Profile *into, uint64_t count, const char *text)
{
    if (count)
        profile_note(into, NOTE_WARNING, KEY_COUNTS, "%llu %s", (unsigned long long)count, text);
}

static void note_texts(Profile *into, const StrVec *texts)
{
    for (size_t i = 0; i < texts->len; i++)
        profile_note(into, NOTE_WARNING, KEY_COUNTS, "%" STR_FMT, STR_ARG(texts->at[i]));
}

void cover_counts_note(const CoverCounts *c, Profile *into)
{
    note_texts(into, &c->notes);
    if (c->correlations)
        note_texts(into, &c->correlations->notes);
    note_number(into, c->mismatched,
                "records left out: another number of counters under the same name and hash");
    note_number(into, c->site_mismatched,
                "value profiles left out: another number of sites under the same name and hash");
    note_number(into, c->saturated, "sums stopped at 2^64 - 3");
}

bool cover_programs_read(CoverReading *r, const CoverInputVec *profiles,
                         const CoverInputVec *objects, CoverPrograms *p, Error *err)
{
    const Reader in = {r, profiles, objects, p};
    uint64_t stale = 0;
    if (!read_profiles(&in, err) || !read_objects(&in, err))
        return false;
    cover_counts_note(&p->counts, r->profile);
    note_issues(&p->data, r->profile);
    for (size_t i = 0; i < p->data.issues.len; i++)
        stale += p->data.issues.at[i].kind == COVER_ISSUE_HASH;
    r->stale += stale;
    if (r->stale)
        note_stale_profiles(&in);
    return true;
}
