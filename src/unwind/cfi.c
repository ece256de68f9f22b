// SPDX-License-Identifier: Apache-2.0
// Call frame information: reads entries and runs their instructions. Freestanding. Formats: DWARF 5
// §6.4 and §7.24; Linux Standard Base 5.0 Core §10.5, §10.6.

#include "unwind/cfi_internal.h"

enum {
    DW_EH_PE_UDATA2 = 0x02,
    DW_EH_PE_ULEB128 = 0x01,
    DW_EH_PE_UDATA4 = 0x03,
    DW_EH_PE_UDATA8 = 0x04,
    DW_EH_PE_SLEB128 = 0x09,
    DW_EH_PE_SDATA2 = 0x0a,
    DW_EH_PE_SDATA4 = 0x0b,
    DW_EH_PE_SDATA8 = 0x0c,
    DW_EH_PE_PCREL = 0x10,
    DW_EH_PE_DATAREL = 0x30,
    DW_EH_PE_INDIRECT = 0x80,
    DW_EH_PE_OMIT = 0xff
};

enum {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
    CFA_AARCH64_NEGATE_RA_STATE = 0x2d, // on other architectures DW_CFA_GNU_window_save
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_ADVANCE_LOC = 0x40, // the low six bits are the operand
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0
};

enum {
    OP_DEREF = 0x06,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f
};

// gcc nests one level; more than a few levels are no real code.
enum { REMEMBER_MAX = 8 };
// Real expressions have up to about 30 bytes.
enum { EXPRESSION_MAX = 256 };

// ---- Bytes -------------------------------------------------------------------

uint64_t cfi_uleb(CfiCursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    c->bad = true;
    return 0;
}

int64_t cfi_sleb(CfiCursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if ((byte & 0x40) && shift + 7 < 64)
                value |= ~(uint64_t)0 << (shift + 7);
            return (int64_t)value;
        }
    }
    c->bad = true;
    return 0;
}

uint64_t cfi_uint(CfiCursor *c, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < size) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)c->at[i] << (8 * i);
    c->at += size;
    return value;
}

static void skip(CfiCursor *c, uint64_t n)
{
    if (n > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        n = (uint64_t)(c->end - c->at);
    }
    c->at += n;
}

static CfiTrouble no_trouble(void)
{
    return (CfiTrouble){.why = NULL};
}

static CfiTrouble trouble(const char *why)
{
    return (CfiTrouble){.why = why};
}

static CfiTrouble trouble_decimal(const char *why, uint64_t met)
{
    return (CfiTrouble){why, met, 10};
}

static CfiTrouble trouble_hex(const char *why, uint64_t met)
{
    return (CfiTrouble){why, met, 16};
}

bool cfi_pointer_encoding_is_known(uint8_t encoding)
{
    uint8_t base = encoding & 0xf0, form = encoding & 0x0f;
    return (base == 0 || base == DW_EH_PE_PCREL || base == DW_EH_PE_DATAREL) &&
           (form <= DW_EH_PE_UDATA8 || (form >= DW_EH_PE_SLEB128 && form <= DW_EH_PE_SDATA8));
}

static uint64_t encoded_value(CfiCursor *c, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case 0:
    case DW_EH_PE_UDATA8:
    case DW_EH_PE_SDATA8:
        return cfi_uint(c, 8);
    case DW_EH_PE_ULEB128:
        return cfi_uleb(c);
    case DW_EH_PE_SLEB128:
        return (uint64_t)cfi_sleb(c);
    case DW_EH_PE_UDATA2:
        return cfi_uint(c, 2);
    case DW_EH_PE_SDATA2:
        return (uint64_t)(int64_t)(int16_t)cfi_uint(c, 2);
    case DW_EH_PE_UDATA4:
        return cfi_uint(c, 4);
    case DW_EH_PE_SDATA4:
        return (uint64_t)(int64_t)(int32_t)cfi_uint(c, 4);
    default:
        c->bad = true;
        return 0;
    }
}

uint64_t cfi_pointer(CfiCursor *c, uint8_t encoding, uint64_t svma, uint64_t data_svma)
{
    uint64_t value = encoded_value(c, encoding);
    switch (encoding & 0xf0) {
    case 0:
        return value;
    case DW_EH_PE_PCREL:
        return value + svma;
    case DW_EH_PE_DATAREL:
        return value + data_svma;
    default: // relative to text or function, aligned, indirect: no linker writes these here
        c->bad = true;
        return 0;
    }
}

