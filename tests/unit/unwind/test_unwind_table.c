// SPDX-License-Identifier: Apache-2.0
// Tables of hand-made call frame information: each instruction, each shape of a
// rule, and what is broken.

#include "harness.h"

#include "cfi_maker.h"

enum { SP = UNWIND_X86_64_SP, FP = UNWIND_X86_64_FP };

static Arena arena;
static UnwindTable table;
static UnwindBuildStats stats;

static void build(const UnwindSections *s)
{
    Error err = {0};
    if (!unwind_table_build(&arena, s, &table, &stats, &err))
        fail_msg("%s", err.text);
}

static void build_made(const CfiMaker *m)
{
    UnwindSections s = cfi_sections(m);
    build(&s);
}

// A function of 0x100 bytes at TEXT with these instructions.
#define BUILD_X86(...)                                                                             \
    do {                                                                                           \
        CfiMaker m_ = {.arch = UNWIND_X86_64};                                                     \
        cfi_cie(&m_, "");                                                                          \
        CFI_FDE(&m_, 0, 0x100, __VA_ARGS__);                                                       \
        build_made(&m_);                                                                           \
    } while (0)

#define BUILD_ARM(...)                                                                             \
    do {                                                                                           \
        CfiMaker m_ = {.arch = UNWIND_AARCH64};                                                    \
        cfi_cie(&m_, "");                                                                          \
        CFI_FDE(&m_, 0, 0x100, __VA_ARGS__);                                                       \
        build_made(&m_);                                                                           \
    } while (0)

static UnwindAction at(uint64_t offset)
{
    return unwind_table_find(&table, TEXT + offset);
}

static void check(uint64_t offset, UnwindKind kind, unsigned reg, int cfa_off, int fp_off)
{
    UnwindAction a = at(offset);
    assert_int_equal(a.kind, kind);
    assert_int_equal(a.cfa & UNWIND_CFA_REG, reg);
    assert_int_equal(unwind_cfa_off(a), cfa_off);
    assert_int_equal(a.fp_off, fp_off);
}

static void a_usual_function_has_a_row_for_each_change(void **state)
{
    (void)state;
    // push %rbp; mov %rsp, %rbp; … leave; ret
    BUILD_X86(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x80, 0x0c, 7, 8);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(stats.broken, 0);
    check(0, UNWIND_FP_KEPT, SP, 8, 0);
    check(1, UNWIND_FP_AT_CFA, SP, 16, -16);
    check(3, UNWIND_FP_AT_CFA, SP, 16, -16);
    check(4, UNWIND_FP_AT_CFA, FP, 16, -16);
    check(0x83, UNWIND_FP_AT_CFA, FP, 16, -16);
    check(0x84, UNWIND_FP_AT_CFA, SP, 8, -16);
    check(0xff, UNWIND_FP_AT_CFA, SP, 8, -16);
    assert_int_equal(at(0x100).kind, UNWIND_NONE);
    assert_int_equal(unwind_table_find(&table, TEXT - 1).kind, UNWIND_NONE);
    assert_int_equal(table.row_count, 4);
}

static void locations_advance_by_each_width(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x30000, 0x02, 0x10, 0x0e, 16, 0x03, 0x00, 0x01, 0x0e, 24, 0x04, 0x00, 0x00,
            0x01, 0x00, 0x0e, 32);
    build_made(&m);
    check(0x0f, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x10, UNWIND_FP_KEPT, SP, 16, 0);
    check(0x10f, UNWIND_FP_KEPT, SP, 16, 0);
    check(0x110, UNWIND_FP_KEPT, SP, 24, 0);
    check(0x1010f, UNWIND_FP_KEPT, SP, 24, 0);
    check(0x10110, UNWIND_FP_KEPT, SP, 32, 0);
    check(0x2ffff, UNWIND_FP_KEPT, SP, 32, 0);
}

static void a_location_can_be_set(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    cfi_fde_begin(&m, 0, 0x100);
    cfi_u8(&m, 0x01);
    cfi_u32(&m, TEXT + 0x40 - (EH_FRAME_SVMA + m.len));
    CFI(&m, 0x0e, 48);
    cfi_end(&m);
    build_made(&m);
    check(0x3f, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x40, UNWIND_FP_KEPT, SP, 48, 0);
}

