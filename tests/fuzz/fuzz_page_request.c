// SPDX-License-Identifier: Apache-2.0
// Fuzzes heads of requests for the served page: none gets it without the token.

#include "serve/page_request.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = str_from_bytes(bytes_over(data, size));
    size_t head = page_head_len(text);
    bool has_body;
    assert(head <= size);
    for (int whole = 0; whole < 2; whole++) {
        Str judged = whole ? text : str_slice(text, 0, head);
        if (page_request_judge(judged, 8000, STR(TOKEN), &has_body) == PAGE_OK)
            assert(str_find(judged, STR("/" TOKEN "/ HTTP/1.")) != SIZE_MAX &&
                   str_find(judged, STR(":8000")) != SIZE_MAX);
    }
    return 0;
}
