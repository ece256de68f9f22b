// SPDX-License-Identifier: Apache-2.0
// Frames by their text, for importers of text formats: the same text occurs many times and is
// parsed once.

#ifndef IMPORT_LINE_FRAMES_INTERNAL_H
#define IMPORT_LINE_FRAMES_INTERNAL_H

#include "model/profile.h"

typedef struct LineFrame {
    Str text;
    FrameId frame;
    uint32_t next; // row of the text that came after it the last time
} LineFrame;

typedef struct LineFrames {
    Vec(LineFrame) rows; // of the heap
    Table table;         // texts to rows
    Arena texts;         // copies, side by side: reading them in the file costs a cache miss each
} LineFrames;

// Releases everything.
static inline void line_frames_deinit(LineFrames *l)
{
    vec_free(&l->rows);
    table_deinit(&l->table);
    arena_deinit(&l->texts);
}

// Finds the frame of a text. `hash` is str_hash(text).
static inline bool line_frames_find(const LineFrames *l, Str text, uint64_t hash, FrameId *ret)
{
    uint32_t row;
    for (TableProbe p = table_probe(&l->table, hash); table_next(&l->table, &p, &row);) {
        if (str_equal(l->rows.at[row].text, text)) {
            *ret = l->rows.at[row].frame;
            return true;
        }
    }
    return false;
}

// Makes the searches for many texts that follow wait for memory once instead of each in turn:
// first asks for all slots of the table, then for the rows behind them, then for the texts.
static inline void line_frames_prefetch(const LineFrames *l, const uint64_t *hashes, size_t count)
{
    enum { AT_ONCE = 64 };
    uint32_t rows[AT_ONCE];
    count = MIN(count, (size_t)AT_ONCE);
    for (size_t i = 0; i < count; i++)
        table_prefetch(&l->table, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        TableProbe p = table_probe(&l->table, hashes[i]);
        rows[i] = 0;
        if (table_next(&l->table, &p, &rows[i]))
            __builtin_prefetch(&l->rows.at[rows[i]]);
    }
    for (size_t i = 0; i < count && l->rows.len; i++)
        __builtin_prefetch(l->rows.at[rows[i]].text.ptr);
}

// Finds the frame of a text that often comes after the same other text, as a caller after its
// callee. `last` is the row that was found before, UINT32_MAX for none; it becomes the new row.
static inline bool line_frames_follow(LineFrames *l, Str text, uint32_t *last, FrameId *ret)
{
    uint32_t before = *last, row;
    if (before < l->rows.len) {
        *last = l->rows.at[before].next;
        if (str_equal(l->rows.at[*last].text, text)) {
            *ret = l->rows.at[*last].frame;
            return true;
        }
    }
    uint64_t hash = str_hash(text);
    for (TableProbe p = table_probe(&l->table, hash); table_next(&l->table, &p, &row);) {
        if (str_equal(l->rows.at[row].text, text)) {
            if (before < l->rows.len)
                l->rows.at[before].next = row;
            *last = row;
            *ret = l->rows.at[row].frame;
            return true;
        }
    }
    *last = before;
    return false;
}

// Adds a text that line_frames_find did not find.
static inline void line_frames_add(LineFrames *l, Str text, uint64_t hash, FrameId frame)
{
    LineFrame row = {arena_str(&l->texts, text), frame, 0};
    table_insert(&l->table, hash, (uint32_t)l->rows.len);
    vec_push(NULL, &l->rows, row);
}

#endif // IMPORT_LINE_FRAMES_INTERNAL_H
