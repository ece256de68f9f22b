// SPDX-License-Identifier: Apache-2.0
// The section of temporal traces of an indexed profile.

#include "llvmcov/traces.h"

bool prof_traces_find(Cursor *c, ProfTraces *ret)
{
    ProfTraces t = {.count = cursor_u64(c), .seen = cursor_u64(c)};
    size_t start = c->at;
    if (!cursor_ok(c) || t.count > cursor_left(c) / 16)
        return false;
    for (uint64_t i = 0; i < t.count; i++) {
        cursor_skip(c, 8);
        uint64_t functions = cursor_u64(c);
        if (!cursor_ok(c) || functions > cursor_left(c) / 8)
            return false;
        cursor_skip(c, functions * 8);
    }
    t.rest = bytes_slice(c->data, start, c->at);
    *ret = t;
    return true;
}

Bytes prof_traces_next(ProfTraces *t, uint64_t *weight)
{
    Cursor c = cursor_over(t->rest, "temporal traces");
    *weight = cursor_u64(&c);
    uint64_t functions = cursor_u64(&c);
    Bytes refs = cursor_bytes(&c, functions * 8);
    t->rest = bytes_slice(t->rest, c.at, t->rest.len);
    t->count--;
    return refs;
}

static void add_u64(StrBuf *out, uint64_t v)
{
    strbuf_add_bytes(out, bytes_over(&v, sizeof(v)));
}

void prof_traces_write(StrBuf *out, const ProfTrace *traces, size_t count, uint64_t seen)
{
    add_u64(out, count);
    add_u64(out, seen);
    for (size_t i = 0; i < count; i++) {
        add_u64(out, traces[i].weight);
        add_u64(out, traces[i].count);
        strbuf_add_bytes(out, bytes_over(traces[i].refs, traces[i].count * 8));
    }
}
