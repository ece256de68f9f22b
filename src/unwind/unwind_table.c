// SPDX-License-Identifier: Apache-2.0
// Builds compact unwind tables: reads all entries of call frame information, sorts them by address,
// runs them, and packs their states into rows and actions. Formats: see unwind_table.h.

#include "unwind/unwind_table.h"

#include "base/table.h"
#include "base/vec.h"
#include "unwind/cfi_internal.h"
#include "unwind/startup_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    ACTIONS_MAX = 65536, // the number of an action has 16 bits
    CIES_MAX = 65536,    // linkers merge equal ones; limits made-up files
    MEMO_SIZE = 1024,
    FULL_WORK_MAX = 64 << 20, // bytes of rule lists compared
    RULES_MASK = 0x7fffff,    // number of a rule; there are fewer than ACTIONS_MAX * CFI_RULES_MAX
    BUCKET_SHIFT_MIN = 7,
    BUCKET_SHIFT_MAX = 16,
    ROWS_PER_BUCKET = 4,
    FUNCTION_ALIGN = 16
};

#define TABLE_SPAN_MAX ((uint64_t)1 << 32)

typedef struct Entry {
    uint64_t start, end;
    uint32_t instructions, instructions_end; // offsets in its section
    uint32_t cie;                            // index in `cies`
    uint32_t section;                        // 0: .eh_frame, 1: .debug_frame, 2: SYNTHETIC
} Entry;

typedef Vec(Entry) EntryVec;
typedef Vec(CfiCie) CieVec;
typedef Vec(UnwindAction) ActionVec;
typedef Vec(UnwindRule) RuleVec;

enum { SYNTHETIC = 2 }; // the `section` of entries for code that no section describes
enum { SYNTHETIC_PLT, SYNTHETIC_STUB, SYNTHETIC_SIGRETURN, SYNTHETIC_INIT }; // its `cie`

typedef struct Builder {
    const UnwindSections *in;
    CfiSection section[2];
    CieVec cies;
    EntryVec entries;
    uint64_t base;
    U32Vec pcs; // of rows, relative to base
    U32Vec row_actions;
    ActionVec actions;
    Table action_index;
    RuleVec rules;
    U8Vec exprs;
    uint32_t last_action; // of the last row; UINT32_MAX before the first
    UnwindAction memo_key[MEMO_SIZE];
    uint32_t memo[MEMO_SIZE]; // action number + 1
    // Set while entries are run:
    const Entry *entry;
    uint64_t entry_end; // cut at the start of the next entry
    size_t full_work;
    size_t full_actions_lost;
    UnwindBuildStats stats;
} Builder;

static void note_trouble(Builder *b, const char *section, size_t offset, CfiTrouble t)
{
    if (b->stats.broken++)
        return;
    char met[32] = "";
    if (t.met_base)
        snprintf(met, sizeof(met), t.met_base == 16 ? " 0x%02" PRIx64 : " %" PRIu64, t.met);
    error_set(&b->stats.first_broken, ERROR_FORMAT, "'%s': %s%s at offset 0x%zx", section, t.why,
              met, offset);
}

static void note_broken(Builder *b, const char *section, size_t offset, const char *why)
{
    note_trouble(b, section, offset, (CfiTrouble){.why = why});
}

// ---- Reading entries -----------------------------------------------------------

static const char *section_name(uint32_t section)
{
    return section ? ".debug_frame" : ".eh_frame";
}

static size_t cie_find(const Builder *b, size_t first, size_t offset)
{
    size_t low = first, high = b->cies.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->cies.at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->cies.len && b->cies.at[low].offset == offset ? low : SIZE_MAX;
}

