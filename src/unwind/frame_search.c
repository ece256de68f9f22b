// SPDX-License-Identifier: Apache-2.0
// Finds the unwind rule of one address. Freestanding: no libc, no allocation.

#include "unwind/frame_search.h"

#include "unwind/cfi_internal.h"

_Static_assert((int)FRAME_SEARCH_RULES_MAX == (int)CFI_RULES_MAX, "room for all rules of a state");

enum {
    HDR_VERSION = 1,
    PE_UDATA4 = 0x03,
    PE_DATAREL_SDATA4 = 0x3b, // the one encoding of search tables that linkers write
    CLONE_CODE_BYTES = 20,    // see run_gap in unwind_table.c
};

typedef struct SearchTable {
    const uint8_t *eh_frame;
    const uint8_t *entry; // pairs of i32, relative to the header: start of code, FDE; NULL: index
    uint32_t count;
} SearchTable;

static int32_t i32_at(const uint8_t *p)
{
    int32_t v;
    __builtin_memcpy(&v, p, sizeof(v));
    return v;
}

static bool read_header(const FrameSections *s, SearchTable *ret)
{
    if (!s->hdr) {
        *ret = (SearchTable){.eh_frame = s->eh_frame, .count = s->index_count};
        return s->index != NULL;
    }
    CfiCursor c = {.at = s->hdr, .end = s->hdr + s->hdr_size};
    uint64_t version = cfi_uint(&c, 1);
    uint8_t frame_encoding = (uint8_t)cfi_uint(&c, 1);
    uint64_t count_encoding = cfi_uint(&c, 1), table_encoding = cfi_uint(&c, 1);
    if (c.bad || version != HDR_VERSION || count_encoding != PE_UDATA4 ||
        table_encoding != PE_DATAREL_SDATA4 || !cfi_pointer_encoding_is_known(frame_encoding))
        return false;
    uint64_t hdr = (uint64_t)(uintptr_t)s->hdr;
    ret->eh_frame = (const uint8_t *)(uintptr_t)cfi_pointer(&c, frame_encoding, hdr + 4, hdr);
    if (s->eh_frame) // the header of a file can state any address
        ret->eh_frame = s->eh_frame;
    uint64_t count = cfi_uint(&c, 4);
    ret->entry = c.at;
    ret->count = (uint32_t)count;
    return !c.bad && count <= (uint64_t)(c.end - c.at) / 8 && ret->eh_frame < s->end &&
           s->end - ret->eh_frame < INT32_MAX;
}

static uint64_t start_at(const FrameSections *s, const SearchTable *t, uint32_t row)
{
    if (!t->entry)
        return s->index[row].start;
    return (uint64_t)(uintptr_t)s->hdr + (uint64_t)(int64_t)i32_at(t->entry + 8 * (size_t)row);
}

