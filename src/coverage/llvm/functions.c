// SPDX-License-Identifier: Apache-2.0
// Evaluates the mapping of objects with the counts of profiles.

#include "coverage/llvm/functions.h"

#include "elf/elf.h"
#include "llvmcov/sections.h"

void cover_data_init(CoverData *d, Arena *arena)
{
    *d = (CoverData){.arena = arena};
    intern_init(&d->files, arena);
}

void cover_data_deinit(CoverData *d)
{
    intern_deinit(&d->files);
    table_deinit(&d->seen);
    covmap_function_deinit(&d->scratch);
    vec_free(&d->values);
    vec_free(&d->states);
    vec_free(&d->open);
    vec_free(&d->functions);
    vec_free(&d->regions);
    vec_free(&d->function_files);
    vec_free(&d->region_starts);
    vec_free(&d->decisions);
    vec_free(&d->conditions);
    vec_free(&d->vectors);
    cov_mcdc_deinit(&d->mcdc);
}

const char *cover_issue_text(CoverIssueKind kind)
{
    static const char *const texts[COVER_ISSUE_COUNT] = {
        [COVER_ISSUE_HASH] = "the profile is of another build of it",
        [COVER_ISSUE_COUNTER] = "its mapping asks for a counter that the profile does not have",
        [COVER_ISSUE_MAPPING] = "its mapping is broken",
        [COVER_ISSUE_DECISION] = "the conditions of a decision cannot be evaluated",
        [COVER_ISSUE_NEGATIVE] = "a difference of counters went below zero; shown as 0",
        [COVER_ISSUE_NO_PROFILE] = "no profile has it; counted as never run",
        [COVER_ISSUE_DUPLICATE] = "it is there already, from another object or unit",
        [COVER_ISSUE_NO_NAME] = "the object does not hold its name, nor does a profile",
    };
    return texts[kind];
}

// 64-bit and little-endian, which elf/ reads, compressed sections included.
static bool is_linked_elf(Bytes file)
{
    return file.len > 18 && memcmp(file.ptr, "\177ELF\2\1", 6) == 0 && file.ptr[16] != 1;
}

static bool elf_sections(Arena *arena, Bytes file, CovMapSections *s, Error *err)
{
    Elf elf;
    if (!elf_parse(arena, file, &elf, err) ||
        !elf_section_load(arena, &elf, STR("__llvm_covmap"), &s->covmap, err) ||
        !elf_section_load(arena, &elf, STR("__llvm_covfun"), &s->covfun, err) ||
        !elf_section_load(arena, &elf, STR("__llvm_prf_names"), &s->names, err))
        return false;
    const ElfSection *names = elf_section_find(&elf, STR("__llvm_prf_names"));
    s->names_address = names ? names->svma : 0;
    // Where profiles are correlated with the program, names are not loaded.
    return s->names.len || elf_section_load(arena, &elf, STR("__llvm_covnames"), &s->names, err);
}

bool cover_object_sections(Arena *arena, Bytes file, CovMapSections *ret, Error *err)
{
    if (covmap_is_test_form(file))
        return covmap_open_test_form(file, ret, err);
    CovMapSections s = {.pointer_size = 8};
    if (is_linked_elf(file) ? !elf_sections(arena, file, &s, err)
                            : !cov_sections_find(arena, file, &s, err))
        return false;
    if (s.covmap.len == 0) {
        error_set(err, ERROR_NOT_FOUND, "no coverage mapping in it");
        if (s.names.len)
            return error_hint(err, "it has counters, but no mapping to lines: compile with "
                                   "-fcoverage-mapping too, or give the file from before it was "
                                   "stripped ('llvm-strip' takes the mapping, 'strip' leaves it)");
        return error_hint(err, "compile with clang -fprofile-instr-generate -fcoverage-mapping, "
                               "or rustc -C instrument-coverage");
    }
    *ret = s;
    return true;
}

// ---- Expressions -----------------------------------------------------------------

enum { NOT_VISITED, VISITING, DONE };

typedef struct Evaluator {
    const CovFunctionMap *map;
    const uint64_t *counters; // NULL: every counter is 0
    uint32_t counter_count;
    CoverData *d; // values and states of the expressions
    bool failed;  // a counter out of range, a broken expression, or ones that need each other
} Evaluator;

