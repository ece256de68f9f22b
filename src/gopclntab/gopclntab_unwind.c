// SPDX-License-Identifier: Apache-2.0
// How frames of a Go program are left, written as call frame information
// (DWARF 5 §6.4). The runtime's table has the size of each frame; that and the
// code say where the caller's frame pointer is saved.

#include "gopclntab/gopclntab.h"

enum {
    CFA_OFFSET = 0x80, // DW_CFA_offset, the register in the low bits
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_DEF_CFA = 0x0c,
    REG_BP = 6,
    REG_SP = 7,
    REG_RA = 16,
    REG_NEVER_KNOWN = 17, // xmm0: no unwinder follows it
    PUSH_BP = 0x55,
};

typedef enum SwitchKind {
    SWITCH_NONE,
    SWITCH_FOLLOWED,  // the caller's frame pointer stays in rbp: systemstack, asmcgocall
    SWITCH_SCHEDULER, // the goroutine is put aside, nobody returns to it: mcall
    SWITCH_LOST       // the goroutine's place is in the runtime's variables alone: morestack
} SwitchKind;

static SwitchKind switch_kind(Str name)
{
    static const struct {
        const char *name;
        SwitchKind kind;
    } functions[] = {
        {"runtime.systemstack", SWITCH_FOLLOWED}, {"runtime.systemstack.abi0", SWITCH_FOLLOWED},
        {"runtime.asmcgocall", SWITCH_FOLLOWED},  {"runtime.asmcgocall.abi0", SWITCH_FOLLOWED},
        {"runtime.mcall", SWITCH_SCHEDULER},      {"runtime.mcall.abi0", SWITCH_SCHEDULER},
        {"runtime.morestack", SWITCH_LOST},       {"runtime.morestack.abi0", SWITCH_LOST},
    };
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (str_equal(name, str_from_c(functions[i].name)))
            return functions[i].kind;
    return SWITCH_NONE;
}

bool gopclntab_switches_stack(Str name)
{
    return switch_kind(name) != SWITCH_NONE;
}

bool gopclntab_is_sigreturn(Str name)
{
    return str_starts_with(name, STR("runtime.sigreturn"));
}

// ---- Writing ---------------------------------------------------------------------

static void put(StrBuf *b, uint64_t value, size_t size)
{
    memcpy(strbuf_reserve(b, size), &value, size);
    b->len += size;
}

static void put_uleb(StrBuf *b, uint64_t value)
{
    do {
        put(b, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
        value >>= 7;
    } while (value);
}

// One place for the length, filled in when the entry is written.
static size_t entry_start(StrBuf *b)
{
    put(b, 0, 4);
    return b->len;
}

static void entry_end(StrBuf *b, size_t start)
{
    while ((b->len - start + 4) % 8)
        put(b, 0, 1); // DW_CFA_nop
    uint32_t length = (uint32_t)(b->len - start);
    memcpy(b->ptr + start - 4, &length, sizeof(length));
}

static void put_def_cfa(StrBuf *b, unsigned reg, uint64_t offset)
{
    put(b, CFA_DEF_CFA, 1);
    put_uleb(b, reg);
    put_uleb(b, offset);
}

static void put_cie(StrBuf *b)
{
    size_t start = entry_start(b);
    put(b, UINT32_MAX, 4); // not an FDE
    put(b, 1, 1);          // version
    put(b, 0, 1);          // no augmentation
    put(b, 1, 1);          // code alignment
    put(b, 0x78, 1);       // data alignment -8
    put(b, REG_RA, 1);
    put_def_cfa(b, REG_SP, 8);
    put(b, CFA_OFFSET | REG_RA, 1);
    put_uleb(b, 1);
    entry_end(b, start);
}

// ---- Functions ---------------------------------------------------------------------

// A function under way.
typedef struct Frame {
    StrBuf *out;
    Bytes code;      // of the function
    uint64_t start;  // svma
    uint64_t at;     // where the last row starts
    uint64_t saved;  // from here on rbp is saved below the return address; 0: never
    uint64_t change; // from here on another stack is in use; UINT64_MAX: never
    SwitchKind kind;
} Frame;

// `mov rbp, disp(rsp)` with the distance that leads below the return address.
static size_t store_bp_bytes(Bytes code, size_t at, int32_t size)
{
    const uint8_t *p = code.ptr + at;
    size_t left = code.len - at;
    int32_t wanted = size - 8, distance = 0;
    if (left < 8 || p[0] != 0x48 || p[1] != 0x89 || p[3] != 0x24)
        return 0;
    if (p[2] == 0x2c)
        return wanted == 0 ? 4 : 0;
    if (p[2] == 0x6c)
        return (int8_t)p[4] == wanted ? 5 : 0;
    memcpy(&distance, p + 4, sizeof(distance));
    return p[2] == 0xac && distance == wanted ? 8 : 0;
}

// Where the function has saved its caller's frame pointer: behind `push rbp`
// (since Go 1.21), or behind the store that follows the `sub rsp`. 0: it does not.
static uint64_t bp_saved_from(const GoPclntab *t, const GoFunction *f, Bytes code)
{
    GoValues v = gopclntab_frame_sizes(t, f);
    while (gopclntab_values_next(&v) && v.value == 0)
        ;
    GoValues first = gopclntab_frame_sizes(t, f);
    uint64_t at = f->start;
    while (gopclntab_values_next(&first) && first.value == 0)
        at = first.end;
    if (v.value < 8 || at <= f->start || at - f->start >= code.len)
        return 0;
    size_t offset = (size_t)(at - f->start);
    if (v.value == 8 && code.ptr[offset - 1] == PUSH_BP)
        return at;
    size_t store = store_bp_bytes(code, offset, v.value);
    return store ? at + store : 0;
}

// Where the function loads another stack pointer out of a goroutine's `sched`:
// behind `mov rsp, 56(reg)`, or, up to Go 1.20, by way of rbx.
static uint64_t switch_from(Bytes code, uint64_t start)
{
    static const uint8_t by_rbx[] = {0x38, 0x48, 0x89, 0xdc}; // …, 56(reg); mov rsp, rbx
    for (size_t i = 0; i + 4 <= code.len; i++) {
        const uint8_t *p = code.ptr + i;
        if (memcmp(p, by_rbx, sizeof(by_rbx)) == 0)
            return start + i + 4;
        if ((p[0] & 0xfe) == 0x48 && p[1] == 0x8b && (p[2] & 0xf8) == 0x60 && p[2] != 0x64 &&
            p[3] == 0x38)
            return start + i + 4;
    }
    return UINT64_MAX;
}

static void advance(Frame *f, uint64_t to)
{
    if (to == f->at)
        return;
    put(f->out, CFA_ADVANCE_LOC4, 1);
    put(f->out, to - f->at, 4);
    f->at = to;
}

static void put_saved_bp(Frame *f, bool saved)
{
    put(f->out, saved ? CFA_OFFSET | REG_BP : CFA_SAME_VALUE, 1);
    put_uleb(f->out, saved ? 2 : REG_BP);
}

static void put_row(Frame *f, uint64_t from, int32_t size)
{
    bool saved = f->saved && from >= f->saved && size >= 8;
    advance(f, from);
    if (from >= f->change && f->kind == SWITCH_SCHEDULER) {
        put(f->out, CFA_UNDEFINED, 1);
        put_uleb(f->out, REG_RA);
    } else if (from >= f->change && f->kind == SWITCH_LOST) {
        put_def_cfa(f->out, REG_NEVER_KNOWN, 8);
    } else if (f->kind == SWITCH_FOLLOWED && (saved || (!f->saved && from >= f->change))) {
        // Up to Go 1.20 these functions do not save rbp, which is that of their caller: its frame
        // is left with theirs.
        put_def_cfa(f->out, REG_BP, 16);
        put_saved_bp(f, true);
    } else {
        put_def_cfa(f->out, REG_SP, (uint64_t)size + 8);
        put_saved_bp(f, saved);
    }
}

// The rows of one stretch of equal frame size, cut where something else changes.
static void put_stretch(Frame *f, uint64_t from, uint64_t to, int32_t size)
{
    const uint64_t cuts[] = {MIN(f->saved, f->change), MAX(f->saved, f->change)};
    put_row(f, from, size);
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++)
        if (cuts[i] > from && cuts[i] < to)
            put_row(f, cuts[i], size);
}