// Reads all CIEs of a section, in ascending order of their offset.
static void read_cies(Builder *b, uint32_t section)
{
    const CfiSection *s = &b->section[section];
    size_t at = 0;
    for (;;) {
        CfiEntry e = cfi_entry_next(s, &at);
        if (e.kind == CFI_END)
            return;
        if (e.kind == CFI_BROKEN) {
            note_broken(b, section_name(section), e.offset, e.why);
            return;
        }
        if (e.kind != CFI_CIE)
            continue;
        if (b->cies.len == CIES_MAX) {
            note_broken(b, section_name(section), e.offset, "more CIEs than any program has");
            return;
        }
        CfiCie *cie = vec_extend(NULL, &b->cies, 1);
        cfi_cie_read(s, &e, cie);
        if (cie->trouble.why)
            note_trouble(b, section_name(section), e.offset, cie->trouble);
    }
}

static bool is_wanted(const Builder *b, const CfiFde *fde)
{
    UnwindRange text = b->in->text;
    if (fde->start >= fde->end)
        return false;
    return text.end == 0 || (fde->start >= text.start && fde->start < text.end);
}

static void add_entry(Builder *b, uint32_t section, size_t cie, const CfiEntry *e)
{
    CfiFde fde;
    CfiTrouble trouble = {.why = "entry has no CIE"};
    if (cie != SIZE_MAX)
        trouble = b->cies.at[cie].trouble;
    b->stats.entries++;
    if (!trouble.why)
        trouble = cfi_fde_read(&b->section[section], &b->cies.at[cie], e, &fde);
    if (trouble.why) {
        note_trouble(b, section_name(section), e->offset, trouble);
    } else if (!is_wanted(b, &fde)) {
        b->stats.dropped++;
    } else {
        vec_push(NULL, &b->entries,
                 (Entry){.start = fde.start,
                         .end = fde.end,
                         .instructions = (uint32_t)fde.instructions,
                         .instructions_end = (uint32_t)fde.instructions_end,
                         .cie = (uint32_t)cie,
                         .section = section});
    }
}

static void read_entries(Builder *b, uint32_t section)
{
    const CfiSection *s = &b->section[section];
    size_t first = b->cies.len, at = 0, cie = SIZE_MAX, cie_offset = SIZE_MAX;
    read_cies(b, section);
    for (;;) {
        CfiEntry e = cfi_entry_next(s, &at);
        if (e.kind == CFI_END || e.kind == CFI_BROKEN)
            return;
        if (e.kind != CFI_FDE)
            continue;
        if (e.cie != cie_offset) {
            cie = cie_find(b, first, e.cie);
            cie_offset = e.cie;
        }
        add_entry(b, section, cie, &e);
    }
}

// ---- Order ---------------------------------------------------------------------

// Sorts the entries from `first` on by start; equal ones keep their order. Radix sort from the
// lowest digit, of only those digits in which they differ.
static void sort_entries(EntryVec *entries, size_t first)
{
    size_t count = entries->len - first;
    if (count < 2)
        return;
    Entry *at = entries->at + first;
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        differ |= at[i].start ^ at[0].start;
        sorted = sorted && at[i - 1].start <= at[i].start;
    }
    if (sorted)
        return;
    enum { DIGIT = 11 };
    Entry *from = at, *spare = heap_alloc(count * sizeof(Entry)), *to = spare;
    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        size_t place[1 << DIGIT] = {0}, sum = 0;
        if ((differ >> shift & ((1 << DIGIT) - 1)) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            place[from[i].start >> shift & ((1 << DIGIT) - 1)]++;
        for (size_t i = 0; i < ARRAY_LEN(place); i++) {
            size_t n = place[i];
            place[i] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            to[place[from[i].start >> shift & ((1 << DIGIT) - 1)]++] = from[i];
        Entry *other = from;
        from = to;
        to = other;
    }
    if (from != at)
        memcpy(at, from, count * sizeof(Entry));
    heap_free(spare);
}

// Merges the entries of .debug_frame, [split, len), into the gaps between those of .eh_frame.
static void merge_entries(Builder *b, size_t split)
{
    EntryVec merged = {0};
    size_t i = 0, j = split, len = b->entries.len;
    const Entry *at = b->entries.at;
    uint64_t covered = 0; // end of the entries of .eh_frame so far
    vec_reserve(NULL, &merged, len);
    while (i < split || j < len) {
        if (j == len || (i < split && at[i].start <= at[j].start)) {
            covered = MAX(covered, at[i].end);
            vec_push(NULL, &merged, at[i++]);
        } else if (at[j].start < covered) {
            b->stats.dropped++;
            j++;
        } else {
            vec_push(NULL, &merged, at[j++]);
        }
    }
    vec_free(&b->entries);
    b->entries = merged;
}

