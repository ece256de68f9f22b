// SPDX-License-Identifier: Apache-2.0
// Coverage of a change: lines into classes.

#include "analyse/cover/change.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/cover/totals.h"

static const struct {
    const char *name, *meaning;
} classes[COVER_CLASS_COUNT] = {
    [COVER_UNC] = {"UNC", "uncovered new code"},
    [COVER_LBC] = {"LBC", "lost baseline coverage"},
    [COVER_UIC] = {"UIC", "uncovered included code"},
    [COVER_UBC] = {"UBC", "uncovered baseline code"},
    [COVER_GBC] = {"GBC", "gained baseline coverage"},
    [COVER_GIC] = {"GIC", "gained included coverage"},
    [COVER_GNC] = {"GNC", "gained new coverage"},
    [COVER_CBC] = {"CBC", "covered baseline code"},
    [COVER_EUB] = {"EUB", "excluded uncovered baseline"},
    [COVER_ECB] = {"ECB", "excluded covered baseline"},
    [COVER_DUB] = {"DUB", "deleted uncovered baseline"},
    [COVER_DCB] = {"DCB", "deleted covered baseline"},
};

const char *cover_class_name(CoverClass c)
{
    return classes[c].name;
}

const char *cover_class_meaning(CoverClass c)
{
    return classes[c].meaning;
}

bool cover_class_find(Str name, CoverClass *ret)
{
    for (int c = 0; c < COVER_CLASS_COUNT; c++)
        if (str_equal(name, str_from_c(classes[c].name))) {
            *ret = (CoverClass)c;
            return true;
        }
    return false;
}

// ---- Line counts -----------------------------------------------------------------

// A file's lines, ascending, each once.
typedef struct Row {
    uint32_t line;
    bool hit;
} Row;
typedef Vec(Row) Rows;

static void read_rows(CoverSide side, const CoverFileRows *f, Rows *ret)
{
    ret->len = 0;
    if (!f)
        return;
    const LineCounts *c = &side.profile->line_counts;
    for (uint32_t i = f->lines.first; i < f->lines.end; i++) {
        uint32_t row = side.files->lines.at[i];
        bool hit = c->count.at[row] > 0;
        if (ret->len && vec_last(ret).line == c->line.at[row])
            vec_last(ret).hit |= hit;
        else
            vec_push(NULL, ret, (Row){c->line.at[row], hit});
    }
}

static const Row *find_row(const Rows *rows, uint32_t line)
{
    size_t low = PARTITION_POINT(i, rows->len, rows->at[i].line < line);
    return low < rows->len && rows->at[low].line == line ? &rows->at[low] : NULL;
}

// ---- Which line was which --------------------------------------------------------

// The line of the other side, or 0 when the change made or took it. `at` moves
// along with ascending lines.
typedef struct Follower {
    const DiffFile *file; // NULL: nothing changed
    bool from_new;
    size_t at;
    int64_t shift; // of the lines behind the changes passed so far
} Follower;

static uint32_t follow(Follower *f, uint32_t line)
{
    for (; f->file && f->at < f->file->changes.len; f->at++) {
        const DiffChange *c = &f->file->changes.at[f->at];
        uint32_t first = f->from_new ? c->new_first : c->old_first;
        uint32_t count = f->from_new ? c->new_count : c->old_count;
        if (line < first)
            break;
        if (line - first < count)
            return 0;
        f->shift += f->from_new ? (int64_t)c->old_count - c->new_count
                                : (int64_t)c->new_count - c->old_count;
    }
    int64_t other = line + f->shift;
    return other > 0 && other <= UINT32_MAX ? (uint32_t)other : 0;
}

// ---- Files -----------------------------------------------------------------------

static bool ends_with_path(Str path, Str end)
{
    return end.len && str_ends_with(path, end) &&
           (path.len == end.len || path.ptr[path.len - end.len - 1] == '/');
}

bool diff_changes(const DiffFiles *diff, Str path)
{
    for (size_t i = 0; i < diff->len; i++)
        if (ends_with_path(path, diff->at[i].old_path))
            return true;
    return false;
}

static Str below_root(Str path, Str root)
{
    if (root.len && str_starts_with(path, root) && path.len > root.len && path.ptr[root.len] == '/')
        return str_slice(path, root.len + 1, path.len);
    return path;
}