static bool is_outermost(const GoFunction *f)
{
    // The kernel put the interrupted code's registers above the signal handler's
    // frame: it has a caller, although the runtime's own traces end there.
    return (f->flags & GO_FUNCTION_TOP) && !str_starts_with(f->name, STR("runtime.sigtramp")) &&
           !str_starts_with(f->name, STR("runtime.cgoSigtramp"));
}

static void put_fde(const GoPclntab *t, const GoFunction *g, Bytes code, StrBuf *ret)
{
    Frame f = {.out = ret, .code = code, .start = g->start, .at = g->start, .change = UINT64_MAX};
    size_t start = entry_start(ret);
    put(ret, 0, 4); // the CIE is at the start
    put(ret, g->start, 8);
    put(ret, g->end - g->start, 8);
    f.kind = switch_kind(g->name);
    f.saved = bp_saved_from(t, g, code);
    if (f.kind != SWITCH_NONE)
        f.change = switch_from(code, g->start);
    if (is_outermost(g)) {
        put(ret, CFA_UNDEFINED, 1);
        put_uleb(ret, REG_RA);
    }
    GoValues v = gopclntab_frame_sizes(t, g);
    uint64_t from = g->start;
    while (!is_outermost(g) && gopclntab_values_next(&v) && from < g->end) {
        if (v.value >= 0)
            put_stretch(&f, from, MIN(v.end, g->end), v.value);
        from = v.end;
    }
    entry_end(ret, start);
}

void gopclntab_debug_frame(const GoPclntab *t, Bytes text, StrBuf *ret)
{
    uint64_t last = t->text_svma;
    put_cie(ret);
    for (uint32_t i = 0; i < t->function_count; i++) {
        GoFunction f;
        // Functions that overlap would let a small file ask for endless work.
        if (!gopclntab_function_get(t, i, &f) || f.end <= f.start || f.start < last ||
            f.end - t->text_svma > text.len)
            continue;
        last = f.end;
        GoFunction next;
        if (i + 1 < t->function_count && gopclntab_function_get(t, i + 1, &next) &&
            gopclntab_is_sigreturn(next.name))
            f.end--;
        if (gopclntab_is_sigreturn(f.name) || f.end == f.start)
            continue;
        put_fde(t, &f,
                bytes_slice(text, (size_t)(f.start - t->text_svma), (size_t)(f.end - t->text_svma)),
                ret);
    }
}