// A table covers at most 4 GiB of code, from the first entry on.
static bool fit_entries(Builder *b, Error *err)
{
    size_t len = b->entries.len;
    b->base = len ? b->entries.at[0].start : 0;
    if (len && b->entries.at[len - 1].start - b->base >= TABLE_SPAN_MAX)
        return error_set(err, ERROR_LIMIT,
                         "call frame information spans 0x%" PRIx64 " bytes, more than 4 GiB",
                         b->entries.at[len - 1].start - b->base);
    return true;
}

// ---- Actions and rows ------------------------------------------------------------

static bool is_expr(UnwindRule r)
{
    return r.kind == UNWIND_RULE_AT_EXPR || r.kind == UNWIND_RULE_EXPR;
}

static uint32_t copy_expr(Builder *b, const CfiSection *s, UnwindRule r)
{
    const uint8_t *from = s->data + r.value;
    uint32_t at = (uint32_t)b->exprs.len;
    if (r.len)
        memcpy(vec_extend(NULL, &b->exprs, r.len), from, r.len);
    return at;
}

static bool rules_equal(const Builder *b, const CfiSection *s, const UnwindRule *kept,
                        const UnwindRule *fresh, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        UnwindRule k = kept[i], f = fresh[i];
        if (k.kind != f.kind || k.reg != f.reg || k.len != f.len)
            return false;
        if (is_expr(f)) {
            if (f.len && memcmp(b->exprs.at + k.value, s->data + f.value, f.len) != 0)
                return false;
        } else if (k.value != f.value) {
            return false;
        }
    }
    return true;
}

static uint64_t rules_hash(const CfiSection *s, const UnwindRule *rule, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        UnwindRule r = rule[i];
        if (is_expr(r)) {
            hash = bytes_hash_seeded(bytes_over(s->data + r.value, r.len), hash);
            r.value = 0;
        }
        hash = bytes_hash_seeded(bytes_over(&r, sizeof(r)), hash);
    }
    return hash;
}

// The number of an action; UINT32_MAX when there is no room. With `rule`, the action is UNWIND_FULL
// and has these rules.
static uint32_t intern_action(Builder *b, const CfiSection *s, UnwindAction a,
                              const UnwindRule *rule, uint32_t rule_count)
{
    uint64_t packed;
    memcpy(&packed, &a, sizeof(packed));
    uint64_t hash = hash_pair(packed, rule_count ? rules_hash(s, rule, rule_count) : 0);
    uint32_t number;
    for (TableProbe p = table_probe(&b->action_index, hash);
         table_next(&b->action_index, &p, &number);) {
        UnwindAction k = b->actions.at[number];
        if (rule_count == 0 && memcmp(&k, &a, sizeof(a)) == 0)
            return number;
        if (rule_count && k.kind == UNWIND_FULL && k.cfa == a.cfa &&
            (uint32_t)k.fp_off == rule_count &&
            rules_equal(b, s, b->rules.at + k.cfa_off, rule, rule_count))
            return number;
    }
    _Static_assert(ACTIONS_MAX * CFI_RULES_MAX < UNWIND_CFA_OFF_MASK, "rules are numbered in it");
    if (b->actions.len == ACTIONS_MAX)
        return UINT32_MAX;
    if (rule_count) {
        a.cfa_off = (uint32_t)b->rules.len & UNWIND_CFA_OFF_MASK;
        a.fp_off = (int16_t)rule_count;
        for (uint32_t i = 0; i < rule_count; i++) {
            UnwindRule r = rule[i];
            if (is_expr(r))
                r.value = (int32_t)copy_expr(b, s, r);
            vec_push(NULL, &b->rules, r);
        }
    }
    number = (uint32_t)b->actions.len;
    vec_push(NULL, &b->actions, a);
    table_insert(&b->action_index, hash, number);
    return number;
}