// The value of a word whose expression, if it is one, is done.
static int64_t value_of(Evaluator *e, CovCounter c)
{
    uint32_t index = cov_counter_index(c);
    switch (cov_counter_tag(c)) {
    case COV_ZERO:
        return 0;
    case COV_COUNTER:
        if (!e->counters)
            return 0;
        if (index >= e->counter_count) {
            e->failed = true;
            return 0;
        }
        // A sum that stopped at COVER_COUNT_MAX is no count below zero.
        if (!e->d->llvm_rules && e->counters[index] > INT64_MAX)
            return INT64_MAX;
        return (int64_t)e->counters[index];
    default:
        return e->d->values.at[index];
    }
}

static bool is_open(const Evaluator *e, CovCounter c)
{
    return cov_counter_tag(c) >= COV_SUBTRACT && e->d->states.at[cov_counter_index(c)] != DONE;
}

// Sums stop at 2^63 - 1; with llvm-cov's rules they wrap.
static int64_t combine(Evaluator *e, const CoverOpenExpression *x)
{
    int64_t lhs = value_of(e, x->parts.lhs), rhs = value_of(e, x->parts.rhs), v;
    if (!(x->subtract ? __builtin_sub_overflow(lhs, rhs, &v)
                      : __builtin_add_overflow(lhs, rhs, &v)))
        return v;
    return e->d->llvm_rules ? v : lhs < 0 ? INT64_MIN : INT64_MAX;
}

// Puts an expression on the stack of those that wait. False when it waits already,
// or is broken.
static bool open_expression(Evaluator *e, CovCounter c)
{
    CoverOpenExpression x = {.index = cov_counter_index(c),
                             .subtract = cov_counter_tag(c) == COV_SUBTRACT};
    if (e->d->states.at[x.index] == VISITING || !covmap_expression(e->map, x.index, &x.parts))
        return false;
    e->d->states.at[x.index] = VISITING;
    vec_push(NULL, &e->d->open, x);
    return true;
}

// Each expression is computed once; the stack is the chain of those that wait.
static int64_t evaluate(Evaluator *e, CovCounter c)
{
    if (!is_open(e, c))
        return value_of(e, c);
    e->d->open.len = 0;
    bool ok = open_expression(e, c);
    while (ok && e->d->open.len) {
        const CoverOpenExpression *x = &vec_last(&e->d->open);
        if (is_open(e, x->parts.lhs))
            ok = open_expression(e, x->parts.lhs);
        else if (is_open(e, x->parts.rhs))
            ok = open_expression(e, x->parts.rhs);
        else {
            e->d->values.at[x->index] = combine(e, x);
            e->d->states.at[x->index] = DONE;
            e->d->open.len--;
        }
    }
    e->failed |= !ok;
    return ok ? value_of(e, c) : 0;
}

// ---- Functions ---------------------------------------------------------------------

static Str without_file(Str name, Str file)
{
    if (file.len && str_starts_with(name, file) && name.len > file.len)
        return str_slice(name, file.len + 1, name.len);
    return name;
}

static void add_issue(CoverData *d, CoverIssueKind kind, const CovMap *map, const CovMapFunction *f,
                      Str object, uint64_t profile_hash)
{
    uint32_t file = f->files_count > 1 && map->version >= 6 ? 1 : 0;
    vec_push(d->arena, &d->issues,
             (CoverIssue){.kind = kind,
                          .function = f->name,
                          .object = object,
                          .file = f->files_count ? map->files.at[f->files_first + file] : STR(""),
                          .object_hash = f->hash,
                          .profile_hash = profile_hash});
}

// The file that is not the text of any macro expansion: where the definition is.
static uint32_t main_file_of(const CovFunctionMap *m, U8Vec *expanded)
{
    expanded->len = 0;
    vec_extend(NULL, expanded, m->files.len);
    for (size_t i = 0; i < m->regions.len; i++)
        if (m->regions.at[i].kind == COV_EXPANSION)
            expanded->at[m->regions.at[i].expanded_file] = 1;
    for (size_t i = 0; i < m->files.len; i++)
        if (!expanded->at[i])
            return (uint32_t)i;
    return COVER_NO_FILE;
}