static void states_are_remembered_and_restored_with_the_cfa(void **state)
{
    (void)state;
    BUILD_X86(0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0a, 0x0e, 64, 0x41, 0x0b, 0x41, 0xc6, 0x0e, 8,
              0x41, 0x0b);
    check(1, UNWIND_FP_AT_CFA, SP, 16, -16);
    check(2, UNWIND_FP_AT_CFA, SP, 64, -16);
    check(3, UNWIND_FP_AT_CFA, SP, 16, -16);
    check(4, UNWIND_FP_KEPT, SP, 8, 0);
    check(5, UNWIND_FP_AT_CFA, SP, 16, -16);
}

static void a_state_never_remembered_breaks_the_entry(void **state)
{
    (void)state;
    BUILD_X86(0x41, 0x0e, 16, 0x41, 0x0b);
    assert_int_equal(stats.broken, 1);
    assert_non_null(strstr(stats.first_broken.text, "not remembered"));
    assert_int_equal(at(0).kind, UNWIND_NONE);
    assert_int_equal(at(0x80).kind, UNWIND_NONE);
}

static void unknown_numbers_are_in_the_error(void **state)
{
    (void)state;
    BUILD_X86(0x41, 0x3f);
    assert_non_null(strstr(stats.first_broken.text, "unknown instruction 0x3f at"));
    static const struct {
        size_t at; // in the CIE, whose version stands behind length and id
        uint8_t byte;
        const char *want;
    } cases[] = {
        {8, 7, "unknown version 7 at"},
        {9, 'e', "unknown augmentation that begins with letter 0x65 at"},
        {14, 200, "return address is in unknown column 200 at"},
        {16, 0x55, "unknown encoding of addresses 0x55 at"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CfiMaker m = {.arch = UNWIND_X86_64};
        cfi_cie(&m, "");
        CFI_FDE(&m, 0, 0x100, 0x41, 0x0e, 16);
        m.bytes[cases[i].at] = cases[i].byte;
        build_made(&m);
        assert_non_null(strstr(stats.first_broken.text, cases[i].want));
    }
}

static void endless_remembering_breaks_the_entry(void **state)
{
    (void)state;
    BUILD_X86(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a);
    assert_int_equal(stats.broken, 1);
}

static void extended_offsets_and_restores_are_the_same_rules(void **state)
{
    (void)state;
    BUILD_X86(0x05, 6, 3, 0x41, 0x06, 6, 0x41, 0x11, 6, 0x7e, 0x41, 0x2f, 6, 0x04, 0x41, 0x08, 6,
              0x41, 0x07, 6);
    check(0, UNWIND_FP_AT_CFA, SP, 8, -24);
    check(1, UNWIND_FP_KEPT, SP, 8, 0);
    check(2, UNWIND_FP_AT_CFA, SP, 8, 16); // offset_extended_sf -2 * -8
    check(3, UNWIND_FP_AT_CFA, SP, 8, 32); // GNU negative offset
    check(4, UNWIND_FP_KEPT, SP, 8, 0);    // same value
    check(5, UNWIND_FP_KEPT, SP, 8, 0);    // undefined: nothing better is known
}

static void the_cfa_takes_every_form_of_register_and_offset(void **state)
{
    (void)state;
    BUILD_X86(0x12, 7, 0x7c, 0x41, 0x13, 0x78, 0x41, 0x0d, 0, 0x41, 0x0c, 11, 0x80, 0x80, 0x02,
              0x41, 0x2e, 0x10);
    check(0, UNWIND_FP_KEPT, SP, 32, 0); // def_cfa_sf -4 * -8
    check(1, UNWIND_FP_KEPT, SP, 64, 0); // def_cfa_offset_sf
    check(2, UNWIND_FP_KEPT, 0, 64, 0);  // rax, as assembly has it
    check(3, UNWIND_FP_KEPT, 11, 0x8000, 0);
    check(4, UNWIND_FP_KEPT, 11, 0x8000, 0); // GNU_args_size changes nothing
    assert_int_equal(stats.broken, 0);
}

static void a_register_takes_the_offset_stated_before_an_expression(void **state)
{
    (void)state;
    // As libgcrypt has it and the C++ runtime reads it.
    BUILD_X86(0x0e, 40, 0x41, 0x0f, 3, 0x77, 0, 0x06, 0x41, 0x0d, 6);
    assert_int_equal(stats.broken, 0);
    check(2, UNWIND_FP_KEPT, FP, 40, 0);
}

static void frames_beyond_an_actions_width_keep_their_size(void **state)
{
    (void)state;
    // 16 MiB: no room in the 24 bits of an action.
    BUILD_X86(0x0e, 0x88, 0x80, 0x80, 0x08);
    UnwindAction a = at(0);
    assert_int_equal(a.kind, UNWIND_FULL);
    const UnwindRule *cfa = &table.rule[unwind_cfa_off(a)];
    assert_int_equal(cfa->kind, UNWIND_RULE_REG);
    assert_int_equal(cfa->len, SP);
    assert_int_equal(cfa->value, 0x1000008);
}

static void where_rbx_is_saved_is_kept(void **state)
{
    (void)state;
    BUILD_X86(0x41, 0x0e, 16, 0x83, 2, 0x41, 0x10, 3, 2, 0x76, 0x78, 0x41, 0xc3);
    assert_int_equal(at(0).bx_slot, 0);
    assert_int_equal(at(1).bx_slot, 2);
    assert_int_equal(at(2).bx_slot, UNWIND_BX_LOST);
    assert_int_equal(at(3).bx_slot, 0);
}

static void realigned_frames_need_no_interpreter(void **state)
{
    (void)state;
    // gcc: CFA = *(rbp - 8), rbp saved at rbp + 0
    BUILD_X86(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);
    UnwindAction a = at(0);
    assert_int_equal(a.kind, UNWIND_FP_AT_FP);
    assert_int_equal(a.cfa, FP | UNWIND_CFA_DEREF);
    assert_int_equal((int16_t)(a.cfa_off & 0xffff), -8);
    assert_int_equal(a.fp_off, 0);
    // libcrypto: CFA = *(rsp + 48) + 8, with an addend of either form
    BUILD_X86(0x0f, 5, 0x77, 48, 0x06, 0x23, 8, 0x41, 0x0f, 5, 0x77, 48, 0x06, 0x38, 0x22);
    a = at(0);
    assert_int_equal(a.kind, UNWIND_FP_KEPT);
    assert_int_equal(a.cfa, SP | UNWIND_CFA_DEREF);
    assert_int_equal(a.cfa_off, 48 | 8 << 16);
    UnwindAction b = at(1);
    assert_memory_equal(&a, &b, sizeof(a));
}

static void the_plt_expression_is_recognised(void **state)
{
    (void)state;
    BUILD_X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    assert_int_equal(at(0).kind, UNWIND_PLT);
    assert_int_equal(at(0).fp_off, 11);
}

static void other_expressions_are_kept_by_bytes(void **state)
{
    (void)state;
    BUILD_X86(0x0f, 4, 0x77, 8, 0x38, 0x22, 0x41, 0x0e, 8, 0x16, 6, 3, 0x77, 0, 0x06);
    UnwindAction a = at(0);
    assert_int_equal(a.kind, UNWIND_FULL);
    const UnwindRule *rule = &table.rule[unwind_cfa_off(a)];
    assert_int_equal(rule->kind, UNWIND_RULE_EXPR);
    assert_memory_equal(table.expr + rule->value, ((uint8_t[]){0x77, 8, 0x38, 0x22}), 4);
}

static void an_undefined_return_address_is_the_end(void **state)
{
    (void)state;
    BUILD_X86(0x07, 16);
    assert_int_equal(at(0).kind, UNWIND_END);
}

static void a_signal_frame_has_all_its_rules(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "S");
    CFI_FDE(&m, 0, 0x10, 0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 16, 3, 0x77, 0xa8, 0x01, 0x10, 12,
            2, 0x77, 0x20);
    build_made(&m);
    UnwindAction a = at(4);
    assert_int_equal(a.kind, UNWIND_FULL);
    assert_true(a.cfa & UNWIND_SIGNAL_FRAME);
    assert_int_equal(a.fp_off, 3); // CFA, r12, return address
}

