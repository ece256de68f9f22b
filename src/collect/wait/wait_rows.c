// SPDX-License-Identifier: Apache-2.0
// Rows of the profile before they are added: stacks, reasons and sums.

#include "collect/wait/waiting_internal.h"

#include "collect/wait/reasons_internal.h"

bool waiting_find_sent(const Waiting *w, uint64_t signature, StackId *ret)
{
    uint32_t row;
    for (TableProbe p = table_probe(&w->by_signature, signature);
         table_next(&w->by_signature, &p, &row);)
        if (w->sent.at[row].signature == signature) {
            *ret = w->sent.at[row].stack;
            return true;
        }
    return false;
}

static const Reason *find_reason(const Waiting *w, uint64_t hash)
{
    uint32_t row;
    for (TableProbe p = table_probe(&w->by_reason, hash); table_next(&w->by_reason, &p, &row);)
        if (w->reasons.at[row].hash == hash)
            return &w->reasons.at[row];
    return NULL;
}

Reason waiting_need_reason(Waiting *w, Consumer *c, uint32_t tgid, uint32_t call, uint32_t how,
                           uint64_t object, uint64_t hash)
{
    const Reason *known = find_reason(w, hash);
    if (known)
        return *known;
    StrBuf name = {0};
    Str path = wait_object_name(&w->objects, c, tgid, call, object, &name);
    Reason r = {.hash = hash, .class = wait_class_of(call, how, path)};
    r.object = profile_str(w->profile, strbuf_str(&name));
    strbuf_deinit(&name);
    table_insert(&w->by_reason, hash, (uint32_t)w->reasons.len);
    vec_push(NULL, &w->reasons, r);
    return r;
}

Sum *waiting_need_sum(Waiting *w, ThreadId thread, StackId stack, WaitClass class, StrId object)
{
    uint64_t hash = hash_pair((uint64_t)thread.v << 32 | stack.v, (uint64_t)object.v << 8 | class);
    uint32_t row;
    for (TableProbe p = table_probe(&w->by_sum, hash); table_next(&w->by_sum, &p, &row);) {
        Sum *s = &w->sums.at[row];
        if (s->row.thread.v == thread.v && s->row.stack.v == stack.v && s->row.state == class &&
            s->row.object.v == object.v)
            return s;
    }
    table_insert(&w->by_sum, hash, (uint32_t)w->sums.len);
    vec_push(NULL, &w->sums,
             (Sum){.row = {.thread = thread, .stack = stack, .state = class, .object = object}});
    return &vec_last(&w->sums);
}
