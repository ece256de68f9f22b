// SPDX-License-Identifier: Apache-2.0
// From files to evaluated functions, with notes about those that cannot be counted.

#include "coverage/llvm/programs.h"

#include <stdio.h>

#include "elf/elf.h"
#include "llvmcov/containers.h"
#include "llvmcov/sections.h"
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

static bool add_plain_object(const Reader *in, Str path, Bytes file, Error *err)
{
    CovMapSections sections;
    CovMap map;
    if (!cover_object_sections(in->r->arena, file, &sections, err) ||
        !covmap_parse(in->r->arena, sections, &map, err))
        return false;
    cover_data_add_object(&in->p->data, &map, path, &in->p->counts);
    take_build(in, file);
    covmap_deinit(&map);
    in->p->has_mapping = true;
    return true;
}

// A container that is walked.
typedef struct Container {
    const Reader *in;
    Str path;
    size_t depth;  // how many containers it is in
    bool has_any;  // one of its members has a mapping
    Str arch;      // of universal binaries: the part that is wanted
    bool has_part; // it was met
    StrVec parts;  // names of all
} Container;

static bool add_object(const Reader *in, Str path, Bytes file, size_t depth, Error *err);

// Members without mapping are left out: an archive has some of assembler.
static bool add_member(void *ctx, const CovMember *member, Error *err)
{
    Container *c = ctx;
    Str name = arena_printf(c->in->r->arena, "%" STR_FMT "(%" STR_FMT ")", STR_ARG(c->path),
                            STR_ARG(member->name));
    if (!cov_sections_known(member->bytes) && !cov_archive_is(member->bytes))
        return true;
    Error why;
    bool ok = add_object(c->in, name, member->bytes, c->depth + 1, &why);
    c->has_any |= ok;
    if (ok || why.kind == ERROR_NOT_FOUND)
        return true;
    *err = why;
    return error_context(err, "member '%" STR_FMT "'", STR_ARG(member->name));
}

static bool add_part(void *ctx, const CovMember *member, Error *err)
{
    Container *c = ctx;
    if (c->has_part || !str_equal(member->name, c->arch))
        return true;
    c->has_part = true;
    return add_member(ctx, member, err);
}

static bool list_part(void *ctx, const CovMember *member, Error *err)
{
    (void)err;
    Container *c = ctx;
    vec_push(c->in->r->arena, &c->parts, member->name);
    c->has_part |= str_equal(member->name, c->arch);
    return true;
}

static Str joined(Arena *arena, const StrVec *names)
{
    StrBuf text = {0};
    for (size_t i = 0; i < names->len; i++) {
        strbuf_add(&text, i ? STR(", ") : STR(""));
        strbuf_add(&text, names->at[i].len ? names->at[i] : STR("unknown"));
    }
    Str ret = arena_str(arena, strbuf_str(&text));
    strbuf_deinit(&text);
    return ret;
}

// Chooses the part: what --arch says, or that of this machine, or the first.
static bool choose_part(Container *c, Bytes file, Error *err)
{
    Arena *arena = c->in->r->arena;
    Str asked = c->in->r->arch;
    c->arch = asked.len ? asked : cov_universal_here();
    if (!cov_container_each(file, list_part, c, err))
        return false;
    if (asked.len && !c->has_part) {
        error_set(err, ERROR_USAGE, "no part for '%" STR_FMT "'", STR_ARG(asked));
        return error_hint(err, "it has parts for %" STR_FMT, STR_ARG(joined(arena, &c->parts)));
    }
    if (!c->has_part)
        c->arch = c->parts.at[0];
    if (!asked.len && c->parts.len > 1)
        profile_note(c->in->r->profile, NOTE_INFO, STR("part-of-universal"),
                     "of '%" STR_FMT "', which has parts for %" STR_FMT ", that for %" STR_FMT
                     " counts (--arch)",
                     STR_ARG(c->path), STR_ARG(joined(arena, &c->parts)), STR_ARG(c->arch));
    c->has_part = false;
    return true;
}

static bool add_container(const Reader *in, Str path, Bytes file, size_t depth, Error *err)
{
    enum { DEPTH_MAX = 2 }; // archives in a universal binary
    Container c = {.in = in, .path = path, .depth = depth};
    bool is_archive = cov_archive_is(file);
    if (depth >= DEPTH_MAX)
        return error_set(err, ERROR_FORMAT, "an archive within an archive");
    if (!is_archive && !choose_part(&c, file, err))
        return false;
    if (!cov_container_each(file, is_archive ? add_member : add_part, &c, err))
        return false;
    return c.has_any || error_set(err, ERROR_NOT_FOUND, "no coverage mapping in it");
}

static bool add_object(const Reader *in, Str path, Bytes file, size_t depth, Error *err)
{
    return cov_archive_is(file) || cov_universal_is(file)
               ? add_container(in, path, file, depth, err)
               : add_plain_object(in, path, file, err);
}

static bool read_objects(const Reader *in, Error *err)
{
    CoverPrograms *p = in->p;
    for (size_t i = 0; i < in->objects->len; i++) {
        Str path = in->objects->at[i].path;
        MappedFile m = {0};
        if (!os_map_file(path, &m, err))
            return false;
        bool ok = add_object(in, path, m.bytes, 0, err);
        if (ok)
            in->r->built_ns = MAX(in->r->built_ns, m.identity.mtime_ns);
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
