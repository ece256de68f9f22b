// SPDX-License-Identifier: Apache-2.0
// Fuzzes name shortening and demangling: any text ends, at any length, and no
// shortened name is longer than what it came from.

#include "model/name.h"
#include "symbolise/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = str_from_bytes(bytes_over(data, size));
    StrBuf name = {0}, out = {0};
    demangle(text, &name);
    Str both[] = {text, strbuf_str(&name)};
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        for (int length = NAME_FULL; length <= NAME_LAST; length++) {
            strbuf_clear(&out);
            name_shorten(both[i], (NameLength)length, &out);
            assert(out.len <= both[i].len);
        }
    }
    strbuf_deinit(&name);
    strbuf_deinit(&out);
    return 0;
}