// The same for actions without rules, which nearly all rows have.
static uint32_t intern_simple_action(Builder *b, UnwindAction a)
{
    uint64_t packed;
    memcpy(&packed, &a, sizeof(packed));
    size_t slot = (packed * 0x9e3779b97f4a7c15ull) >> 54;
    _Static_assert(MEMO_SIZE == 1 << (64 - 54), "slot is taken from the top bits");
    if (b->memo[slot] && memcmp(&b->memo_key[slot], &a, sizeof(a)) == 0)
        return b->memo[slot] - 1;
    uint32_t number = intern_action(b, NULL, a, NULL, 0);
    if (number != UINT32_MAX) {
        b->memo_key[slot] = a;
        b->memo[slot] = number + 1;
    }
    return number;
}

static void add_row(Builder *b, uint64_t pc, uint32_t action)
{
    if (action == b->last_action)
        return;
    vec_push(NULL, &b->pcs, (uint32_t)(pc - b->base));
    vec_push(NULL, &b->row_actions, action);
    b->last_action = action;
}

static void add_no_rule(Builder *b, uint64_t pc)
{
    add_row(b, pc, 0);
}

static void emit_state(void *ctx, uint64_t pc, const CfiState *state)
{
    Builder *b = ctx;
    const CfiSection *s = &b->section[b->entry->section];
    UnwindRule rule[CFI_RULES_MAX];
    uint32_t rule_count;
    if (pc >= b->entry_end)
        return;
    UnwindAction a = cfi_action(s, &b->cies.at[b->entry->cie], state, rule, &rule_count);
    uint32_t number;
    if (a.kind != UNWIND_FULL) {
        number = intern_simple_action(b, a);
    } else {
        // A long list is valid for many rows only in made-up files.
        for (uint32_t i = 0; i < rule_count; i++)
            b->full_work += 8u + (is_expr(rule[i]) ? rule[i].len : 0);
        number =
            b->full_work > FULL_WORK_MAX ? UINT32_MAX : intern_action(b, s, a, rule, rule_count);
    }
    if (number == UINT32_MAX) {
        if (b->full_actions_lost++ == 0)
            note_broken(b, section_name(b->entry->section), b->entry->instructions,
                        "more different rules than a table holds");
        number = 0;
    }
    add_row(b, pc, number);
}

static void run_entry(Builder *b, const Entry *e)
{
    size_t rows = b->pcs.len;
    uint32_t last_action = b->last_action;
    CfiFde fde = {.start = e->start,
                  .end = e->end,
                  .instructions = e->instructions,
                  .instructions_end = e->instructions_end};
    CfiTrouble trouble = cfi_run(&b->section[e->section], &b->cies.at[e->cie], &fde, emit_state, b);
    if (!trouble.why)
        return;
    note_trouble(b, section_name(e->section), e->instructions, trouble);
    b->pcs.len = b->row_actions.len = rows;
    b->last_action = last_action;
    add_no_rule(b, e->start);
}

// ---- Code that linkers and libraries state no rules for ----------------------------

static UnwindAction plain_stub(UnwindArch arch)
{
    if (arch == UNWIND_AARCH64)
        return (UnwindAction){.kind = UNWIND_RA_IN_LR, .cfa = UNWIND_AARCH64_SP};
    return (UnwindAction){.kind = UNWIND_FP_KEPT, .cfa = UNWIND_X86_64_SP, .cfa_off = 8};
}

static void add_action_row(Builder *b, uint64_t pc, UnwindAction a)
{
    uint32_t number = intern_simple_action(b, a);
    if (pc < b->entry_end)
        add_row(b, pc, number == UINT32_MAX ? 0 : number);
}

