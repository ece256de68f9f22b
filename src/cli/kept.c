// SPDX-License-Identifier: Apache-2.0
// Reads the members of a Cargo workspace. Document: the Cargo book, "Workspaces".

#include "cli/kept.h"

#include "os/file.h"

// Whether the list of strings that follows, [ … ], has one that stands for every folder.
static bool lists_all(Str text)
{
    static const char *const all[] = {"\"*\"", "'*'", "\"./*\"", "'./*'"};
    size_t open = str_find_char(text, '['), close = str_find_char(text, ']');
    if (open == SIZE_MAX || close == SIZE_MAX || close < open)
        return false;
    Str list = str_slice(text, open, close);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_find(list, str_from_c(all[i])) != SIZE_MAX)
            return true;
    return false;
}

bool kept_below_target(void)
{
    enum { MANIFEST_MAX = 1 << 20 };
    Arena scratch = {0};
    Bytes bytes;
    bool takes_all = false;
    if (os_read_file(&scratch, STR("Cargo.toml"), MANIFEST_MAX, &bytes, NULL)) {
        Str text = str_from_bytes(bytes), line;
        size_t table = str_find(text, STR("[workspace]"));
        Str rest = table == SIZE_MAX ? STR("") : str_slice(text, table + 11, text.len);
        while (!takes_all && str_next_part(&rest, '\n', &line)) {
            Str word = str_trim(line);
            if (str_starts_with(word, STR("members")))
                takes_all = lists_all(str_slice(text, (size_t)(word.ptr - text.ptr), text.len));
        }
    }
    arena_deinit(&scratch);
    return takes_all;
}
