// SPDX-License-Identifier: Apache-2.0
// Walks archives and universal binaries.

#include "llvmcov/containers.h"

#include "base/cursor.h"

#define ARCHIVE_MAGIC STR("!<arch>\n")

bool cov_archive_is(Bytes file)
{
    return str_starts_with(str_from_bytes(file), ARCHIVE_MAGIC);
}

// ---- Archives --------------------------------------------------------------------

// A number in a field of decimal digits that spaces follow.
static uint64_t field_number(Cursor *c, size_t len)
{
    uint64_t v = 0;
    if (!str_parse_u64(str_trim(str_from_bytes(cursor_bytes(c, len))), 10, &v))
        cursor_fail(c, "the size of a member is not a number");
    return v;
}

// "name/" in place; "/offset" of GNU, into the table of long names; "#1/length" of BSD, in front of
// the member's bytes.
static Str member_name(Str field, Bytes long_names, Bytes *bytes)
{
    uint64_t n;
    field = str_trim(field);
    if (str_starts_with(field, STR("#1/")) &&
        str_parse_u64(str_slice(field, 3, field.len), 10, &n)) {
        Str name = str_from_bytes(bytes_slice(*bytes, 0, n));
        *bytes = bytes_slice(*bytes, n, bytes->len);
        return str_slice(name, 0, str_find_char(name, '\0'));
    }
    if (field.len > 1 && field.ptr[0] == '/' &&
        str_parse_u64(str_slice(field, 1, field.len), 10, &n)) {
        Str rest = str_slice(str_from_bytes(long_names), n, long_names.len);
        field = str_slice(rest, 0, str_find_char(rest, '\n'));
    }
    return str_ends_with(field, STR("/")) ? str_slice(field, 0, field.len - 1) : field;
}

static bool is_table(Str field)
{
    return str_starts_with(field, STR("/ ")) || str_starts_with(field, STR("// ")) ||
           str_starts_with(field, STR("/SYM64/"));
}

static bool each_of_archive(Bytes file, CovMemberEach *each, void *ctx, Error *err)
{
    enum { NAME = 16, BEFORE_SIZE = 32, SIZE = 10 };
    Cursor c = cursor_over(file, "archive");
    Bytes long_names = {0};
    cursor_skip(&c, ARCHIVE_MAGIC.len);
    while (cursor_more(&c)) {
        Str field = str_from_bytes(cursor_bytes(&c, NAME));
        cursor_skip(&c, BEFORE_SIZE);
        uint64_t size = field_number(&c, SIZE);
        if (cursor_u16(&c) != 0x0a60) // "`\n"
            cursor_fail(&c, "the header of a member does not end as it should");
        Bytes bytes = cursor_bytes(&c, size);
        if (cursor_more(&c) && size % 2)
            cursor_skip(&c, 1);
        if (!cursor_ok(&c))
            break;
        if (str_starts_with(field, STR("// ")))
            long_names = bytes;
        if (is_table(field))
            continue;
        CovMember member = {.bytes = bytes};
        member.name = member_name(field, long_names, &member.bytes);
        if (!str_starts_with(member.name, STR("__.SYMDEF")) && !each(ctx, &member, err))
            return false;
    }
    return cursor_check(&c, err);
}

// ---- Universal binaries ------------------------------------------------------------

enum { FAT_MAGIC = 0xcafebabe, FAT_MAGIC_64 = 0xcafebabf, CPU_64_BIT = 1 << 24 };
// Where Java's classes have the version, which is at least this.
enum { PARTS_END = 45 };

bool cov_universal_is(Bytes file)
{
    Cursor c = cursor_over(file, "universal binary");
    c.big_endian = true;
    uint32_t magic = cursor_u32(&c), count = cursor_u32(&c);
    return (magic == FAT_MAGIC || magic == FAT_MAGIC_64) && count && count < PARTS_END;
}

static Str processor_name(uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {
        {7, "i386"}, {7 | CPU_64_BIT, "x86_64"}, {12, "arm"}, {12 | CPU_64_BIT, "arm64"},
        {18, "ppc"}, {18 | CPU_64_BIT, "ppc64"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].type == type)
            return str_from_c(names[i].name);
    return STR("");
}

Str cov_universal_here(void)
{
#ifdef __aarch64__
    return STR("arm64");
#else
    return STR("x86_64");
#endif
}

static bool each_of_universal(Bytes file, CovMemberEach *each, void *ctx, Error *err)
{
    Cursor c = cursor_over(file, "universal binary");
    c.big_endian = true;
    size_t word = cursor_u32(&c) == FAT_MAGIC_64 ? 8 : 4;
    uint32_t count = cursor_u32(&c);
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        uint32_t type = cursor_u32(&c);
        cursor_skip(&c, 4); // subtype
        uint64_t at = cursor_uint(&c, word), size = cursor_uint(&c, word);
        cursor_skip(&c, word == 8 ? 8 : 4); // alignment
        if (cursor_ok(&c) && (at > file.len || size > file.len - at))
            cursor_fail(&c, "a part lies beyond the end");
        CovMember member = {processor_name(type), bytes_slice(file, at, at + size)};
        if (cursor_ok(&c) && !each(ctx, &member, err))
            return false;
    }
    return cursor_check(&c, err);
}

bool cov_container_each(Bytes file, CovMemberEach *each, void *ctx, Error *err)
{
    return cov_archive_is(file) ? each_of_archive(file, each, ctx, err)
                                : each_of_universal(file, each, ctx, err);
}