// Adds actions for a PLT: a header that pushes the number of the module and jumps to the resolver,
// then entries that jump on, or push their number and jump to the header.
static void run_plt(Builder *b, const Entry *e)
{
    UnwindAction a = plain_stub(b->in->arch);
    if (b->in->arch == UNWIND_AARCH64) {
        add_action_row(b, e->start, a);
        // After stp x16, x30, [sp, -16]!
        a = (UnwindAction){
            .kind = UNWIND_RA_AT_CFA, .cfa = UNWIND_AARCH64_SP, .fp_off = -8, .cfa_off = 16};
        add_action_row(b, e->start + 4, a);
        add_action_row(b, e->start + 32, plain_stub(b->in->arch));
        return;
    }
    a.cfa_off = 16;
    add_action_row(b, e->start, a);
    a.cfa_off = 24;
    add_action_row(b, e->start + 6, a);
    a = (UnwindAction){.kind = UNWIND_PLT, .fp_off = 11};
    add_action_row(b, e->start + 16, a);
}

// The offsets from the stack pointer at which the kernel saves the interrupted registers; 0: not
// saved. arch/*/include/uapi/asm/sigcontext.h and ucontext.h.
static const uint16_t sigcontext_x86_64[UNWIND_REG_COUNT] = {
    [0] = 144, [1] = 136, [2] = 152, [3] = 128, [4] = 112, [5] = 104,
    [6] = 120, [7] = 160, [8] = 40,  [9] = 48,  [10] = 56, [11] = 64,
    [12] = 72, [13] = 80, [14] = 88, [15] = 96, [16] = 168};
enum { SIGCONTEXT_AARCH64 = 312 }; // of x0; then the other registers, sp and pc

static uint64_t sigcontext_offset(UnwindArch arch, unsigned reg)
{
    if (arch == UNWIND_AARCH64)
        return SIGCONTEXT_AARCH64 + 8u * reg;
    return sigcontext_x86_64[reg];
}

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70 };

static uint32_t add_breg(U8Vec *code, unsigned reg, uint64_t offset, bool deref)
{
    uint32_t at = (uint32_t)code->len;
    vec_push(NULL, code, (uint8_t)(OP_BREG0 + reg));
    vec_push(NULL, code, (uint8_t)(0x80 | (offset & 0x7f))); // SLEB128 of two bytes
    vec_push(NULL, code, (uint8_t)(offset >> 7 & 0x3f));
    if (deref)
        vec_push(NULL, code, OP_DEREF);
    return at;
}

static void run_sigreturn(Builder *b, const Entry *e)
{
    UnwindArch arch = b->in->arch;
    unsigned sp = arch == UNWIND_AARCH64 ? UNWIND_AARCH64_SP : UNWIND_X86_64_SP;
    unsigned pc = arch == UNWIND_AARCH64 ? UNWIND_AARCH64_PC : UNWIND_X86_64_PC;
    UnwindRule rule[CFI_RULES_MAX];
    uint32_t n = 0;
    U8Vec code = {0};
    uint32_t at = add_breg(&code, sp, sigcontext_offset(arch, sp), true);
    rule[n++] = (UnwindRule){.value = (int32_t)at, .len = 4, .kind = UNWIND_RULE_EXPR};
    for (unsigned reg = 0; reg <= pc; reg++) {
        at = add_breg(&code, sp, sigcontext_offset(arch, reg), false);
        rule[n++] = (UnwindRule){
            .value = (int32_t)at, .len = 3, .kind = UNWIND_RULE_AT_EXPR, .reg = (uint8_t)reg};
    }
    CfiSection s = {.data = code.at, .size = code.len};
    UnwindAction a = {.kind = UNWIND_FULL, .cfa = UNWIND_SIGNAL_FRAME};
    uint32_t number = intern_action(b, &s, a, rule, n);
    add_row(b, e->start, number == UINT32_MAX ? 0 : number);
    vec_free(&code);
}

