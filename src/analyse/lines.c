// SPDX-License-Identifier: Apache-2.0
// Value by source line.

#include "analyse/lines.h"

#include <stdlib.h>

typedef struct FrameSelf {
    uint64_t value;
    uint64_t samples;
} FrameSelf;

static int compare_lines(const void *a, const void *b)
{
    const LineRow *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

LineRowVec lines_hottest(const Weights *w)
{
    const Profile *p = w->profile;
    size_t frames = p->frames.module.len;
    FrameSelf *self = heap_alloc((frames + 1) * sizeof(FrameSelf));
    for (size_t i = 0; i < w->rows.len; i++) {
        const WeightRow *row = &w->rows.at[i];
        FrameSelf *s = &self[p->stacks.frame.at[weights_self_stack(w, row->stack).v].v];
        s->value += row->value;
        s->samples += row->samples;
    }

    LineRowVec rows = {0};
    U64Vec best = {0}; // [row]: value of its hottest frame
    Table index = {0};
    for (uint32_t f = 0; f < frames; f++) {
        StrId file = p->frames.file.at[f];
        uint32_t line = p->frames.line.at[f];
        if (self[f].samples == 0 || file.v == 0 || line == 0)
            continue;
        uint64_t hash = hash_u64((uint64_t)file.v << 32 | line);
        uint32_t at = UINT32_MAX, row;
        for (TableProbe t = table_probe(&index, hash); table_next(&index, &t, &row);)
            if (rows.at[row].file.v == file.v && rows.at[row].line == line)
                at = row;
        if (at == UINT32_MAX) {
            at = (uint32_t)rows.len;
            table_insert(&index, hash, at);
            vec_push(NULL, &rows, (LineRow){.file = file, .line = line, .frame = f});
            vec_push(NULL, &best, 0);
        }
        rows.at[at].self += self[f].value;
        rows.at[at].samples += self[f].samples;
        if (self[f].value > best.at[at]) {
            best.at[at] = self[f].value;
            rows.at[at].frame = f;
        }
    }
    table_deinit(&index);
    vec_free(&best);
    heap_free(self);
    if (rows.len > 1)
        qsort(rows.at, rows.len, sizeof(LineRow), compare_lines);
    return rows;
}

bool line_text_find(const Profile *p, StrId file, uint32_t line, Str *ret)
{
    const SourceLines *s = &p->source_lines;
    for (size_t i = 0; i < s->file.len; i++) {
        if (s->file.at[i].v == file.v && s->line.at[i] == line) {
            *ret = profile_text(p, s->text.at[i]);
            return true;
        }
    }
    return false;
}