static bool is_branch(unsigned kind)
{
    return kind == COV_BRANCH || kind == COV_MCDC_BRANCH;
}

// Appends the evaluated regions. False when some cannot be evaluated; what was
// appended is then the caller's to drop.
static bool add_regions(CoverData *d, Evaluator *e, CoverFunction *f, bool *negative)
{
    const CovFunctionMap *m = e->map;
    d->values.len = d->states.len = 0;
    vec_reserve(NULL, &d->values, m->expression_count);
    vec_extend(NULL, &d->states, m->expression_count);
    vec_reserve(NULL, &d->regions, m->regions.len);
    bool first = true;
    f->regions_first = d->regions.len;
    f->starts_first = d->region_starts.len;
    uint32_t file = 0;
    for (size_t i = 0; i <= m->regions.len; i++) {
        uint32_t upto = i < m->regions.len ? m->regions.at[i].file : (uint32_t)m->files.len;
        for (; file <= upto; file++)
            vec_push(NULL, &d->region_starts, (uint32_t)(d->regions.len - f->regions_first));
        if (i == m->regions.len)
            break;
        const CovMapRegion *r = &m->regions.at[i];
        if (r->kind == COV_MCDC_DECISION) {
            f->decision_count++; // as many as may be evaluated
            continue;
        }
        int64_t count = evaluate(e, r->count);
        int64_t false_count = is_branch(r->kind) ? evaluate(e, r->false_count) : 0;
        if (e->failed)
            return false;
        if (!d->llvm_rules && (count < 0 || false_count < 0)) {
            // A real count of 2^63 does not happen; a counter torn by threads does.
            *negative = true;
            count = MAX(count, 0);
            false_count = MAX(false_count, 0);
        }
        d->regions.at[d->regions.len++] = (CoverRegion){
            .line = r->line,
            .column = r->column,
            .end_line = r->end_line,
            .end_column = r->end_column,
            .file = r->file,
            .expanded_file = r->expanded_file,
            .kind = (uint8_t)r->kind,
            .is_folded = is_branch(r->kind) && cov_counter_tag(r->count) == COV_ZERO &&
                         cov_counter_tag(r->false_count) == COV_ZERO,
            .count = (uint64_t)count,
            .false_count = (uint64_t)false_count};
        if (first && !is_branch(r->kind)) {
            f->count = (uint64_t)count;
            f->line = r->line;
            f->column = r->column;
            first = false;
        }
    }
    return true;
}

// ---- Decisions (MC/DC) -------------------------------------------------------------

// A decision that waits for its conditions.
typedef struct Pending {
    const CovMapRegion *decision;
    Vec(const CovMapRegion *) branches;
} Pending;

typedef Vec(Pending) PendingVec;

typedef struct DecisionPass {
    CoverData *d;
    const CovFunctionMap *map;
    const CoverCountRow *row; // NULL: nothing ran
    Bytes bitmap;
    PendingVec pending; // in the order of the mapping
    U32Vec owner;       // file id -> decision it expands in, as region number + 1
    uint64_t steps;     // see STEPS_MAX
} DecisionPass;

// Each condition asks each decision that waits. Compilers leave few of them waiting.
enum { STEPS_MAX = 1 << 24 };

static uint64_t place_of(uint32_t line, uint32_t column)
{
    return (uint64_t)line << 32 | column;
}

static bool holds(const DecisionPass *p, const CovMapRegion *decision, const CovMapRegion *r)
{
    if (r->file == decision->file &&
        place_of(r->line, r->column) >= place_of(decision->line, decision->column) &&
        place_of(r->end_line, r->end_column) <= place_of(decision->end_line, decision->end_column))
        return true;
    return p->owner.at[r->file] == (uint32_t)(decision - p->map->regions.at) + 1;
}

static void own_expansion(DecisionPass *p, const CovMapRegion *r)
{
    for (size_t i = 0; i < p->pending.len; i++) {
        const CovMapRegion *decision = p->pending.at[i].decision;
        if (!holds(p, decision, r))
            continue;
        p->owner.at[r->expanded_file] = (uint32_t)(decision - p->map->regions.at) + 1;
        return;
    }
}

