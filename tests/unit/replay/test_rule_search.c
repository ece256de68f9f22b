// SPDX-License-Identifier: Apache-2.0
// The rules of a large module that are searched one by one are those of its table.

#include "harness.h"

#include <link.h>

#include "os/file.h"
#include "replay/rule_search.h"
#include "unwind/unwind_table.h"

enum { STRIDE = 7, MODULE = 3 };

#if defined(__x86_64__)
#define OWN_ARCH UNWIND_X86_64
#else
#define OWN_ARCH UNWIND_AARCH64
#endif

static char libc_path[4096];

static int find_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    if (strstr(info->dlpi_name, "libc.so"))
        snprintf(libc_path, sizeof(libc_path), "%s", info->dlpi_name);
    return 0;
}

static Bytes section(const Elf *elf, const char *name, uint64_t *ret_svma)
{
    const ElfSection *s = elf_section_find(elf, str_from_c(name));
    Bytes bytes = {0};
    if (s && elf_section_raw(elf, s, &bytes, NULL))
        *ret_svma = s->svma;
    return bytes;
}

static void rules_are_those_of_the_table(void **state)
{
    (void)state;
    MappedFile file;
    Arena arena = {0};
    Elf elf;
    Error err = {0};
    dl_iterate_phdr(find_libc, NULL);
    if (!libc_path[0])
        skip(); // linked statically
    assert_ok(os_map_file(str_from_c(libc_path), &file, &err), &err);
    assert_ok(elf_parse(&arena, file.bytes, &elf, &err), &err);
    UnwindSections whole = {.arch = OWN_ARCH};
    whole.eh_frame = section(&elf, ".eh_frame", &whole.eh_frame_svma);
    UnwindTable table;
    assert_ok(unwind_table_build(&arena, &whole, &table, NULL, &err), &err);
    RuleSearch search;
    rule_search_init(&elf, OWN_ARCH, &search);
    assert_true(search.left > 100); // libc's .eh_frame is large enough
    RuleCache *cache = arena_new(&arena, RuleCache);
    const ElfSection *text = elf_section_find(&elf, STR(".text"));
    uint32_t found = 0, searches = search.left;
    for (int round = 0; round < 2; round++)
        for (uint64_t at = text->svma; at < text->svma + text->size; at += STRIDE) {
            UnwindAction got, want = unwind_table_find(&table, at);
            search.left = searches;
            if (!rule_search_find(&search, cache, MODULE, at, &got))
                continue;
            found++;
            assert_memory_equal(&got, &want, sizeof(got));
        }
    assert_true(found > text->size / STRIDE); // of two rounds
    search.left = 0;
    UnwindAction none;
    assert_false(rule_search_find(&search, cache, MODULE, text->svma, &none));
    arena_deinit(&arena);
    os_unmap_file(&file);
}

// A file whose search table leads elsewhere than to its .eh_frame is not searched.
static void a_search_table_of_another_section_is_not_used(void **state)
{
    (void)state;
    enum { HDR = 64, EH = 4096, SIZE = 1 << 17, SVMA = 0x10000 };
    static uint8_t image[SIZE];
    Elf elf = {.file = bytes_over(image, SIZE)};
    ElfSection sections[3] = {
        {0},
        {.name = STR(".eh_frame_hdr"),
         .type = SHT_PROGBITS,
         .offset = HDR,
         .svma = SVMA + HDR,
         .size = 64},
        {.name = STR(".eh_frame"),
         .type = SHT_PROGBITS,
         .offset = EH,
         .svma = SVMA + EH,
         .size = SIZE - EH},
    };
    elf.sections = sections;
    elf.section_count = 3;
    int32_t to_frames = EH - HDR - 4;
    uint32_t count = 1;
    memcpy(image + HDR, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
    memcpy(image + HDR + 4, &to_frames, 4);
    memcpy(image + HDR + 8, &count, 4);
    RuleSearch search;
    rule_search_init(&elf, OWN_ARCH, &search);
    assert_true(search.left > 0);
    to_frames -= 1 << 16; // before the file
    memcpy(image + HDR + 4, &to_frames, 4);
    rule_search_init(&elf, OWN_ARCH, &search);
    assert_int_equal(search.left, 0);
    sections[2].svma += 4096; // not as in the file
    to_frames = EH + 4096 - HDR - 4;
    memcpy(image + HDR + 4, &to_frames, 4);
    rule_search_init(&elf, OWN_ARCH, &search);
    assert_int_equal(search.left, 0);
}

// Where the address in the header is relative to data, a file can give two meanings to it: by its
// own .got it is that of .eh_frame, and by the header it lies before the file.
static void a_search_table_does_not_lead_out_of_the_file(void **state)
{
    (void)state;
    enum { HDR = 64, EH = 4096, SIZE = 1 << 17, SVMA = 0x10000, OUTSIDE = 4096, CODE = 256 };
    static uint8_t memory[2 * SIZE];
    uint8_t *image = memory + SIZE, *hdr = image + HDR, *cie = memory + OUTSIDE, *fde = cie + 24;
    const int32_t to_outside = (int32_t)(cie - hdr);
    ElfSection sections[] = {
        {0},
        {.name = STR(".eh_frame_hdr"),
         .type = SHT_PROGBITS,
         .offset = HDR,
         .svma = SVMA + HDR,
         .size = 64},
        {.name = STR(".eh_frame"),
         .type = SHT_PROGBITS,
         .offset = EH,
         .svma = SVMA + EH,
         .size = SIZE - EH},
        {.name = STR(".got"),
         .type = SHT_PROGBITS,
         .svma = (uint64_t)(SVMA + EH - (int64_t)to_outside)},
    };
    Elf elf = {.file = bytes_over(image, SIZE),
               .sections = sections,
               .section_count = ARRAY_LEN(sections)};
    const uint8_t rules[24] = {20, 0, 0,    0,  0, 0,    0,    0, 1, 'z',  'R',
                               0,  1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};
    const int32_t entry[] = {16, (int32_t)(fde + 4 - cie), (int32_t)(hdr + CODE - (fde + 8)), 16,
                             0};
    const int32_t table[] = {to_outside, 1, CODE, (int32_t)(fde - hdr)};
    memcpy(cie, rules, sizeof(rules));
    memcpy(fde, entry, sizeof(entry));
    memcpy(hdr, (uint8_t[]){1, 0x3b, 0x03, 0x3b}, 4);
    memcpy(hdr + 4, table, sizeof(table));
    Arena arena = {0};
    RuleCache *cache = arena_new(&arena, RuleCache);
    RuleSearch search;
    UnwindAction got;
    rule_search_init(&elf, UNWIND_X86_64, &search);
    assert_true(search.left > 0);
    assert_false(rule_search_find(&search, cache, MODULE, SVMA + HDR + CODE, &got));
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_those_of_the_table),
        cmocka_unit_test(a_search_table_of_another_section_is_not_used),
        cmocka_unit_test(a_search_table_does_not_lead_out_of_the_file),
    };
    return RUN_TESTS(tests);
}