// Adds rules derived from the code of [at, next), for functions that begin at multiples of `align`.
// Returns the end of the last one; `at` when there are none.
static uint64_t run_startup(Builder *b, const UnwindCode *code, uint64_t at, uint64_t next,
                            uint32_t align)
{
    uint64_t offset = at - code->svma;
    next = MIN(next, b->base + TABLE_SPAN_MAX);
    if (b->in->arch != UNWIND_X86_64 || at >= next || offset >= code->bytes.len)
        return at;
    uint64_t len = MIN(next - at, code->bytes.len - offset);
    StartupCode startup;
    startup_read(bytes_over(code->bytes.ptr + offset, len), at, align, &startup);
    b->entry_end = at + startup.end;
    if (startup.row_count && startup.row[0].at > 0)
        add_no_rule(b, at);
    for (uint32_t i = 0; i < startup.row_count; i++) {
        StartupRow r = startup.row[i];
        UnwindAction a = plain_stub(b->in->arch);
        a.cfa_off = 8 * (1u + r.words) & UNWIND_CFA_OFF_MASK;
        if (r.fp_word) {
            a.kind = UNWIND_FP_AT_CFA;
            a.fp_off = (int16_t)(-8 * (1 + r.fp_word));
        }
        add_action_row(b, at + r.at, a);
    }
    return b->entry_end;
}

// _init and _fini are one function each, in sections of their own.
static void run_init(Builder *b, const Entry *e)
{
    const UnwindCode *code = e->start == b->in->init.svma ? &b->in->init : &b->in->fini;
    uint64_t end = run_startup(b, code, e->start, b->entry_end, 1);
    if (end == e->start)
        add_no_rule(b, end);
}

// Whether the bytes are padding between functions, which needs no row of its own.
static bool is_padding(uint64_t end, uint64_t next)
{
    return next - end < FUNCTION_ALIGN && next % FUNCTION_ALIGN == 0;
}

// Whether the code is that of glibc's clone or clone3. Their rules end before the `syscall` (after
// the `svc`), because in the new thread rules for the old stack would be wrong. In the caller the
// stack is as at the start of the function.
static bool ends_in_clone(const Builder *b, uint64_t end)
{
    static const uint8_t syscall[] = {0x0f, 0x05}, svc[] = {0x01, 0x00, 0x00, 0xd4};
    bool is_aarch64 = b->in->arch == UNWIND_AARCH64;
    const uint8_t *what = is_aarch64 ? svc : syscall;
    size_t size = is_aarch64 ? sizeof(svc) : sizeof(syscall);
    const UnwindCode *code = &b->in->code;
    uint64_t at = end - code->svma - (is_aarch64 ? sizeof(svc) : 0);
    if (b->last_action >= b->actions.len || at >= code->bytes.len || size > code->bytes.len - at)
        return false;
    UnwindAction last = b->actions.at[b->last_action], plain = plain_stub(b->in->arch);
    return memcmp(&last, &plain, sizeof(plain)) == 0 &&
           memcmp(code->bytes.ptr + at, what, size) == 0;
}

// Adds actions for the code between two entries: [end, next).
static void run_gap(Builder *b, uint64_t end, uint64_t next)
{
    enum { CLONE_CODE_BYTES = 20 }; // system call, test, two jumps, ret
    if (end >= next || is_padding(end, next))
        return;
    if (ends_in_clone(b, end)) {
        UnwindAction a = plain_stub(b->in->arch);
        a.kind = UNWIND_AFTER_CLONE;
        b->entry_end = MIN(end + CLONE_CODE_BYTES, next);
        add_action_row(b, end, a);
        end = b->entry_end;
    } else {
        end = run_startup(b, &b->in->code, end, next, FUNCTION_ALIGN);
    }
    if (end < next && !is_padding(end, next))
        add_no_rule(b, end);
}

static void run_synthetic(Builder *b, const Entry *e)
{
    if (e->cie == SYNTHETIC_INIT) {
        run_init(b, e);
        return;
    }
    if (e->cie == SYNTHETIC_PLT)
        run_plt(b, e);
    else if (e->cie == SYNTHETIC_SIGRETURN)
        run_sigreturn(b, e);
    else
        add_action_row(b, e->start, plain_stub(b->in->arch));
}