// Whether the decision takes the condition: it is within and its number is free.
static bool take_condition(DecisionPass *p, Pending *to, const CovMapRegion *r)
{
    if (r->condition < 0 || r->condition >= to->decision->condition_count)
        return false;
    for (size_t i = 0; i < to->branches.len; i++, p->steps++)
        if (to->branches.at[i]->condition == r->condition)
            return false;
    if (!holds(p, to->decision, r))
        return false;
    // The first condition stands in front, the others as they come.
    vec_push(NULL, &to->branches, r);
    if (r->condition == 0) {
        memmove(to->branches.at + 1, to->branches.at,
                (to->branches.len - 1) * sizeof(to->branches.at[0]));
        to->branches.at[0] = r;
    }
    return true;
}

static bool add_decision(DecisionPass *p, const Pending *from, Error *err)
{
    CoverData *d = p->d;
    uint32_t count = (uint32_t)from->branches.len;
    const CovMapRegion *r = from->decision;
    CovCondition *conditions = heap_alloc((count + 1) * sizeof(*conditions));
    for (uint32_t i = 0; i < count; i++) {
        const CovMapRegion *b = from->branches.at[i];
        conditions[i] = (CovCondition){b->condition, {b->false_next, b->true_next}};
    }
    bool ok = !p->row || cov_mcdc_evaluate(conditions, count, r->bitmap_index,
                                           p->row->bitmap_by_mask, p->bitmap, &d->mcdc, err);
    heap_free(conditions);
    if (!ok)
        return false;
    CoverDecision decision = {.line = r->line,
                              .column = r->column,
                              .end_line = r->end_line,
                              .end_column = r->end_column,
                              .file = r->file,
                              .conditions_first = d->conditions.len,
                              .condition_count = count,
                              .vectors_first = d->vectors.len,
                              .vector_count = p->row ? d->mcdc.vector_count : 0};
    for (uint32_t i = 0; i < count; i++) {
        const CovMapRegion *b = from->branches.at[i];
        CoverCondition c = {.line = b->line,
                            .column = b->column,
                            .end_line = b->end_line,
                            .end_column = b->end_column,
                            .file = b->file,
                            .node = (uint32_t)b->condition,
                            .is_folded = cov_counter_tag(b->count) == COV_ZERO &&
                                         cov_counter_tag(b->false_count) == COV_ZERO};
        if (p->row)
            memcpy(c.pair, d->mcdc.pairs.at + 2 * (size_t)c.node, sizeof(c.pair));
        vec_push(NULL, &d->conditions, c);
    }
    if (p->row) {
        vec_reserve(NULL, &d->vectors, d->mcdc.vectors.len + 1);
        bytes_copy(d->vectors.at + d->vectors.len,
                   bytes_over(d->mcdc.vectors.at, d->mcdc.vectors.len));
        d->vectors.len += d->mcdc.vectors.len;
    }
    vec_push(NULL, &d->decisions, decision);
    return true;
}

static void drop_pending(DecisionPass *p, size_t at)
{
    vec_free(&p->pending.at[at].branches);
    memmove(p->pending.at + at, p->pending.at + at + 1,
            (p->pending.len - at - 1) * sizeof(p->pending.at[0]));
    p->pending.len--;
}

static bool place_condition(DecisionPass *p, const CovMapRegion *r, Error *err)
{
    for (size_t i = 0; i < p->pending.len; i++, p->steps++) {
        Pending *to = &p->pending.at[i];
        if (!take_condition(p, to, r))
            continue;
        if (to->branches.len < to->decision->condition_count)
            return true;
        bool ok = add_decision(p, to, err);
        drop_pending(p, i);
        return ok;
    }
    return true;
}