static CfiCursor cursor_at(const CfiSection *s, size_t from, size_t to)
{
    return (CfiCursor){.at = s->data + from, .end = s->data + to};
}

static size_t cursor_offset(const CfiSection *s, const CfiCursor *c)
{
    return (size_t)(c->at - s->data);
}

// ---- Entries -----------------------------------------------------------------

CfiEntry cfi_entry_next(const CfiSection *s, size_t *at)
{
    CfiEntry e = {.kind = CFI_END, .offset = *at};
    CfiCursor c = cursor_at(s, *at, s->size);
    uint64_t len = 0;
    do {
        e.offset = cursor_offset(s, &c);
        if (c.end - c.at < 4)
            return e;
        len = cfi_uint(&c, 4);
        // An object with an end mark of its own may have been linked before others.
    } while (len == 0 && !s->open_ended);
    if (len == 0)
        return e;

    bool is_64 = len == 0xffffffff;
    if (is_64)
        len = cfi_uint(&c, 8);
    if (c.bad || len > (uint64_t)(c.end - c.at)) {
        e.kind = CFI_BROKEN;
        e.why = "entry goes past the end of the section";
        return e;
    }
    size_t id_at = cursor_offset(s, &c);
    e.end = id_at + (size_t)len;
    *at = e.end;
    size_t id_size = is_64 && s->is_debug_frame ? 8 : 4;
    c.end = s->data + e.end;
    uint64_t id = cfi_uint(&c, id_size);
    if (c.bad) {
        // Too short for an entry; the next one can still be found.
        e.kind = CFI_FDE;
        e.body = e.end;
        e.cie = SIZE_MAX;
        return e;
    }
    e.body = cursor_offset(s, &c);
    if (s->is_debug_frame) {
        bool is_cie = id == (is_64 ? UINT64_MAX : UINT32_MAX);
        e.kind = is_cie ? CFI_CIE : CFI_FDE;
        e.cie = is_cie ? 0 : (size_t)id;
    } else {
        e.kind = id == 0 ? CFI_CIE : CFI_FDE;
        e.cie = id <= id_at ? id_at - (size_t)id : SIZE_MAX;
    }
    return e;
}

// Reads the augmentation data, one item for each letter. After an unknown letter nothing can be
// read.
static CfiTrouble read_augmentation(const CfiSection *s, const uint8_t *letters, CfiCie *cie,
                                    CfiCursor *c)
{
    if (*letters == 0)
        return no_trouble();
    if (*letters != 'z')
        return trouble_hex("unknown augmentation that begins with letter", *letters);
    cie->has_augmentation = true;
    uint64_t len = cfi_uleb(c);
    if (c->bad || len > (uint64_t)(c->end - c->at))
        return trouble("augmentation goes past the end");
    CfiCursor data = {.at = c->at, .end = c->at + len};
    c->at = data.end;
    for (const uint8_t *letter = letters + 1; *letter; letter++) {
        if (*letter == 'R') {
            cie->pc_encoding = (uint8_t)cfi_uint(&data, 1);
        } else if (*letter == 'L') {
            cfi_uint(&data, 1);
        } else if (*letter == 'P') {
            uint8_t encoding = (uint8_t)cfi_uint(&data, 1);
            if (encoding != DW_EH_PE_OMIT)
                encoded_value(&data, encoding);
        } else if (*letter == 'S') {
            cie->is_signal = true;
        } else if (*letter != 'B' && *letter != 'G') { // keys of aarch64: they have no data
            break;
        }
    }
    (void)s;
    return data.bad ? trouble("augmentation is cut short") : no_trouble();
}