static void equal_actions_are_kept_once(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "S");
    for (unsigned i = 0; i < 20; i++)
        CFI_FDE(&m, i * 0x40, 0x20, 0x10, 16, 3, 0x77, 0xa8, 0x01);
    build_made(&m);
    assert_int_equal(table.action_count, 2); // and "no rule"
    assert_int_equal(table.rule_count, 2);
    assert_int_equal(table.expr_size, 3);
    assert_int_equal(table.row_count, 39); // a start for each, an end for all but the last
}

static void entries_out_of_order_are_sorted(void **state)
{
    (void)state;
    static const unsigned order[] = {5, 0, 3, 1, 4, 2};
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    for (unsigned i = 0; i < ARRAY_LEN(order); i++)
        CFI_FDE(&m, order[i] * 0x100, 0x100, 0x0e, (uint8_t)(16 + 8 * order[i]));
    build_made(&m);
    for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
        check(i * 0x100, UNWIND_FP_KEPT, SP, (int)(16 + 8 * i), 0);
        check(i * 0x100 + 0xff, UNWIND_FP_KEPT, SP, (int)(16 + 8 * i), 0);
    }
}

static void an_overlapped_entry_ends_where_the_next_starts(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x100, 0x0e, 16);
    CFI_FDE(&m, 0x40, 0x10, 0x0e, 24);
    build_made(&m);
    check(0x3f, UNWIND_FP_KEPT, SP, 16, 0);
    check(0x40, UNWIND_FP_KEPT, SP, 24, 0);
    assert_int_equal(at(0x50).kind, UNWIND_NONE);
}