// Appends the function's decisions, in the order in which their last conditions
// come. False when one cannot be evaluated: the others are there.
static bool add_decisions(CoverData *d, const CovFunctionMap *m, const CoverCounts *counts,
                          const CoverCountRow *row, CoverFunction *f)
{
    DecisionPass p = {.d = d, .map = m, .row = row};
    bool ok = true;
    Error why;
    f->decisions_first = d->decisions.len;
    if (row)
        p.bitmap = cover_counts_bitmap(counts, row);
    vec_extend(NULL, &p.owner, m->files.len);
    for (size_t i = 0; i < m->regions.len && p.steps < STEPS_MAX; i++) {
        const CovMapRegion *r = &m->regions.at[i];
        if (r->kind == COV_MCDC_DECISION)
            vec_push(NULL, &p.pending, (Pending){.decision = r});
        else if (r->kind == COV_EXPANSION)
            own_expansion(&p, r);
        else if (r->kind == COV_MCDC_BRANCH)
            ok &= place_condition(&p, r, &why);
    }
    while (p.pending.len)
        drop_pending(&p, p.pending.len - 1);
    vec_free(&p.pending);
    vec_free(&p.owner);
    f->decision_count = (uint32_t)(d->decisions.len - f->decisions_first);
    return ok && p.steps < STEPS_MAX;
}

// Whether a function with this name and these files is there already. Static functions of one
// source that was compiled under two paths have counters of their own.
static bool seen_before(CoverData *d, const CoverFunction *f)
{
    uint64_t hash = str_hash(f->name);
    for (uint32_t i = 0; i < f->file_count; i++)
        hash = hash_pair(hash, d->function_files.at[f->files_first + i]);
    uint32_t row;
    for (TableProbe p = table_probe(&d->seen, hash); table_next(&d->seen, &p, &row);) {
        const CoverFunction *old = &d->functions.at[row];
        if (old->file_count == f->file_count && str_equal(old->name, f->name) &&
            (d->llvm_rules || old->name_ref == f->name_ref) &&
            memcmp(d->function_files.at + old->files_first, d->function_files.at + f->files_first,
                   f->file_count * sizeof(uint32_t)) == 0)
            return true;
    }
    table_insert(&d->seen, hash, (uint32_t)d->functions.len);
    return false;
}

typedef struct ObjectPass {
    const CovMap *map;
    Str object;
    const CoverCounts *counts;
    ProfNames names; // of raw profiles, once an object's own are asked for in vain
    bool has_names;
    U32Vec file_rows; // CovMap.files row -> CoverData.files row + 1; 0: not asked yet
    U8Vec expanded;
} ObjectPass;

// The name of a function whose object does not hold it, by the profiles; "" when they do
// not either.
static Str name_of_nameless(CoverData *d, ObjectPass *o, uint64_t ref)
{
    const CoverCountRow *row = cover_counts_find_name(o->counts, ref);
    if (row && row->name.len)
        return row->name;
    for (size_t i = 0; i < o->counts->layouts.at.len && !o->has_names; i++) // checked before
        (void)!prof_names_add_blob(d->arena, &o->names, o->counts->layouts.at.at[i]->raw.names,
                                   NULL);
    o->has_names = true;
    return prof_names_find(&o->names, ref);
}