static CfiTrouble cie_header_read(const CfiSection *s, const CfiEntry *entry, CfiCie *cie)
{
    CfiCursor c = cursor_at(s, entry->body, entry->end);
    uint8_t version = (uint8_t)cfi_uint(&c, 1);
    if (c.bad)
        return trouble("cut short");
    if (version != 1 && version != 3 && !(version == 4 && s->is_debug_frame))
        return trouble_decimal("unknown version", version);
    const uint8_t *letters = c.at;
    while (c.at < c.end && *c.at)
        c.at++;
    skip(&c, 1);
    if (c.bad)
        return trouble("augmentation is cut short");
    if (version == 4) {
        uint64_t address_size = cfi_uint(&c, 1);
        uint64_t segment_size = cfi_uint(&c, 1);
        if (address_size != 8)
            return trouble_decimal("unknown address size", address_size);
        if (segment_size != 0)
            return trouble_decimal("unknown segment selector size", segment_size);
    }
    cie->code_align = cfi_uleb(&c);
    cie->data_align = cfi_sleb(&c);
    uint64_t ra_reg = version == 1 ? cfi_uint(&c, 1) : cfi_uleb(&c);
    if (ra_reg >= UNWIND_REG_COUNT)
        return trouble_decimal("return address is in unknown column", ra_reg);
    cie->ra_reg = (uint8_t)ra_reg;
    CfiTrouble found = read_augmentation(s, letters, cie, &c);
    if (found.why)
        return found;
    cie->instructions = cursor_offset(s, &c);
    cie->end = entry->end;
    return c.bad ? trouble("cut short") : no_trouble();
}

CfiTrouble cfi_fde_read(const CfiSection *s, const CfiCie *cie, const CfiEntry *entry, CfiFde *ret)
{
    CfiCursor c = cursor_at(s, entry->body, entry->end);
    uint64_t start = cfi_pointer(&c, cie->pc_encoding, s->svma + entry->body, s->data_svma);
    uint64_t size = encoded_value(&c, cie->pc_encoding);
    if ((cie->pc_encoding & 0x0f) == DW_EH_PE_SDATA4)
        size = (uint32_t)size;
    if (cie->has_augmentation)
        skip(&c, cfi_uleb(&c));
    if (c.bad)
        return cfi_pointer_encoding_is_known(cie->pc_encoding)
                   ? trouble("entry is cut short")
                   : trouble_hex("unknown encoding of addresses", cie->pc_encoding);
    if (size > UINT64_MAX - start)
        return trouble("range goes past the end of the address space");
    *ret = (CfiFde){.start = start,
                    .end = start + size,
                    .instructions = cursor_offset(s, &c),
                    .instructions_end = entry->end};
    return no_trouble();
}

// ---- Instructions ------------------------------------------------------------

typedef struct Machine {
    const CfiSection *section;
    const CfiCie *cie;
    CfiState state;
    CfiState remembered[REMEMBER_MAX];
    unsigned depth;
    CfiCursor code;
    uint64_t pc, end;
    uint64_t wanted; // as in CfiFde
    const char *why;
    int16_t unknown; // instruction; -1: none
    CfiEmit *emit;   // NULL while a CIE runs
    void *ctx;
} Machine;

static void set_rule(Machine *m, uint64_t reg, UnwindRuleKind kind, int64_t value)
{
    if (value < INT32_MIN || value > INT32_MAX)
        m->why = "offset has more than 32 bits";
    else if (reg < UNWIND_REG_COUNT) // other registers, as of vectors, do not help to find callers
        m->state.reg[reg] = (UnwindRule){.value = (int32_t)value, .kind = (uint8_t)kind};
}

static int64_t scaled(Machine *m, int64_t value)
{
    int64_t product;
    if (__builtin_mul_overflow(value, m->cie->data_align, &product)) {
        m->why = "offset has more than 64 bits";
        return 0;
    }
    return product;
}

static void set_cfa(Machine *m, uint64_t reg, int64_t offset)
{
    if (reg >= UNWIND_REG_COUNT - 1)
        m->why = "CFA is based on an unknown register";
    else if (offset < INT32_MIN || offset > INT32_MAX)
        m->why = "offset has more than 32 bits";
    else
        m->state.cfa =
            (UnwindRule){.value = (int32_t)offset, .len = (uint16_t)reg, .kind = UNWIND_RULE_REG};
    m->state.cfa_offset = (int32_t)offset;
}

// Sets the offset of the CFA. While the CFA is an expression it stays one, as in the C++ runtime.
static void set_cfa_offset(Machine *m, int64_t offset)
{
    if (m->state.cfa.kind == UNWIND_RULE_REG)
        set_cfa(m, m->state.cfa.len, offset);
    else if (offset < INT32_MIN || offset > INT32_MAX)
        m->why = "offset has more than 32 bits";
    else
        m->state.cfa_offset = (int32_t)offset;
}