static void padding_between_functions_costs_no_row(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x2a, 0x0e, 16);
    CFI_FDE(&m, 0x30, 0x10, 0x0e, 24);
    CFI_FDE(&m, 0x60, 0x10, 0x0e, 32);
    build_made(&m);
    assert_int_equal(at(0x50).kind, UNWIND_NONE);
    assert_int_equal(table.row_count, 4);
}

static void entries_outside_of_the_text_are_dropped(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0 - TEXT, 0x10, 0x0e, 16); // a discarded section, relocated to 0
    CFI_FDE(&m, 0, 0x10, 0x0e, 24);
    CFI_FDE(&m, 0x20, 0, 0x0e, 24);
    UnwindSections s = cfi_sections(&m);
    s.text = (UnwindRange){TEXT, TEXT + 0x1000};
    build(&s);
    assert_int_equal(stats.dropped, 2);
    assert_int_equal(table.base_svma, TEXT);
    check(0, UNWIND_FP_KEPT, SP, 24, 0);
}

static void debug_frame_fills_the_gaps(void **state)
{
    (void)state;
    CfiMaker eh = {.arch = UNWIND_X86_64};
    CfiMaker debug = {.arch = UNWIND_X86_64, .is_debug_frame = true};
    cfi_cie(&eh, "");
    CFI_FDE(&eh, 0x40, 0x40, 0x0e, 16);
    cfi_cie(&debug, "");
    CFI_FDE(&debug, 0, 0x60, 0x0e, 24);
    CFI_FDE(&debug, 0x40, 0x40, 0x0e, 32);
    CFI_FDE(&debug, 0x50, 0x08, 0x0e, 40);
    CFI_FDE(&debug, 0x80, 0x10, 0x0e, 48);
    UnwindSections s = cfi_sections(&eh);
    s.debug_frame = bytes_over(debug.bytes, debug.len);
    build(&s);
    assert_int_equal(stats.broken, 0);
    check(0, UNWIND_FP_KEPT, SP, 24, 0);
    check(0x3f, UNWIND_FP_KEPT, SP, 24, 0);
    check(0x40, UNWIND_FP_KEPT, SP, 16, 0);
    check(0x50, UNWIND_FP_KEPT, SP, 16, 0);
    check(0x80, UNWIND_FP_KEPT, SP, 48, 0);
}

static void a_list_goes_on_behind_a_terminator_unless_open_ended(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x10, 0x0e, 16);
    cfi_u32(&m, 0);
    cfi_cie(&m, "");
    CFI_FDE(&m, 0x10, 0x10, 0x0e, 24);
    build_made(&m);
    check(0x10, UNWIND_FP_KEPT, SP, 24, 0);
    UnwindSections s = cfi_sections(&m);
    s.eh_frame_open_ended = true;
    build(&s);
    assert_int_equal(at(0x10).kind, UNWIND_NONE);
    check(0, UNWIND_FP_KEPT, SP, 16, 0);
}

