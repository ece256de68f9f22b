// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of Ruby's Marshal format. What it gives must be a finite tree of known values.

#include <stdlib.h>

#include "import/stacks/ruby_marshal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink; // what was read must not be optimised away

// Reads all values. Links share children, so that a small file may state a huge tree: only a part
// of it is walked.
static size_t walk(const JsonValue *v, size_t left)
{
    size_t children = 0;
    for (size_t i = 0; v->kind == JSON_STRING && i < v->text.len; i++)
        sink += (unsigned char)v->text.ptr[i];
    for (const JsonValue *c = v->child; c && left > 0; c = c->next, children++) {
        sink += c->key.len ? (unsigned char)c->key.ptr[c->key.len - 1] : 0;
        left = walk(c, left - 1);
    }
    if (left > 0 && children != v->count)
        abort();
    return left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    JsonValue *tree = NULL;
    Error err = {0};
    Bytes file = bytes_over(data, size);
    if (ruby_marshal_parse(&arena, file, &tree, &err))
        (void)walk(tree, 100000);
    else if (err.text[0] == '\0')
        abort();
    arena_deinit(&arena);
    return 0;
}