static void add_synthetic(Builder *b, UnwindRange r, uint32_t kind)
{
    if (r.start < r.end)
        vec_push(NULL, &b->entries,
                 (Entry){.start = r.start, .end = r.end, .cie = kind, .section = SYNTHETIC});
}

static UnwindRange code_range(const UnwindCode *code)
{
    return (UnwindRange){code->svma, code->svma + code->bytes.len};
}

static void add_synthetics(Builder *b)
{
    UnwindRange sigreturn = b->in->sigreturn;
    // The return address of the handler is the first instruction of this code, and unwinding looks
    // up the address minus one.
    if (sigreturn.start > 0 && sigreturn.start < sigreturn.end)
        sigreturn.start--;
    add_synthetic(b, b->in->plt, SYNTHETIC_PLT);
    add_synthetic(b, sigreturn, SYNTHETIC_SIGRETURN);
    add_synthetic(b, code_range(&b->in->init), SYNTHETIC_INIT);
    add_synthetic(b, code_range(&b->in->fini), SYNTHETIC_INIT);
    for (size_t i = 0; i < UNWIND_PLT_RANGES_MAX; i++)
        add_synthetic(b, b->in->plt_plain[i], SYNTHETIC_STUB);
}

// ---- All together ----------------------------------------------------------------

static void collect_entries(Builder *b)
{
    const Bytes bytes[2] = {b->in->eh_frame, b->in->debug_frame};
    for (uint32_t i = 0; i < 2; i++) {
        b->section[i] = (CfiSection){.data = bytes[i].ptr,
                                     .size = bytes[i].len,
                                     .svma = i ? 0 : b->in->eh_frame_svma,
                                     .data_svma = b->in->data_svma,
                                     .is_debug_frame = i == 1,
                                     .open_ended = i == 0 && b->in->eh_frame_open_ended,
                                     .arch = b->in->arch};
        size_t split = b->entries.len;
        if (bytes[i].len)
            read_entries(b, i);
        sort_entries(&b->entries, split);
        if (split && b->entries.len > split)
            merge_entries(b, split);
    }
    size_t split = b->entries.len;
    add_synthetics(b);
    sort_entries(&b->entries, split);
    if (split && b->entries.len > split)
        merge_entries(b, split);
}

static void run_entries(Builder *b)
{
    size_t len = b->entries.len;
    intern_simple_action(b, (UnwindAction){.kind = UNWIND_NONE}); // number 0
    b->last_action = UINT32_MAX;
    vec_reserve(NULL, &b->pcs, len * 8);
    vec_reserve(NULL, &b->row_actions, len * 8);
    for (size_t i = 0; i < len; i++) {
        const Entry *e = &b->entries.at[i];
        uint64_t next = i + 1 < len ? b->entries.at[i + 1].start : UINT64_MAX;
        if (next == e->start) {
            b->stats.dropped++; // the last of equal entries is used, as the C++ runtime does
            continue;
        }
        b->entry = e;
        b->entry_end = MIN(e->end, next);
        b->entry_end = MIN(b->entry_end, b->base + TABLE_SPAN_MAX);
        if (e->section == SYNTHETIC)
            run_synthetic(b, e);
        else
            run_entry(b, e);
        if (i + 1 < len)
            run_gap(b, b->entry_end, next);
        else
            run_startup(b, &b->in->code, b->entry_end, UINT64_MAX, FUNCTION_ALIGN);
    }
}

static uint8_t choose_bucket_shift(uint64_t size, size_t rows)
{
    uint8_t shift = BUCKET_SHIFT_MIN;
    while (shift < BUCKET_SHIFT_MAX && (size >> shift) * ROWS_PER_BUCKET > rows)
        shift++;
    return shift;
}

static void pack_rows(Arena *arena, const Builder *b, UnwindTable *t)
{
    uint32_t rows = t->row_count;
    uint32_t *row = arena_array(arena, uint32_t, rows);
    uint32_t *bucket = arena_array(arena, uint32_t, t->bucket_count);
    uint32_t next = 0; // next bucket to set
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t pc = b->pcs.at[i];
        row[i] = (pc & 0xffff) | b->row_actions.at[i] << 16;
        while (next < t->bucket_count && (uint64_t)next << t->bucket_shift <= pc)
            bucket[next++] = i;
    }
    while (next < t->bucket_count)
        bucket[next++] = rows;
    t->row = row;
    t->bucket = bucket;
}