static void stubs_without_rules_get_the_usual_ones(void **state)
{
    (void)state;
    UnwindSections s = {.arch = UNWIND_X86_64};
    s.plt = (UnwindRange){TEXT, TEXT + 0x40};
    s.plt_plain[0] = (UnwindRange){TEXT + 0x40, TEXT + 0x80};
    build(&s);
    check(0, UNWIND_FP_KEPT, SP, 16, 0);
    check(6, UNWIND_FP_KEPT, SP, 24, 0);
    assert_int_equal(at(0x10).kind, UNWIND_PLT);
    assert_int_equal(at(0x3f).kind, UNWIND_PLT);
    check(0x40, UNWIND_FP_KEPT, SP, 8, 0);
    s.arch = UNWIND_AARCH64;
    build(&s);
    check(0, UNWIND_RA_IN_LR, UNWIND_AARCH64_SP, 0, 0);
    check(4, UNWIND_RA_AT_CFA, UNWIND_AARCH64_SP, 16, -8);
    check(0x20, UNWIND_RA_IN_LR, UNWIND_AARCH64_SP, 0, 0);
}

static void init_and_fini_get_the_rules_of_their_code(void **state)
{
    (void)state;
    // As gcc 12's crti.o and crtn.o link them: a call of __gmon_start__ if it is there.
    static uint8_t init[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05, 0xc5, 0x2f, 0x00, 0x00, 0x48,
                             0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    static const uint8_t fini[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec,
                                   0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    UnwindSections s = {.arch = UNWIND_X86_64,
                        .init = {bytes_over(init, sizeof(init)), TEXT},
                        .fini = {bytes_over(fini, sizeof(fini)), TEXT + 0x80}};
    build(&s);
    check(0, UNWIND_FP_KEPT, SP, 8, 0);
    check(3, UNWIND_FP_KEPT, SP, 8, 0);
    check(4, UNWIND_FP_KEPT, SP, 16, 0);
    check(21, UNWIND_FP_KEPT, SP, 16, 0);
    check(22, UNWIND_FP_KEPT, SP, 8, 0);
    assert_int_equal(at(23).kind, UNWIND_NONE);
    check(0x84, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x88, UNWIND_FP_KEPT, SP, 16, 0);
    init[0] = 0x90; // not what is known
    build(&s);
    assert_int_equal(at(0).kind, UNWIND_NONE);
    // Of a static program: mov $0, %rax instead.
    static const uint8_t fixed[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xc7, 0xc0, 0,
                                    0,    0,    0,    0x48, 0x85, 0xc0, 0x74, 0x02,
                                    0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    s.init.bytes = bytes_over(fixed, sizeof(fixed));
    build(&s);
    check(4, UNWIND_FP_KEPT, SP, 16, 0);
    check(22, UNWIND_FP_KEPT, SP, 8, 0);
    UnwindCode whole = s.fini;
    s.fini.bytes = bytes_over(fini + 4, sizeof(fini) - 4); // without endbr64
    build(&s);
    check(0x84, UNWIND_FP_KEPT, SP, 16, 0);
    s.fini = whole;
    for (size_t len = 0; len < sizeof(fini); len++) {
        s.fini.bytes.len = len;
        build(&s);
        assert_int_equal(at(0x80).kind, UNWIND_NONE);
    }
}

static void startup_code_without_rules_is_read_by_its_instructions(void **state)
{
    (void)state;
    // 10: endbr64; cmpb; jne 28; push %rbp; mov %rsp, %rbp; 21: call; 26: pop %rbp; ret;
    // 28: ret; nopl; 30: endbr64; jmp 10; nopw; nopl; 40: push %r15, as none of them does.
    static const uint8_t startup[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x80, 0x3d, 0,    0,    0,    0, 0,
                                      0x75, 0x0b, 0x55, 0x48, 0x89, 0xe5, 0xe8, 0,    0,    0, 0,
                                      0x5d, 0xc3, 0xc3, 0x0f, 0x1f, 0x80, 0,    0,    0,    0, 0xf3,
                                      0x0f, 0x1e, 0xfa, 0xeb, 0xda, 0x66, 0x0f, 0x1f, 0x44, 0, 0,
                                      0x0f, 0x1f, 0x40, 0,    0x41, 0x57, 0x41, 0x5f, 0xc3};
    static uint8_t code[0x70];
    memcpy(code + 0x10, startup, sizeof(startup));
    CfiMaker made = {.arch = UNWIND_X86_64};
    cfi_cie(&made, "");
    CFI_FDE(&made, 0, 0x0e);
    CFI_FDE(&made, 0x50, 0x10);
    UnwindSections s = cfi_sections(&made);
    s.code = (UnwindCode){bytes_over(code, sizeof(code)), TEXT};
    build(&s);
    check(0x10, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x1d, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x1e, UNWIND_FP_AT_CFA, SP, 16, -16);
    check(0x26, UNWIND_FP_AT_CFA, SP, 16, -16);
    check(0x27, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x28, UNWIND_FP_KEPT, SP, 8, 0);
    check(0x35, UNWIND_FP_KEPT, SP, 8, 0);
    assert_int_equal(at(0x40).kind, UNWIND_NONE);
    // Whatever the stack's depth would not be known behind is left alone.
    static const struct {
        uint8_t at, byte;
    } wrong[] = {
        {0x1c, 0x09}, // a jump over the push to the pop
        {0x1c, 0x08}, // into an instruction
        {0x26, 0x90}, // no pop
        {0x1d, 0x90}, // no push
        {0x27, 0xcc}, // no end
        {0x21, 0x0f}, // an unknown one
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        uint8_t right = code[wrong[i].at];
        code[wrong[i].at] = wrong[i].byte;
        build(&s);
        assert_int_equal(at(0x10).kind, UNWIND_NONE);
        code[wrong[i].at] = right;
    }
    for (s.code.bytes.len = 0; s.code.bytes.len < 0x29; s.code.bytes.len++) {
        build(&s);
        assert_int_equal(at(0x10).kind, UNWIND_NONE);
    }
    // Behind the last entry as well, where a small program has it.
    memcpy(code + 0x60, code + 0x30, 6);
    s.code.bytes.len = sizeof(code);
    build(&s);
    check(0x64, UNWIND_FP_KEPT, SP, 8, 0);
}

static void behind_the_system_call_of_clone_there_is_a_rule(void **state)
{
    (void)state;
    // mov $0x38, %eax; syscall; test %rax, %rax; jl; jz; ret: the rules end before
    // the system call, as in glibc's clone.
    static uint8_t code[0x40] = {0xb8, 0x38, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x48};
    CfiMaker made = {.arch = UNWIND_X86_64};
    cfi_cie(&made, "");
    CFI_FDE(&made, 0, 5);
    CFI_FDE(&made, 0x30, 0x10, 0x07, 16);
    UnwindSections s = cfi_sections(&made);
    s.code = (UnwindCode){bytes_over(code, sizeof(code)), TEXT};
    build(&s);
    check(4, UNWIND_FP_KEPT, SP, 8, 0);
    check(5, UNWIND_AFTER_CLONE, SP, 8, 0);
    check(5 + 19, UNWIND_AFTER_CLONE, SP, 8, 0);
    assert_int_equal(at(5 + 20).kind, UNWIND_NONE);
    assert_int_equal(at(0x30).kind, UNWIND_END);
    code[6] = 0x0b; // no system call
    build(&s);
    assert_int_equal(at(5).kind, UNWIND_NONE);
    code[6] = 0x05;
    s.code.bytes.len = 6; // cut in it
    build(&s);
    assert_int_equal(at(5).kind, UNWIND_NONE);
    // On aarch64 they end behind it.
    static const uint8_t svc[0x40] = {0x88, 0x1b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
    made = (CfiMaker){.arch = UNWIND_AARCH64};
    cfi_cie(&made, "");
    CFI_FDE(&made, 0, 8);
    CFI_FDE(&made, 0x30, 0x10);
    s = cfi_sections(&made);
    s.code = (UnwindCode){bytes_over(svc, sizeof(svc)), TEXT};
    build(&s);
    check(4, UNWIND_RA_IN_LR, UNWIND_AARCH64_SP, 0, 0);
    check(8, UNWIND_AFTER_CLONE, UNWIND_AARCH64_SP, 0, 0);
}

static void aarch64_frames_need_no_interpreter(void **state)
{
    (void)state;
    // stp x29, x30, [sp, -48]!; mov x29, sp; paciasp first, autiasp last
    BUILD_ARM(0x2d, 0x41, 0x0e, 48, 0x9d, 6, 0x9e, 5, 0x41, 0x0d, 29, 0x44, 0xdd, 0xde, 0x0c, 31, 0,
              0x41, 0x2d, 0x41, 0x0e, 16, 0x9e, 2);
    assert_int_equal(stats.broken, 0);
    check(0, UNWIND_RA_IN_LR, UNWIND_AARCH64_SP, 0, 0);
    check(4, UNWIND_PAIR_AT_CFA, UNWIND_AARCH64_SP, 48, -48);
    check(8, UNWIND_PAIR_AT_CFA, UNWIND_AARCH64_FP, 48, -48);
    check(24, UNWIND_RA_IN_LR, UNWIND_AARCH64_SP, 0, 0);
    check(32, UNWIND_RA_AT_CFA, UNWIND_AARCH64_SP, 16, -16);
}

static void an_aarch64_frame_of_another_shape_has_all_its_rules(void **state)
{
    (void)state;
    BUILD_ARM(0x0e, 48, 0x9e, 6, 0x9d, 2); // x30 below x29
    assert_int_equal(at(0).kind, UNWIND_FULL);
}

static void signing_is_no_x86_instruction(void **state)
{
    (void)state;
    BUILD_X86(0x2d);
    assert_int_equal(stats.broken, 1);
}

static void a_module_without_entries_finds_nothing(void **state)
{
    (void)state;
    UnwindSections s = {.arch = UNWIND_X86_64};
    build(&s);
    assert_int_equal(table.size, 0);
    assert_int_equal(unwind_table_find(&table, 0).kind, UNWIND_NONE);
    assert_int_equal(unwind_table_find(&table, UINT64_MAX).kind, UNWIND_NONE);
}

static void code_farther_apart_than_a_table_reaches_is_refused(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64, .is_debug_frame = true};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x10, 0x0e, 16);
    CFI_FDE(&m, 0x100000000, 0x10, 0x0e, 16);
    UnwindSections s = cfi_sections(&m);
    Error err = {0};
    UnwindTable untouched = {.size = 77};
    assert_false(unwind_table_build(&arena, &s, &untouched, NULL, &err));
    assert_int_equal(err.kind, ERROR_LIMIT);
    assert_int_equal(untouched.size, 77);
}

static void the_last_byte_of_four_gibibytes_can_be_covered(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64, .is_debug_frame = true};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x10, 0x0e, 16);
    CFI_FDE(&m, 0xfffffff0, 0x1000, 0x0e, 24);
    build_made(&m);
    assert_int_equal(table.size, 0x100000000);
    check(0xffffffff, UNWIND_FP_KEPT, SP, 24, 0);
    assert_int_equal(at(0x100000000).kind, UNWIND_NONE);
    assert_int_equal(at(0x80000000).kind, UNWIND_NONE);
}