// The last FDE that begins at or before `pc`.
static const uint8_t *find_fde(const FrameSections *s, const SearchTable *t, uint64_t pc)
{
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (start_at(s, t, middle) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    return t->entry ? s->hdr + i32_at(t->entry + 8 * (size_t)(low - 1) + 4) : s->index[low - 1].fde;
}

// ---- An index -----------------------------------------------------------------------------

// Restores the order of a heap below one row: the largest start of each branch is on top.
static void sink(FrameIndexRow *index, uint32_t row, uint32_t count)
{
    for (uint32_t child; (child = 2 * row + 1) < count; row = child) {
        child += child + 1 < count && index[child].start < index[child + 1].start;
        if (index[row].start >= index[child].start)
            return;
        FrameIndexRow moved = index[row];
        index[row] = index[child];
        index[child] = moved;
    }
}

static void sort(FrameIndexRow *index, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sink(index, i, count);
    for (uint32_t last = count; last-- > 1;) {
        FrameIndexRow largest = index[0];
        index[0] = index[last];
        index[last] = largest;
        sink(index, 0, last);
    }
}

uint32_t frame_index_make(const FrameSections *s, FrameIndexRow *index, uint32_t max)
{
    CfiSection section = {.data = s->eh_frame,
                          .size = (size_t)(s->end - s->eh_frame),
                          .svma = (uint64_t)(uintptr_t)s->eh_frame,
                          .arch = s->arch};
    CfiCie cie;
    size_t at = 0, cie_at = SIZE_MAX;
    bool has_cie = false;
    uint32_t count = 0;
    if (section.size >= INT32_MAX)
        return 0;
    while (count < max) {
        CfiEntry e = cfi_entry_next(&section, &at);
        if (e.kind == CFI_END || e.kind == CFI_BROKEN)
            break;
        if (e.kind != CFI_FDE)
            continue;
        if (e.cie != cie_at) {
            size_t from = MIN(e.cie, section.size);
            CfiEntry of = cfi_entry_next(&section, &from);
            cie_at = e.cie;
            has_cie = of.kind == CFI_CIE;
            if (has_cie)
                cfi_cie_read(&section, &of, &cie);
            has_cie = has_cie && !cie.trouble.why;
        }
        CfiFde fde;
        // Linkers leave entries of functions that they have dropped, with the address 0.
        if (has_cie && !cfi_fde_read(&section, &cie, &e, &fde).why && fde.start)
            index[count++] = (FrameIndexRow){fde.start, s->eh_frame + e.offset};
    }
    sort(index, count);
    return count;
}

// ---- One address ------------------------------------------------------------------------------

typedef struct RowSearch {
    uint64_t pc;
    CfiState state; // of the last row at or before pc
    bool found;
} RowSearch;

static void take_row(void *ctx, uint64_t pc, const CfiState *state)
{
    RowSearch *r = ctx;
    if (pc > r->pc)
        return;
    r->state = *state;
    r->found = true;
}

void found_frame_set(FoundFrame *f, uint64_t pc, UnwindArch arch, UnwindAction a)
{
    f->bucket[0] = 0;
    f->bucket[1] = 1;
    f->row[0] = 0;
    f->action[0] = a;
    f->table = (UnwindTable){.base_svma = pc,
                             .size = 1,
                             .bucket = f->bucket,
                             .row = f->row,
                             .action = f->action,
                             .bucket_shift = 7,
                             .arch = (uint8_t)arch,
                             .bucket_count = 2,
                             .row_count = 1,
                             .action_count = 1,
                             .rule = f->rule};
}

// glibc's clone and clone3 end their rules before the system call.
static bool is_behind_clone(const FrameSections *s, uint64_t fde_end, uint64_t pc)
{
    static const uint8_t system_call[] = {0x0f, 0x05};
    uint64_t code = (uint64_t)(uintptr_t)s->code, code_end = (uint64_t)(uintptr_t)s->code_end;
    return s->arch == UNWIND_X86_64 && pc - fde_end < CLONE_CODE_BYTES && fde_end >= code &&
           fde_end < code_end && code_end - fde_end >= sizeof(system_call) &&
           __builtin_memcmp((const void *)(uintptr_t)fde_end, system_call, sizeof(system_call)) ==
               0;
}

static UnwindAction after_clone(void)
{
    return (UnwindAction){.kind = UNWIND_AFTER_CLONE, .cfa = UNWIND_X86_64_SP, .cfa_off = 8};
}

uint64_t frame_search_function(const FrameSections *s, uint64_t pc)
{
    SearchTable t;
    return read_header(s, &t) ? (uint64_t)(uintptr_t)find_fde(s, &t, pc) : 0;
}

bool frame_search(const FrameSections *s, uint64_t pc, FoundFrame *ret)
{
    SearchTable t;
    if (!read_header(s, &t))
        return false;
    const uint8_t *at = find_fde(s, &t, pc);
    if (!at || at < t.eh_frame || at >= s->end)
        return false;
    CfiSection section = {.data = t.eh_frame,
                          .size = (size_t)(s->end - t.eh_frame),
                          .svma = (uint64_t)(uintptr_t)t.eh_frame,
                          .data_svma = (uint64_t)(uintptr_t)s->hdr,
                          .open_ended = true,
                          .arch = s->arch};
    size_t offset = (size_t)(at - t.eh_frame);
    CfiEntry entry = cfi_entry_next(&section, &offset);
    if (entry.kind != CFI_FDE)
        return false;
    offset = MIN(entry.cie, section.size);
    CfiEntry cie_entry = cfi_entry_next(&section, &offset);
    CfiCie cie;
    CfiFde fde;
    if (cie_entry.kind != CFI_CIE)
        return false;
    cfi_cie_read(&section, &cie_entry, &cie);
    if (cie.trouble.why || cfi_fde_read(&section, &cie, &entry, &fde).why || pc < fde.start)
        return false;
    if (pc >= fde.end) {
        if (!is_behind_clone(s, fde.end, pc))
            return false;
        found_frame_set(ret, pc, s->arch, after_clone());
        return true;
    }
    RowSearch search = {.pc = pc};
    fde.wanted = pc;
    fde.end = pc + 1;
    (void)cfi_run(&section, &cie, &fde, take_row, &search);
    if (!search.found) {
        // Rows before the damage of a broken entry are used, as unwind_table_build does.
        fde.wanted = 0;
        (void)cfi_run(&section, &cie, &fde, take_row, &search);
    }
    if (!search.found)
        return false;
    uint32_t rules = 0;
    UnwindAction a = cfi_action(&section, &cie, &search.state, ret->rule, &rules);
    if (a.kind == UNWIND_FULL) {
        a.cfa_off = 0;
        a.fp_off = (int16_t)rules;
    }
    found_frame_set(ret, pc, s->arch, a);
    ret->table.rule_count = rules;
    ret->table.expr = section.data;
    ret->table.expr_size = (uint32_t)section.size;
    return true;
}