static const CoverFileRows *find_exact(CoverSide side, Str path)
{
    if (!side.profile)
        return NULL;
    const CoverFiles *c = side.files;
    size_t i = PARTITION_POINT(
        k, c->files.len, str_compare(profile_text(side.profile, c->files.at[k].file), path) < 0);
    bool is_found =
        i < c->files.len && str_equal(profile_text(side.profile, c->files.at[i].file), path);
    return is_found ? &c->files.at[i] : NULL;
}

// The file of that path: exactly, else the only one that ends with it.
static const CoverFileRows *find_file(CoverSide side, Str path, Str root)
{
    const CoverFileRows *found = NULL;
    size_t matches = 0;
    if (!side.profile || path.len == 0)
        return NULL;
    for (size_t i = 0; i < side.files->files.len; i++) {
        const CoverFileRows *f = &side.files->files.at[i];
        Str known = profile_text(side.profile, f->file);
        if (str_equal(below_root(known, root), path) || str_equal(known, path))
            return f;
        if (ends_with_path(known, path)) {
            found = f;
            matches++;
        }
    }
    return matches == 1 ? found : NULL;
}

typedef struct Pass {
    Arena *arena;
    CoverSide base, now;
    Str root;
    CoverDiff *ret;
    Rows old_rows, new_rows;
} Pass;

static void add_line(Pass *p, CoverDiffFile *file, uint32_t line, CoverClass class)
{
    vec_push(p->arena, &file->lines, (CoverDiffLine){line, class});
    file->counts[class]++;
    p->ret->counts[class]++;
}

static CoverClass class_of_kept(const Row *now, const Row *before)
{
    if (!before)
        return now->hit ? COVER_GIC : COVER_UIC;
    if (before->hit)
        return now->hit ? COVER_CBC : COVER_LBC;
    return now->hit ? COVER_GBC : COVER_UBC;
}

static void classify_new(Pass *p, const DiffFile *diff, CoverDiffFile *file)
{
    Follower follower = {.file = diff, .from_new = true};
    for (size_t i = 0; i < p->new_rows.len; i++) {
        const Row *row = &p->new_rows.at[i];
        uint32_t old_line = follow(&follower, row->line);
        if (old_line == 0)
            add_line(p, file, row->line, row->hit ? COVER_GNC : COVER_UNC);
        else if (p->base.profile)
            add_line(p, file, row->line, class_of_kept(row, find_row(&p->old_rows, old_line)));
    }
}

static void classify_gone(Pass *p, const DiffFile *diff, CoverDiffFile *file)
{
    Follower follower = {.file = diff};
    for (size_t i = 0; i < p->old_rows.len; i++) {
        const Row *row = &p->old_rows.at[i];
        uint32_t new_line = follow(&follower, row->line);
        if (new_line == 0)
            add_line(p, file, row->line, row->hit ? COVER_DCB : COVER_DUB);
        else if (!find_row(&p->new_rows, new_line))
            add_line(p, file, row->line, row->hit ? COVER_ECB : COVER_EUB);
    }
}

// The place of a file in its side's list.
static uint32_t number_of(CoverSide side, const CoverFileRows *f)
{
    return f ? (uint32_t)(f - side.files->files.at) : UINT32_MAX;
}

static void classify_file(Pass *p, const DiffFile *diff, const CoverFileRows *before,
                          const CoverFileRows *now)
{
    CoverDiffFile file = {.before = number_of(p->base, before), .now = number_of(p->now, now)};
    file.path =
        now ? profile_text(p->now.profile, now->file) : profile_text(p->base.profile, before->file);
    read_rows(p->base, before, &p->old_rows);
    read_rows(p->now, now, &p->new_rows);
    classify_new(p, diff, &file);
    classify_gone(p, diff, &file);
    if (file.lines.len)
        vec_push(p->arena, &p->ret->files, file);
}

static int compare_files(const void *a, const void *b)
{
    return str_compare(((const CoverDiffFile *)a)->path, ((const CoverDiffFile *)b)->path);
}

// Diffs by file of each side; 1 more than the row of the diff, 0: unchanged.
typedef struct Matches {
    U32Vec base, now;
} Matches;

static void match_files(Pass *p, const DiffFiles *diff, Matches *m)
{
    vec_extend(p->arena, &m->base, p->base.profile ? p->base.files->files.len : 0);
    vec_extend(p->arena, &m->now, p->now.files->files.len);
    for (size_t i = 0; i < diff->len; i++) {
        const CoverFileRows *before = find_file(p->base, diff->at[i].old_path, p->root);
        const CoverFileRows *now = find_file(p->now, diff->at[i].new_path, p->root);
        if (before)
            m->base.at[number_of(p->base, before)] = (uint32_t)i + 1;
        if (now)
            m->now.at[number_of(p->now, now)] = (uint32_t)i + 1;
        if (!before && !now && diff->at[i].new_path.len)
            vec_push(p->arena, &p->ret->unmatched, diff->at[i].new_path);
    }
}

