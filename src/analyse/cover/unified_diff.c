// SPDX-License-Identifier: Apache-2.0
// Unified diffs: git's and POSIX diff's. Format: POSIX diff, "Diff -u Output
// Format"; git-diff(1), "Generating patch text with -p".

#include "analyse/cover/change.h"

// A path between quotes, as git writes those with odd characters: "a/\303\244.c".
static Str unquote(Arena *arena, Str text)
{
    char *out = arena_alloc(arena, text.len + 1, 1);
    size_t n = 0;
    for (size_t i = 1; i + 1 < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\\' && i + 2 < text.len) {
            c = text.ptr[++i];
            if (c >= '0' && c <= '7' && i + 3 < text.len) {
                c = (char)((c - '0') << 6 | (text.ptr[i + 1] & 7) << 3 | (text.ptr[i + 2] & 7));
                i += 2;
            } else {
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
            }
        }
        out[n++] = c;
    }
    return str_over(out, n);
}

// The path of a "--- " or "+++ " line, without its prefix and time stamp.
static Str path_of(Arena *arena, Str text, const char *prefix)
{
    // git puts a tab behind names with spaces, diff one before the time stamp.
    size_t tab = str_find_char(text, '\t');
    if (tab != SIZE_MAX)
        text = str_slice(text, 0, tab);
    if (text.len > 1 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        text = unquote(arena, text);
    if (str_equal(text, STR("/dev/null")))
        return STR("");
    if (str_starts_with(text, str_from_c(prefix)))
        text = str_slice(text, strlen(prefix), text.len);
    return text;
}

// "12" or "12,3".
static bool parse_range(Str text, uint32_t *first, uint32_t *count)
{
    Str a = text, b = STR("1");
    uint64_t x, y;
    (void)str_split(text, ',', &a, &b);
    if (!str_parse_u64(a, 10, &x) || !str_parse_u64(b, 10, &y) || x + y > INT32_MAX)
        return false;
    *first = (uint32_t)x;
    *count = (uint32_t)y;
    return true;
}

typedef struct Hunk {
    uint32_t old_first, old_count, new_first, new_count;
} Hunk;

// "@@ -1,2 +3,4 @@ context"
static bool parse_hunk(Str line, Hunk *ret)
{
    Str rest, old_range, new_range;
    if (!str_starts_with(line, STR("@@ -")))
        return false;
    rest = str_slice(line, 4, line.len);
    if (!str_split(rest, ' ', &old_range, &rest) || rest.len == 0 || rest.ptr[0] != '+')
        return false;
    rest = str_slice(rest, 1, rest.len);
    if (!str_split(rest, ' ', &new_range, &rest))
        return false;
    return parse_range(old_range, &ret->old_first, &ret->old_count) &&
           parse_range(new_range, &ret->new_first, &ret->new_count);
}

// Reads a hunk's lines: runs of '-' and '+' are changes, context moves on.
static bool read_hunk(Arena *arena, Str *rest, Hunk h, DiffFile *file)
{
    Str line;
    // A side without lines names the line in front of the place.
    uint32_t old_line = h.old_first + (h.old_count == 0);
    uint32_t new_line = h.new_first + (h.new_count == 0);
    uint32_t old_end = old_line + h.old_count, new_end = new_line + h.new_count;
    DiffChange change = {0};
    while ((old_line < old_end || new_line < new_end) && str_next_line(rest, &line)) {
        char kind = line.len ? line.ptr[0] : ' ';
        if (kind == '\\')
            continue; // "\ No newline at end of file"
        if ((kind == '-' || kind == '+') && change.old_count + change.new_count == 0)
            change = (DiffChange){old_line, 0, new_line, 0};
        if (kind == '-') {
            change.old_count++;
            old_line++;
        } else if (kind == '+') {
            change.new_count++;
            new_line++;
        } else if (kind == ' ') {
            if (change.old_count + change.new_count)
                vec_push(arena, &file->changes, change);
            change = (DiffChange){0};
            old_line++;
            new_line++;
        } else {
            return false;
        }
    }
    if (change.old_count + change.new_count)
        vec_push(arena, &file->changes, change);
    return old_line == old_end && new_line == new_end;
}

// "Binary files …" and changes of mode have no lines; a rename without changes
// still says what a file was called.
static void take_header(Arena *arena, Str line, DiffFiles *ret)
{
    if (str_starts_with(line, STR("rename from ")) || str_starts_with(line, STR("rename to "))) {
        bool from = line.ptr[7] == 'f';
        if (from)
            vec_push(arena, ret, (DiffFile){0});
        if (ret->len == 0)
            return;
        Str path = path_of(arena, str_slice(line, from ? 12 : 10, line.len), "");
        *(from ? &vec_last(ret).old_path : &vec_last(ret).new_path) = path;
    }
}

bool diff_parse(Arena *arena, Str text, DiffFiles *ret, Error *err)
{
    Str line, old_path = {0};
    bool in_file = false;
    size_t hunks = 0;
    *ret = (DiffFiles){0};
    for (Str rest = text; str_next_line(&rest, &line);) {
        Hunk h;
        if (str_starts_with(line, STR("--- "))) {
            old_path = path_of(arena, str_slice(line, 4, line.len), "a/");
        } else if (str_starts_with(line, STR("+++ "))) {
            Str new_path = path_of(arena, str_slice(line, 4, line.len), "b/");
            bool renamed = ret->len && str_equal(vec_last(ret).old_path, old_path) &&
                           str_equal(vec_last(ret).new_path, new_path);
            if (!renamed)
                vec_push(arena, ret, (DiffFile){.old_path = old_path, .new_path = new_path});
            in_file = true;
        } else if (str_starts_with(line, STR("@@ "))) {
            if (!in_file || !parse_hunk(line, &h) || !read_hunk(arena, &rest, h, &vec_last(ret)))
                return error_set(err, ERROR_FORMAT, "diff: hunk %zu ('%" STR_FMT "') is broken",
                                 hunks + 1, STR_ARG(str_slice(line, 0, 60)));
            hunks++;
        } else {
            take_header(arena, line, ret);
        }
    }
    return true;
}