static void add_function(CoverData *d, ObjectPass *o, const CovMapFunction *from)
{
    const CovMap *map = o->map;
    Error why;
    CovFunctionMap *m = &d->scratch;
    Str name = from->name;
    if (name.len == 0 && !d->llvm_rules)
        name = name_of_nameless(d, o, from->name_ref);
    if (name.len == 0) {
        add_issue(d, COVER_ISSUE_NO_NAME, map, from, o->object, 0);
        if (d->llvm_rules)
            return;
        // Its counts are known all the same.
        name = arena_printf(d->arena, "0x%016llx", (unsigned long long)from->name_ref);
    }
    if (!covmap_decode(from, m, &why)) {
        add_issue(d, COVER_ISSUE_MAPPING, map, from, o->object, 0);
        return;
    }
    if (m->regions.len == 0 || m->files.len == 0)
        return;
    const CoverCountRow *row = cover_counts_find(o->counts, from->name_ref, from->hash);
    if (!row) {
        const CoverCountRow *other = cover_counts_find_name(o->counts, from->name_ref);
        if (other)
            add_issue(d, COVER_ISSUE_HASH, map, from, o->object, other->hash);
        else if (d->explain)
            add_issue(d, COVER_ISSUE_NO_PROFILE, map, from, o->object, 0);
        // LLVM takes a name whose functions are all of the other kind of profile for unknown.
        if (other && d->llvm_rules && cover_counts_know_kind(o->counts, from->name_ref, from->hash))
            return;
    }
    Evaluator e = {.map = m,
                   .counters = row ? cover_counts_of(o->counts, row) : NULL,
                   .counter_count = row ? row->count : 0,
                   .d = d};
    // A region that counts nothing stands for a function not used in this
    // translation unit; another one holds its real mapping.
    if (m->regions.len == 1 && cov_counter_tag(m->regions.at[0].count) == COV_ZERO && row &&
        row->count && e.counters[0] > 0)
        return;

    CoverFunction f = {.name = without_file(name, map->files.at[m->files.at[0]]),
                       .name_ref = from->name_ref,
                       .hash = from->hash,
                       .files_first = d->function_files.len,
                       .file_count = (uint32_t)m->files.len,
                       .object = d->object_count,
                       .record = (uint32_t)(from - map->functions.at),
                       .main_file = main_file_of(m, &o->expanded)};
    for (size_t i = 0; i < m->files.len; i++) {
        uint32_t *file = &o->file_rows.at[m->files.at[i]];
        if (*file == 0) {
            Str path = map->files.at[m->files.at[i]];
            if (d->map_path)
                path = d->map_path(d->map_ctx, path);
            *file = intern_add(&d->files, path) + 1;
        }
        vec_push(NULL, &d->function_files, *file - 1);
    }
    size_t regions = d->regions.len, starts = d->region_starts.len;
    bool negative = false;
    bool ok = add_regions(d, &e, &f, &negative);
    if (!ok)
        add_issue(d, COVER_ISSUE_COUNTER, map, from, o->object, from->hash);
    bool seen = ok && d->regions.len > regions && seen_before(d, &f);
    if (seen && d->explain)
        add_issue(d, COVER_ISSUE_DUPLICATE, map, from, o->object, row ? row->hash : 0);
    if (!ok || d->regions.len == regions || seen) {
        d->regions.len = regions;
        d->region_starts.len = starts;
        d->function_files.len = f.files_first;
        return;
    }
    if (negative)
        add_issue(d, COVER_ISSUE_NEGATIVE, map, from, o->object, from->hash);
    if (f.decision_count && !add_decisions(d, m, o->counts, row, &f))
        add_issue(d, COVER_ISSUE_DECISION, map, from, o->object, from->hash);
    vec_push(NULL, &d->functions, f);
}

bool cover_data_evaluate(CoverData *d, const CovFunctionMap *map, const uint64_t *counters,
                         uint32_t counter_count, const CoverRegion **regions, size_t *region_count)
{
    Evaluator e = {.map = map, .counters = counters, .counter_count = counter_count, .d = d};
    CoverFunction f = {0};
    size_t regions_len = d->regions.len, starts_len = d->region_starts.len;
    bool negative = false;
    bool ok = add_regions(d, &e, &f, &negative);
    *regions = d->regions.at + regions_len;
    *region_count = d->regions.len - regions_len;
    d->regions.len = regions_len;
    d->region_starts.len = starts_len;
    return ok;
}

void cover_data_add_object(CoverData *d, const CovMap *map, Str object, const CoverCounts *counts)
{
    ObjectPass o = {.map = map, .object = object, .counts = counts};
    vec_extend(NULL, &o.file_rows, map->files.len);
    table_reserve(&d->seen, d->functions.len + map->functions.len);
    vec_reserve(NULL, &d->functions, map->functions.len);
    // A region takes 5 bytes or more. Room that is not used is never touched, which
    // is cheaper than moving the regions as they grow.
    size_t bytes = 0;
    for (size_t i = 0; i < map->functions.len; i++)
        bytes += map->functions.at[i].mapping.len;
    vec_reserve(NULL, &d->regions, bytes / 5);
    for (size_t i = 0; i < map->functions.len; i++)
        add_function(d, &o, &map->functions.at[i]);
    d->object_functions += map->functions.len;
    d->map_version = MAX(d->map_version, map->version);
    if (d->llvm_rules) // mappings of version 7 are written since LLVM 18
        d->counting = d->map_version < 7 ? COV_COUNTS_BEFORE_18 : COV_COUNTS;
    d->object_count++;
    vec_free(&o.file_rows);
    vec_free(&o.expanded);
    prof_names_deinit(&o.names);
}