void cover_diff_classify(Arena *arena, const DiffFiles *diff, CoverSide base, CoverSide now,
                         Str root, CoverDiff *ret)
{
    Pass p = {.arena = arena, .base = base, .now = now, .root = root, .ret = ret};
    Matches m = {0};
    U8Vec taken = {0}; // files of the baseline that have their successor
    *ret = (CoverDiff){0};
    match_files(&p, diff, &m);
    vec_extend(arena, &taken, m.base.len);
    for (size_t i = 0; i < now.files->files.len; i++) {
        const CoverFileRows *file = &now.files->files.at[i];
        Str path = profile_text(now.profile, file->file);
        const DiffFile *change = m.now.at[i] ? &diff->at[m.now.at[i] - 1] : NULL;
        Str old_path = change ? change->old_path : below_root(path, root);
        const CoverFileRows *before = change ? NULL : find_exact(base, path);
        before = before ? before : find_file(base, old_path, root);
        if (before)
            taken.at[number_of(base, before)] = 1;
        classify_file(&p, change, before, file);
    }
    for (size_t i = 0; i < m.base.len; i++)
        if (!taken.at[i])
            classify_file(&p, m.base.at[i] ? &diff->at[m.base.at[i] - 1] : NULL,
                          &base.files->files.at[i], NULL);
    if (ret->files.len)
        qsort(ret->files.at, ret->files.len, sizeof(ret->files.at[0]), compare_files);
    vec_free(&p.old_rows);
    vec_free(&p.new_rows);
}

// ---- Beside a baseline -----------------------------------------------------------

// As shares are shown: only complete coverage is 100.
static double shown_share(CoverTally t)
{
    double percent = round(1e4 * (double)t.covered / (double)t.count) / 100;
    return t.covered < t.count ? fmin(percent, 99.99) : percent;
}

bool cover_share_change(CoverTally before, CoverTally now, double *ret)
{
    if (!before.count || !now.count)
        return false;
    double change = round(100 * (shown_share(now) - shown_share(before))) / 100;
    *ret = change == 0 ? 0 : change; // never -0
    return true;
}

static int compare_changes(const void *a, const void *b)
{
    return str_compare(((const CoverFileChange *)a)->path, ((const CoverFileChange *)b)->path);
}

void cover_changes_find(Arena *arena, CoverSide base, CoverSide now, const CoverDiff *diff,
                        CoverChanges *ret)
{
    size_t base_count = base.files->files.len, now_count = now.files->files.len;
    const CoverTotals *before = cover_totals_beside(arena, base.profile, base.files);
    const CoverDiffFile **lines = arena_array(arena, const CoverDiffFile *, now_count);
    *ret = (CoverChanges){0};
    memcpy(ret->counts, diff->counts, sizeof(ret->counts));
    for (size_t i = 0; i < base_count; i++)
        cover_totals_add(&ret->before, &before[i]);
    for (size_t i = 0; i < diff->files.len; i++) {
        const CoverDiffFile *f = &diff->files.at[i];
        if (f->now != UINT32_MAX)
            lines[f->now] = f;
        else // the baseline's alone
            vec_push(
                arena, &ret->files,
                ((CoverFileChange){
                    .path = f->path, .before = before[f->before], .has_before = true, .lines = f}));
    }
    for (size_t i = 0; i < now_count; i++) {
        CoverFileChange c = {.path = profile_text(now.profile, now.files->files.at[i].file),
                             .has_now = true,
                             .lines = lines[i]};
        c.has_before = lines[i] && lines[i]->before != UINT32_MAX;
        if (c.has_before)
            c.before = before[lines[i]->before];
        ret->shared += c.has_before;
        vec_push(arena, &ret->files, c);
    }
    if (ret->files.len)
        qsort(ret->files.at, ret->files.len, sizeof(ret->files.at[0]), compare_changes);
}

const CoverFileChange *cover_changes_get(const CoverChanges *c, Str path)
{
    size_t i = PARTITION_POINT(k, c->files.len, str_compare(c->files.at[k].path, path) < 0);
    return i < c->files.len && str_equal(c->files.at[i].path, path) ? &c->files.at[i] : NULL;
}