static const void *arena_copy(Arena *arena, const void *from, size_t size, size_t align)
{
    void *to = arena_alloc(arena, size, align);
    if (size)
        memcpy(to, from, size);
    return to;
}

static UnwindTable pack(Arena *arena, const Builder *b)
{
    UnwindTable t = {.arch = (uint8_t)b->in->arch, .base_svma = b->base};
    if (b->entries.len == 0)
        return t;
    t.size = b->entry_end - b->base;
    t.row_count = (uint32_t)b->pcs.len;
    t.bucket_shift = choose_bucket_shift(t.size, t.row_count);
    t.bucket_count = (uint32_t)(t.size >> t.bucket_shift) + 2;
    pack_rows(arena, b, &t);
    t.action_count = (uint32_t)b->actions.len;
    t.rule_count = (uint32_t)b->rules.len;
    t.expr_size = (uint32_t)b->exprs.len;
    t.action = arena_copy(arena, b->actions.at, t.action_count * sizeof(UnwindAction),
                          _Alignof(UnwindAction));
    t.rule =
        arena_copy(arena, b->rules.at, t.rule_count * sizeof(UnwindRule), _Alignof(UnwindRule));
    t.expr = arena_copy(arena, b->exprs.at, t.expr_size, 1);
    return t;
}

static void builder_deinit(Builder *b)
{
    vec_free(&b->cies);
    vec_free(&b->entries);
    vec_free(&b->pcs);
    vec_free(&b->row_actions);
    vec_free(&b->actions);
    vec_free(&b->rules);
    vec_free(&b->exprs);
    table_deinit(&b->action_index);
}

bool unwind_table_build(Arena *arena, const UnwindSections *sections, UnwindTable *ret,
                        UnwindBuildStats *stats, Error *err)
{
    if (sections->eh_frame.len > INT32_MAX || sections->debug_frame.len > INT32_MAX)
        return error_set(err, ERROR_LIMIT, "call frame information of more than 2 GiB");
    Builder b = {.in = sections};
    collect_entries(&b);
    bool ok = fit_entries(&b, err);
    if (ok) {
        run_entries(&b);
        *ret = pack(arena, &b);
        if (stats)
            *stats = b.stats;
    }
    builder_deinit(&b);
    return ok;
}

bool unwind_eh_frame_hdr_parse(Bytes hdr, uint64_t hdr_svma, uint64_t data_svma,
                               uint64_t *ret_eh_frame_svma, Error *err)
{
    hdr = bytes_addressable(hdr);
    CfiCursor c = {.at = hdr.ptr, .end = hdr.ptr + hdr.len};
    uint64_t version = cfi_uint(&c, 1);
    uint8_t encoding = (uint8_t)cfi_uint(&c, 1);
    cfi_uint(&c, 2); // skips the encodings of the search table, which is not needed
    uint64_t svma = cfi_pointer(&c, encoding, hdr_svma + 4, data_svma);
    if (version != 1 && hdr.len)
        return error_set(err, ERROR_FORMAT, "'.eh_frame_hdr': unknown version %" PRIu64, version);
    if (!cfi_pointer_encoding_is_known(encoding))
        return error_set(err, ERROR_FORMAT,
                         "'.eh_frame_hdr': unknown encoding 0x%02x of its address", encoding);
    if (c.bad)
        return error_set(err, ERROR_FORMAT, "'.eh_frame_hdr': cut short");
    *ret_eh_frame_svma = svma;
    return true;
}

size_t unwind_table_size_bytes(const UnwindTable *t)
{
    return t->bucket_count * sizeof(t->bucket[0]) + t->row_count * sizeof(t->row[0]) +
           t->action_count * sizeof(t->action[0]) + t->rule_count * sizeof(t->rule[0]) +
           t->expr_size;
}