static UnwindRule read_expression(Machine *m, UnwindRuleKind kind)
{
    uint64_t len = cfi_uleb(&m->code);
    UnwindRule rule = {.kind = (uint8_t)kind};
    if (m->code.bad || len > (uint64_t)(m->code.end - m->code.at) || len > EXPRESSION_MAX) {
        m->why = "expression is too long";
        return rule;
    }
    rule.value = (int32_t)cursor_offset(m->section, &m->code);
    rule.len = (uint16_t)len;
    m->code.at += len;
    return rule;
}

static void set_expression(Machine *m, uint64_t reg, UnwindRuleKind kind)
{
    UnwindRule rule = read_expression(m, kind);
    if (reg < UNWIND_REG_COUNT)
        m->state.reg[reg] = rule;
}

static void restore_initial(Machine *m, uint64_t reg)
{
    if (reg < UNWIND_REG_COUNT)
        m->state.reg[reg] = m->cie->initial.reg[reg];
}

static void advance_to(Machine *m, uint64_t pc)
{
    if (!m->emit) {
        m->why = "CIE advances the location";
        return;
    }
    if (pc < m->pc) {
        m->why = "location goes back";
        return;
    }
    if (pc == m->pc)
        return;
    if (pc > m->wanted)
        m->emit(m->ctx, m->pc, &m->state);
    m->pc = pc;
}

static void advance_by(Machine *m, uint64_t delta)
{
    uint64_t bytes, pc;
    if (__builtin_mul_overflow(delta, m->cie->code_align, &bytes) ||
        __builtin_add_overflow(m->pc, bytes, &pc))
        m->why = "location goes past the end of the address space";
    else
        advance_to(m, pc);
}

static void remember(Machine *m)
{
    if (m->depth == REMEMBER_MAX)
        m->why = "states are remembered too deep";
    else
        m->remembered[m->depth++] = m->state;
}

static void recall(Machine *m)
{
    if (m->depth == 0)
        m->why = "state is restored that was not remembered";
    else
        m->state = m->remembered[--m->depth];
}

static void set_location(Machine *m)
{
    uint64_t svma = m->section->svma + cursor_offset(m->section, &m->code);
    advance_to(m, cfi_pointer(&m->code, m->cie->pc_encoding, svma, m->section->data_svma));
}

static void meet_unknown(Machine *m, uint8_t op)
{
    m->why = "unknown instruction";
    m->unknown = op;
}