// A section with a bit of everything, cut at each byte and with each byte
// inverted: no crash, and rows only for what was read whole.
static void cut_or_spoilt_anywhere_it_does_no_harm(void **state)
{
    (void)state;
    CfiMaker m = {.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    CFI_FDE(&m, 0, 0x40, 0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0x0d, 6, 0x02, 0x10, 0x0b);
    cfi_cie(&m, "S");
    CFI_FDE(&m, 0x40, 0x40, 0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 16, 3, 0x77, 0xa8, 0x01);
    UnwindSections s = cfi_sections(&m);
    for (size_t len = 0; len <= m.len; len++) {
        s.eh_frame.len = len;
        build(&s);
        if (len < m.len)
            assert_int_equal(at(0x60).kind, UNWIND_NONE);
    }
    for (size_t i = 0; i < m.len; i++) {
        m.bytes[i] ^= 0xff;
        Error err;
        s = cfi_sections(&m);
        (void)!unwind_table_build(&arena, &s, &table, &stats, &err);
        m.bytes[i] ^= 0xff;
    }
    s = cfi_sections(&m);
    build(&s);
    assert_int_equal(at(0x60).kind, UNWIND_FULL);
}

static void the_header_leads_to_the_section(void **state)
{
    (void)state;
    uint8_t hdr[] = {1, 0x1b, 0x03, 0x3b, 0x10, 0, 0, 0};
    uint64_t svma = 0;
    Error err;
    assert_true(unwind_eh_frame_hdr_parse(bytes_over(hdr, sizeof(hdr)), 0x400, 0, &svma, &err));
    assert_int_equal(svma, 0x414);
    for (size_t len = 0; len < sizeof(hdr); len++)
        assert_false(unwind_eh_frame_hdr_parse(bytes_over(hdr, len), 0x400, 0, &svma, &err));
    assert_false(unwind_eh_frame_hdr_parse((Bytes){0}, 0x400, 0, &svma, &err)); // absent
    hdr[0] = 2;
    assert_false(unwind_eh_frame_hdr_parse(bytes_over(hdr, sizeof(hdr)), 0x400, 0, &svma, &err));
    assert_non_null(strstr(err.text, "unknown version 2"));
    hdr[0] = 1;
    hdr[1] = 0x5b;
    assert_false(unwind_eh_frame_hdr_parse(bytes_over(hdr, sizeof(hdr)), 0x400, 0, &svma, &err));
    assert_non_null(strstr(err.text, "unknown encoding 0x5b"));
}

static void many_rows_in_little_code_are_all_found(void **state)
{
    (void)state;
    static CfiMaker m;
    m = (CfiMaker){.arch = UNWIND_X86_64};
    cfi_cie(&m, "");
    cfi_fde_begin(&m, 0, 0x300);
    for (unsigned i = 1; i < 0x300; i++)
        CFI(&m, 0x41, 0x0e, (uint8_t)(8 + i % 100));
    cfi_end(&m);
    build_made(&m);
    for (unsigned i = 1; i < 0x300; i++)
        check(i, UNWIND_FP_KEPT, SP, (int)(8 + i % 100), 0);
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_usual_function_has_a_row_for_each_change),
        cmocka_unit_test(locations_advance_by_each_width),
        cmocka_unit_test(a_location_can_be_set),
        cmocka_unit_test(states_are_remembered_and_restored_with_the_cfa),
        cmocka_unit_test(a_state_never_remembered_breaks_the_entry),
        cmocka_unit_test(unknown_numbers_are_in_the_error),
        cmocka_unit_test(endless_remembering_breaks_the_entry),
        cmocka_unit_test(extended_offsets_and_restores_are_the_same_rules),
        cmocka_unit_test(the_cfa_takes_every_form_of_register_and_offset),
        cmocka_unit_test(a_register_takes_the_offset_stated_before_an_expression),
        cmocka_unit_test(frames_beyond_an_actions_width_keep_their_size),
        cmocka_unit_test(where_rbx_is_saved_is_kept),
        cmocka_unit_test(realigned_frames_need_no_interpreter),
        cmocka_unit_test(the_plt_expression_is_recognised),
        cmocka_unit_test(other_expressions_are_kept_by_bytes),
        cmocka_unit_test(an_undefined_return_address_is_the_end),
        cmocka_unit_test(a_signal_frame_has_all_its_rules),
        cmocka_unit_test(equal_actions_are_kept_once),
        cmocka_unit_test(entries_out_of_order_are_sorted),
        cmocka_unit_test(an_overlapped_entry_ends_where_the_next_starts),
        cmocka_unit_test(padding_between_functions_costs_no_row),
        cmocka_unit_test(entries_outside_of_the_text_are_dropped),
        cmocka_unit_test(debug_frame_fills_the_gaps),
        cmocka_unit_test(a_list_goes_on_behind_a_terminator_unless_open_ended),
        cmocka_unit_test(stubs_without_rules_get_the_usual_ones),
        cmocka_unit_test(init_and_fini_get_the_rules_of_their_code),
        cmocka_unit_test(startup_code_without_rules_is_read_by_its_instructions),
        cmocka_unit_test(behind_the_system_call_of_clone_there_is_a_rule),
        cmocka_unit_test(aarch64_frames_need_no_interpreter),
        cmocka_unit_test(an_aarch64_frame_of_another_shape_has_all_its_rules),
        cmocka_unit_test(signing_is_no_x86_instruction),
        cmocka_unit_test(a_module_without_entries_finds_nothing),
        cmocka_unit_test(code_farther_apart_than_a_table_reaches_is_refused),
        cmocka_unit_test(the_last_byte_of_four_gibibytes_can_be_covered),
        cmocka_unit_test(cut_or_spoilt_anywhere_it_does_no_harm),
        cmocka_unit_test(the_header_leads_to_the_section),
        cmocka_unit_test(many_rows_in_little_code_are_all_found),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
