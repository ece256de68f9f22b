// SPDX-License-Identifier: Apache-2.0
// unwind_rows FILE: for each address (hex) on stdin, the rule of FILE's unwind
// table in the words of "readelf --debug-dump=frames-interp": address, CFA,
// frame pointer, return address. "-" where there is no rule.

#include "../unit/unwind/modules.h"

#include <inttypes.h>

static const char *reg_name(UnwindArch arch, unsigned reg)
{
    static const char *const x86[17] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                        "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                        "r12", "r13", "r14", "r15", "rip"};
    static char name[8];
    if (arch == UNWIND_X86_64)
        return reg < ARRAY_LEN(x86) ? x86[reg] : "?";
    snprintf(name, sizeof(name), reg == UNWIND_AARCH64_SP ? "sp" : "x%u", reg);
    return name;
}

static void print_saved(int offset)
{
    printf(" c%+d", offset);
}

static void print_rule(const UnwindRule *r, unsigned arch)
{
    switch ((UnwindRuleKind)r->kind) {
    case UNWIND_RULE_SAME:
    case UNWIND_RULE_UNDEFINED:
        printf(" u");
        break;
    case UNWIND_RULE_AT_CFA:
        print_saved(r->value);
        break;
    case UNWIND_RULE_CFA_PLUS:
        printf(" v%+d", r->value);
        break;
    case UNWIND_RULE_REG:
        printf(" %s", reg_name(arch, (unsigned)r->value));
        break;
    case UNWIND_RULE_AT_EXPR:
        printf(" exp");
        break;
    case UNWIND_RULE_EXPR:
        printf(" vexp");
        break;
    }
}

static void print_full(const UnwindTable *t, UnwindAction a)
{
    unsigned fp = t->arch == UNWIND_AARCH64 ? UNWIND_AARCH64_FP : UNWIND_X86_64_FP;
    unsigned ra = t->arch == UNWIND_AARCH64 ? UNWIND_AARCH64_LR : UNWIND_X86_64_PC;
    const UnwindRule *rule = t->rule + unwind_cfa_off(a);
    const UnwindRule none = {0}, *of_fp = &none, *of_ra = &none;
    for (int i = 1; i < a.fp_off; i++) {
        if (rule[i].reg == fp)
            of_fp = &rule[i];
        if (rule[i].reg == ra)
            of_ra = &rule[i];
    }
    if (rule[0].kind == UNWIND_RULE_EXPR)
        printf(" exp");
    else
        printf(" %s%+d", reg_name(t->arch, rule[0].len), rule[0].value);
    print_rule(of_fp, t->arch);
    print_rule(of_ra, t->arch);
}

static void print_action(const UnwindTable *t, UnwindAction a)
{
    if (a.kind == UNWIND_NONE || a.kind == UNWIND_END) {
        printf(a.kind == UNWIND_END ? " * * u" : " - - -");
        return;
    }
    if (a.kind == UNWIND_FULL) {
        print_full(t, a);
        return;
    }
    if (a.kind == UNWIND_PLT || (a.cfa & UNWIND_CFA_DEREF))
        printf(" exp");
    else
        printf(" %s%+d", reg_name(t->arch, a.cfa & UNWIND_CFA_REG), unwind_cfa_off(a));
    bool has_fp = a.kind == UNWIND_FP_AT_CFA || a.kind == UNWIND_PAIR_AT_CFA;
    if (has_fp)
        print_saved(a.fp_off);
    else
        printf(a.kind == UNWIND_FP_AT_FP ? " exp" : " u");
    if (t->arch == UNWIND_X86_64)
        print_saved(-8);
    else if (a.kind == UNWIND_RA_IN_LR)
        printf(" u");
    else
        print_saved(a.fp_off + (a.kind == UNWIND_PAIR_AT_CFA ? 8 : 0));
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    MappedFile file;
    Elf elf;
    UnwindTable table;
    UnwindBuildStats stats;
    Error err;
    if (argc != 2)
        return 2;
    if (!os_map_file(str_from_c(argv[1]), &file, &err) ||
        !elf_parse(&arena, file.bytes, &elf, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    UnwindSections sections = modules_sections(&arena, &elf);
    sections.code = (UnwindCode){0}; // what is stated, nothing else
    if (!unwind_table_build(&arena, &sections, &table, &stats, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    uint64_t svma;
    while (scanf("%" SCNx64, &svma) == 1) {
        printf("%" PRIx64, svma);
        print_action(&table, unwind_table_find(&table, svma));
        printf("\n");
    }
    fprintf(stderr, "%u rows, %u entries, %u broken %s\n", table.row_count, stats.entries,
            stats.broken, stats.first_broken.text);
    arena_deinit(&arena);
    os_unmap_file(&file);
    return 0;
}