// Runs the instructions whose code takes the whole byte.
static void step_extended(Machine *m, uint8_t op)
{
    CfiCursor *c = &m->code;
    uint64_t reg;
    switch (op) {
    case CFA_NOP:
        break;
    case CFA_SET_LOC:
        set_location(m);
        break;
    case CFA_ADVANCE_LOC1:
        advance_by(m, cfi_uint(c, 1));
        break;
    case CFA_ADVANCE_LOC2:
        advance_by(m, cfi_uint(c, 2));
        break;
    case CFA_ADVANCE_LOC4:
        advance_by(m, cfi_uint(c, 4));
        break;
    case CFA_MIPS_ADVANCE_LOC8:
        advance_by(m, cfi_uint(c, 8));
        break;
    case CFA_OFFSET_EXTENDED:
        reg = cfi_uleb(c);
        set_rule(m, reg, UNWIND_RULE_AT_CFA, scaled(m, (int64_t)cfi_uleb(c)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        reg = cfi_uleb(c);
        set_rule(m, reg, UNWIND_RULE_AT_CFA, scaled(m, cfi_sleb(c)));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        reg = cfi_uleb(c);
        set_rule(m, reg, UNWIND_RULE_AT_CFA, scaled(m, (int64_t)(0 - cfi_uleb(c))));
        break;
    case CFA_VAL_OFFSET:
        reg = cfi_uleb(c);
        set_rule(m, reg, UNWIND_RULE_CFA_PLUS, scaled(m, (int64_t)cfi_uleb(c)));
        break;
    case CFA_VAL_OFFSET_SF:
        reg = cfi_uleb(c);
        set_rule(m, reg, UNWIND_RULE_CFA_PLUS, scaled(m, cfi_sleb(c)));
        break;
    case CFA_RESTORE_EXTENDED:
        restore_initial(m, cfi_uleb(c));
        break;
    case CFA_UNDEFINED:
        set_rule(m, cfi_uleb(c), UNWIND_RULE_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set_rule(m, cfi_uleb(c), UNWIND_RULE_SAME, 0);
        break;
    case CFA_REGISTER:
        reg = cfi_uleb(c);
        set_rule(m, reg, UNWIND_RULE_REG, (int64_t)cfi_uleb(c));
        break;
    case CFA_REMEMBER_STATE:
        remember(m);
        break;
    case CFA_RESTORE_STATE:
        recall(m);
        break;
    case CFA_DEF_CFA:
        reg = cfi_uleb(c);
        set_cfa(m, reg, (int64_t)cfi_uleb(c));
        break;
    case CFA_DEF_CFA_SF:
        reg = cfi_uleb(c);
        set_cfa(m, reg, scaled(m, cfi_sleb(c)));
        break;
    case CFA_DEF_CFA_REGISTER:
        reg = cfi_uleb(c);
        set_cfa(m, reg, m->state.cfa_offset);
        break;
    case CFA_DEF_CFA_OFFSET:
        set_cfa_offset(m, (int64_t)cfi_uleb(c));
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        set_cfa_offset(m, scaled(m, cfi_sleb(c)));
        break;
    case CFA_DEF_CFA_EXPRESSION:
        m->state.cfa = read_expression(m, UNWIND_RULE_EXPR);
        break;
    case CFA_EXPRESSION:
        set_expression(m, cfi_uleb(c), UNWIND_RULE_AT_EXPR);
        break;
    case CFA_VAL_EXPRESSION:
        set_expression(m, cfi_uleb(c), UNWIND_RULE_EXPR);
        break;
    case CFA_GNU_ARGS_SIZE:
        cfi_uleb(c); // for landing pads; the CFA includes it already
        break;
    case CFA_AARCH64_NEGATE_RA_STATE:
    case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
        // The signature of return addresses is always removed: an address without one is not
        // changed by that.
        if (m->section->arch != UNWIND_AARCH64)
            meet_unknown(m, op);
        break;
    default:
        meet_unknown(m, op);
    }
}

static CfiTrouble run(Machine *m)
{
    CfiCursor *c = &m->code;
    while (c->at < c->end && m->why == NULL && m->pc < m->end) {
        uint8_t op = *c->at++;
        uint8_t operand = op & 0x3f;
        switch (op & 0xc0) {
        case CFA_ADVANCE_LOC:
            advance_by(m, operand);
            break;
        case CFA_OFFSET:
            set_rule(m, operand, UNWIND_RULE_AT_CFA, scaled(m, (int64_t)cfi_uleb(c)));
            break;
        case CFA_RESTORE:
            restore_initial(m, operand);
            break;
        default:
            step_extended(m, op);
        }
        if (c->bad)
            m->why = "instruction is cut short";
    }
    return m->unknown >= 0 ? trouble_hex(m->why, (uint64_t)m->unknown) : trouble(m->why);
}

// `remembered` is not cleared: there are thousands of entries, and few use it.
static void machine_init(Machine *m, const CfiSection *s, const CfiCie *cie, size_t from, size_t to)
{
    m->section = s;
    m->cie = cie;
    m->depth = 0;
    m->wanted = 0;
    m->code = cursor_at(s, from, to);
    m->why = NULL;
    m->unknown = -1;
}

void cfi_cie_read(const CfiSection *s, const CfiEntry *entry, CfiCie *ret)
{
    Machine m;
    *ret = (CfiCie){.offset = entry->offset};
    ret->trouble = cie_header_read(s, entry, ret);
    if (ret->trouble.why)
        return;
    machine_init(&m, s, ret, ret->instructions, ret->end);
    m.state = ret->initial;
    m.pc = 0;
    m.end = 1;
    m.emit = NULL;
    m.ctx = NULL;
    ret->trouble = run(&m);
    if (!ret->trouble.why)
        ret->initial = m.state;
}

CfiTrouble cfi_run(const CfiSection *s, const CfiCie *cie, const CfiFde *fde, CfiEmit *emit,
                   void *ctx)
{
    Machine m;
    machine_init(&m, s, cie, fde->instructions, fde->instructions_end);
    m.state = cie->initial;
    m.pc = fde->start;
    m.end = fde->end;
    m.wanted = fde->wanted;
    m.emit = emit;
    m.ctx = ctx;
    CfiTrouble found = run(&m);
    if (!found.why && m.pc < m.end)
        emit(ctx, m.pc, &m.state);
    return found;
}

// ---- States as actions ---------------------------------------------------------

static bool is_int16(int64_t v)
{
    return v >= INT16_MIN && v <= INT16_MAX;
}

static CfiCursor expression(const CfiSection *s, UnwindRule rule)
{
    return cursor_at(s, (size_t)rule.value, (size_t)rule.value + rule.len);
}

// Whether an expression is only "breg R off".
static bool is_breg(const CfiSection *s, UnwindRule rule, uint8_t reg, int64_t *offset)
{
    CfiCursor c = expression(s, rule);
    if (cfi_uint(&c, 1) != OP_BREG0 + (uint64_t)reg)
        return false;
    *offset = cfi_sleb(&c);
    return !c.bad && c.at == c.end;
}

// Whether the CFA is "breg R off; deref", perhaps with an addend: functions that realign the stack
// (DRAP), and assembly of libcrypto that stores the stack pointer on the realigned stack.
static bool cfa_is_deref(const CfiSection *s, UnwindRule rule, UnwindAction *ret)
{
    CfiCursor c = expression(s, rule);
    uint64_t op = cfi_uint(&c, 1);
    if (op < OP_BREG0 || op > OP_BREG31)
        return false;
    int64_t offset = cfi_sleb(&c);
    if (cfi_uint(&c, 1) != OP_DEREF || c.bad)
        return false;
    uint64_t addend = 0;
    if (c.at < c.end) {
        uint64_t next = cfi_uint(&c, 1);
        if (next == OP_PLUS_UCONST) {
            addend = cfi_uleb(&c);
        } else if (next >= OP_LIT0 && next <= OP_LIT31) {
            addend = next - OP_LIT0;
            if (cfi_uint(&c, 1) != OP_PLUS)
                return false;
        } else {
            return false;
        }
    }
    if (c.bad || c.at != c.end || !is_int16(offset) || addend > INT8_MAX)
        return false;
    ret->cfa = (uint8_t)(UNWIND_CFA_DEREF | (op - OP_BREG0));
    ret->cfa_off = ((uint32_t)(uint16_t)offset | (uint32_t)addend << 16) & UNWIND_CFA_OFF_MASK;
    return true;
}

// Whether the CFA is what GNU ld writes for .plt: sp + 8 + ((pc & 15) >= N) << 3.
static bool cfa_is_plt(const CfiSection *s, UnwindRule rule, UnwindAction *ret)
{
    static const uint8_t pattern[] = {OP_BREG0 + UNWIND_X86_64_SP,
                                      8,
                                      OP_BREG0 + UNWIND_X86_64_PC,
                                      0,
                                      OP_LIT0 + 15,
                                      OP_AND,
                                      0,
                                      OP_GE,
                                      OP_LIT0 + 3,
                                      OP_SHL,
                                      OP_PLUS};
    enum { N_AT = 6 };
    const uint8_t *at = s->data + rule.value;
    if (rule.len != sizeof(pattern) || at[N_AT] < OP_LIT0 || at[N_AT] > OP_LIT0 + 15)
        return false;
    for (size_t i = 0; i < sizeof(pattern); i++)
        if (i != N_AT && at[i] != pattern[i])
            return false;
    ret->kind = UNWIND_PLT;
    ret->fp_off = at[N_AT] - OP_LIT0;
    return true;
}

static bool is_kept(UnwindRule rule)
{
    return rule.kind == UNWIND_RULE_SAME || rule.kind == UNWIND_RULE_UNDEFINED;
}

static bool simple_cfa(const CfiSection *s, const CfiState *state, UnwindAction *ret)
{
    if (state->cfa.kind == UNWIND_RULE_EXPR)
        return cfa_is_deref(s, state->cfa, ret);
    if (state->cfa.kind != UNWIND_RULE_REG)
        return false;
    ret->cfa = (uint8_t)state->cfa.len;
    ret->cfa_off = (uint32_t)state->cfa.value & UNWIND_CFA_OFF_MASK;
    return unwind_cfa_off(*ret) == state->cfa.value;
}

static uint8_t bx_slot(UnwindRule bx)
{
    if (is_kept(bx))
        return 0;
    bool fits = bx.kind == UNWIND_RULE_AT_CFA && bx.value < 0 && bx.value % 8 == 0 &&
                bx.value > -8 * UNWIND_BX_LOST;
    return fits ? (uint8_t)(-bx.value / 8) : UNWIND_BX_LOST;
}

static bool simple_x86_64(const CfiSection *s, const CfiState *state, UnwindAction *ret)
{
    UnwindRule ra = state->reg[UNWIND_X86_64_PC];
    UnwindRule fp = state->reg[UNWIND_X86_64_FP];
    int64_t offset = 0;
    if (ra.kind != UNWIND_RULE_AT_CFA || ra.value != -8)
        return false;
    if (state->cfa.kind == UNWIND_RULE_EXPR && is_kept(fp) && cfa_is_plt(s, state->cfa, ret))
        return true;
    if (!simple_cfa(s, state, ret))
        return false;
    if (is_kept(fp)) {
        ret->kind = UNWIND_FP_KEPT;
    } else if (fp.kind == UNWIND_RULE_AT_CFA && is_int16(fp.value)) {
        ret->kind = UNWIND_FP_AT_CFA;
        ret->fp_off = (int16_t)fp.value;
    } else if (fp.kind == UNWIND_RULE_AT_EXPR && is_breg(s, fp, UNWIND_X86_64_FP, &offset) &&
               is_int16(offset)) {
        ret->kind = UNWIND_FP_AT_FP;
        ret->fp_off = (int16_t)offset;
    } else {
        return false;
    }
    ret->bx_slot = bx_slot(state->reg[UNWIND_X86_64_BX]);
    return true;
}

static bool simple_aarch64(const CfiSection *s, const CfiState *state, UnwindAction *ret)
{
    UnwindRule ra = state->reg[UNWIND_AARCH64_LR];
    UnwindRule fp = state->reg[UNWIND_AARCH64_FP];
    if (!simple_cfa(s, state, ret))
        return false;
    if (ra.kind == UNWIND_RULE_SAME && is_kept(fp)) {
        ret->kind = UNWIND_RA_IN_LR;
    } else if (ra.kind == UNWIND_RULE_AT_CFA && is_int16(ra.value) && is_kept(fp)) {
        ret->kind = UNWIND_RA_AT_CFA;
        ret->fp_off = (int16_t)ra.value;
    } else if (ra.kind == UNWIND_RULE_AT_CFA && fp.kind == UNWIND_RULE_AT_CFA &&
               is_int16(fp.value) && ra.value == fp.value + 8) {
        ret->kind = UNWIND_PAIR_AT_CFA;
        ret->fp_off = (int16_t)fp.value;
    } else {
        return false;
    }
    return true;
}

UnwindAction cfi_action(const CfiSection *s, const CfiCie *cie, const CfiState *state,
                        UnwindRule *rule, uint32_t *rule_count)
{
    UnwindAction a = {.kind = UNWIND_NONE};
    bool is_aarch64 = s->arch == UNWIND_AARCH64;
    uint8_t usual_ra = is_aarch64 ? UNWIND_AARCH64_LR : UNWIND_X86_64_PC;
    UnwindRule ra = state->reg[cie->ra_reg];
    *rule_count = 0;
    if (ra.kind == UNWIND_RULE_UNDEFINED)
        return (UnwindAction){.kind = UNWIND_END};
    if (state->cfa.kind != UNWIND_RULE_REG && state->cfa.kind != UNWIND_RULE_EXPR)
        return a;
    if (cie->ra_reg != usual_ra) {
        // rawmemchr of aarch64's libc keeps its return address in x15.
        if (ra.kind == UNWIND_RULE_SAME)
            ra = (UnwindRule){.value = cie->ra_reg, .kind = UNWIND_RULE_REG};
    } else if (!cie->is_signal) {
        if (is_aarch64 ? simple_aarch64(s, state, &a) : simple_x86_64(s, state, &a))
            return a;
        if (!is_aarch64 && ra.kind == UNWIND_RULE_SAME)
            return (UnwindAction){.kind = UNWIND_NONE};
    }
    uint32_t n = 0;
    rule[n++] = state->cfa;
    for (uint32_t reg = 0; reg < UNWIND_REG_COUNT; reg++) {
        UnwindRule r = reg == usual_ra ? ra : state->reg[reg];
        if (r.kind == UNWIND_RULE_SAME)
            continue;
        rule[n] = r;
        rule[n++].reg = (uint8_t)reg;
    }
    *rule_count = n;
    return (UnwindAction){.kind = UNWIND_FULL, .cfa = cie->is_signal ? UNWIND_SIGNAL_FRAME : 0};
}
