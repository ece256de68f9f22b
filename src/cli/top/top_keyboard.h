// SPDX-License-Identifier: Apache-2.0
// The effect of keys on the screen of `assay top`.

#ifndef CLI_TOP_TOP_KEYBOARD_H
#define CLI_TOP_TOP_KEYBOARD_H

#include "base/strbuf.h"
#include "cli/top/top_view.h"

// The state that keys change. Zeroed, it is the start; top_keys_deinit frees it.
typedef struct TopKeys {
    StrBuf filter;
    bool is_typing;
    size_t first, chosen; // as in TopScreen
    bool has_chosen;
    StrBuf around; // the function whose callers and callees are shown; "": none
    bool quit;
} TopKeys;

// Applies the bytes that a terminal sent at once. `table_rows` is the height of the table. Returns
// whether the view must be computed anew.
bool top_keys_apply(TopKeys *k, const TopView *view, size_t table_rows, Str bytes);
// Keeps the chosen row within the rows that there are, and within the table.
void top_keys_settle(TopKeys *k, const TopView *view, size_t table_rows);
void top_keys_deinit(TopKeys *k);

#endif // CLI_TOP_TOP_KEYBOARD_H
