// SPDX-License-Identifier: Apache-2.0
// Entries and returns to calls.

#include "collect/calls/pairing_internal.h"

// Frames of one stack lie within so many bytes. Code that switches stacks (coroutines, handlers of
// signals) jumps farther in most cases; nothing is concluded from such a distance.
#define STACK_SPAN (8ull << 20)

void pairing_deinit(Pairing *p)
{
    for (size_t i = 0; i < p->flows.len; i++)
        vec_free(&p->flows.at[i].open);
    vec_free(&p->flows);
    vec_free(&p->work);
    vec_free(&p->free_work);
    table_deinit(&p->by_flow);
    table_deinit(&p->by_key);
}

// ---- Rows --------------------------------------------------------------------------------

static void add_row(Pairing *p, OpenCall *c, int64_t end_ns, uint8_t flags)
{
    c->row.end_ns = MAX(end_ns, c->row.begin_ns);
    c->row.flags |= flags;
    uint32_t row = profile_add_call(p->profile, &c->row);
    for (uint32_t i = 0; i < c->value_count; i++)
        profile_add_call_value(p->profile, row, c->values[i].name, c->values[i].value);
    if (c->goroutine)
        profile_add_call_value(p->profile, row, p->goroutine, (int64_t)c->goroutine);
}

// The call ends on this thread: a goroutine may have moved to it.
static void add_ended_row(Pairing *p, OpenCall *c, const PairingHit *h)
{
    add_row(p, c, h->time_ns, 0);
    if (h->is_go && h->thread.v != c->row.thread.v)
        profile_add_call_value(p->profile, (uint32_t)p->profile->calls.frame.len - 1, p->end_thread,
                               p->profile->threads.tid.at[h->thread.v]);
}

static void add_values(OpenCall *c, const PairingHit *h)
{
    for (size_t i = 0; i < h->value_count && c->value_count < PAIRING_VALUES_MAX; i++)
        c->values[c->value_count++] = h->values[i];
}

static OpenCall open_of(const PairingHit *h, uint32_t depth, uint8_t flags)
{
    OpenCall c = {.function = h->function,
                  .sp = h->sp,
                  .return_address = h->return_address,
                  .goroutine = h->goroutine,
                  .row = {.frame = h->frame,
                          .thread = h->thread,
                          .begin_ns = h->time_ns,
                          .depth = depth,
                          .flags = flags}};
    add_values(&c, h);
    return c;
}

// ---- Calls -------------------------------------------------------------------------------

static Flow *need_flow(Pairing *p, uint64_t id)
{
    uint32_t row;
    for (TableProbe t = table_probe(&p->by_flow, hash_u64(id)); table_next(&p->by_flow, &t, &row);)
        if (p->flows.at[row].id == id)
            return &p->flows.at[row];
    table_insert(&p->by_flow, hash_u64(id), (uint32_t)p->flows.len);
    vec_push(NULL, &p->flows, (Flow){.id = id});
    return &vec_last(&p->flows);
}

// Whether a call that began at `open` has ended when the stack pointer is `sp`.
static bool is_above(uint64_t open, uint64_t sp)
{
    return open < sp && sp - open < STACK_SPAN;
}

// The kernel puts the address of its own page there, which begins a page.
static bool is_replaced(uint64_t word)
{
    return word >> 40 != 0 && (word & 0xfff) == 0;
}

// Whether the newest call has ended when another begins at the same place of the stack: one that
// was left by a jump or an exception has, one that ended in a jump to this function has not. That
// one left the address of the kernel's trampoline as the return address, if its own was replaced.
static bool is_over(const OpenCall *top, const PairingHit *h)
{
    if (top->sp != h->sp)
        return is_above(top->sp, h->sp);
    return h->return_address ? !is_replaced(h->return_address) : !top->return_address;
}

static void leave_top(Pairing *p, Flow *f, int64_t time_ns)
{
    add_row(p, &vec_last(&f->open), time_ns, CALL_ENDS_LATE);
    f->open.len--;
    p->left++;
}

void pairing_enter(Pairing *p, const PairingHit *h)
{
    Flow *f = need_flow(p, h->flow);
    while (!h->is_go && f->open.len && is_over(&vec_last(&f->open), h))
        leave_top(p, f, h->time_ns);
    OpenCall c = open_of(h, (uint32_t)f->open.len, 0);
    vec_push(NULL, &f->open, c);
}

// The call that a return ends, as its number + 1; 0: none. Of several calls of the function in
// which the stack pointer has left, it is the outermost: the others were left without a return. A
// goroutine's calls end in order.
static size_t find_open(const Flow *f, const PairingHit *h)
{
    size_t found = 0;
    for (size_t i = f->open.len; i > 0; i--) {
        const OpenCall *c = &f->open.at[i - 1];
        if (c->function == h->function && (h->is_go || c->sp == h->sp || is_above(c->sp, h->sp)) &&
            (found == 0 || c->sp > f->open.at[found - 1].sp)) {
            found = i;
            if (h->is_go)
                break;
        }
    }
    return found;
}

void pairing_return(Pairing *p, const PairingHit *h)
{
    Flow *f = need_flow(p, h->flow);
    size_t at = find_open(f, h);
    if (at == 0) {
        p->unmatched++;
        return;
    }
    while (f->open.len > at)
        leave_top(p, f, h->time_ns);
    OpenCall *c = &vec_last(&f->open);
    add_values(c, h);
    add_ended_row(p, c, h);
    f->last_sp = c->sp;
    f->last_return = c->return_address;
    f->open.len--;
}

// Whether the stack pointer is that of the trampoline, which pushes some registers, after the
// return of this call.
static bool is_left(const OpenCall *c, uint64_t sp)
{
    enum { PUSHED_MAX = 256 };
    return c->sp + sizeof(uint64_t) >= sp && c->sp + sizeof(uint64_t) - sp <= PUSHED_MAX;
}

void pairing_mend(Pairing *p, uint64_t flow, uint64_t sp, uint8_t *stack, size_t len)
{
    const Flow *f = need_flow(p, flow);
    for (size_t i = 0; i < f->open.len; i++) {
        const OpenCall *c = &f->open.at[i];
        uint64_t at = c->sp - sp, word;
        if (c->return_address == 0 || c->sp < sp || at > len || len - at < sizeof(word))
            continue;
        memcpy(&word, stack + at, sizeof(word));
        if (is_replaced(word)) {
            memcpy(stack + at, &c->return_address, sizeof(word));
            p->trampoline = word;
        }
    }
}

bool pairing_step_out(Pairing *p, uint64_t flow, uint64_t *ip, uint64_t *sp)
{
    enum { PAGE = 4096, PUSHED_MAX = 256 };
    const Flow *f = need_flow(p, flow);
    uint64_t last_sp = f->last_sp, last_return = f->last_return;
    if (p->trampoline == 0 || *ip - p->trampoline >= PAGE)
        return false;
    if (f->open.len && vec_last(&f->open).return_address && is_left(&vec_last(&f->open), *sp)) {
        last_sp = vec_last(&f->open).sp;
        last_return = vec_last(&f->open).return_address;
    }
    uint64_t after = last_sp + sizeof(uint64_t);
    if (last_return == 0 || after < *sp || after - *sp > PUSHED_MAX)
        return false;
    *ip = last_return;
    *sp = after;
    return true;
}

// ---- Work --------------------------------------------------------------------------------

static OpenWork *find_work(Pairing *p, uint64_t key, uint32_t *number)
{
    uint32_t row;
    for (TableProbe t = table_probe(&p->by_key, hash_u64(key)); table_next(&p->by_key, &t, &row);)
        if (!p->work.at[row].is_done && p->work.at[row].key == key) {
            *number = row;
            return &p->work.at[row];
        }
    return NULL;
}

// A table forgets no row: it is made anew when most of its rows are of work that is done.
static void renew_keys(Pairing *p)
{
    if (p->keys_stale < 1024 || p->keys_stale * 2 < p->by_key.len)
        return;
    table_deinit(&p->by_key);
    p->keys_stale = 0;
    for (size_t i = 0; i < p->work.len; i++)
        if (!p->work.at[i].is_done)
            table_insert(&p->by_key, hash_u64(p->work.at[i].key), (uint32_t)i);
}

static void end_work(Pairing *p, uint32_t number, int64_t time_ns, uint8_t flags)
{
    OpenWork *w = &p->work.at[number];
    add_row(p, &w->call, time_ns, flags);
    w->is_done = true;
    p->keys_stale++;
    vec_push(NULL, &p->free_work, number);
}

void pairing_begin(Pairing *p, uint64_t key, const PairingHit *h)
{
    uint32_t number;
    if (find_work(p, key, &number)) { // the value is used anew, and no end was seen
        end_work(p, number, h->time_ns, CALL_ENDS_LATE);
        p->left++;
    }
    renew_keys(p);
    OpenWork w = {.key = key, .call = open_of(h, 0, CALL_IS_WORK)};
    if (p->free_work.len) {
        number = vec_pop(&p->free_work);
        p->work.at[number] = w;
    } else {
        number = (uint32_t)p->work.len;
        vec_push(NULL, &p->work, w);
    }
    table_insert(&p->by_key, hash_u64(key), number);
}

void pairing_end(Pairing *p, uint64_t key, const PairingHit *h)
{
    uint32_t number;
    OpenWork *w = find_work(p, key, &number);
    if (!w) {
        p->unmatched++;
        return;
    }
    add_values(&w->call, h);
    end_work(p, number, h->time_ns, 0);
}

// A thread that ended within a call ended the call.
static int64_t end_of(const Pairing *p, const OpenCall *c, int64_t end_ns)
{
    int64_t thread_end = p->profile->threads.end_ns.at[c->row.thread.v];
    return thread_end == TIME_NONE ? end_ns : MIN(end_ns, thread_end);
}

void pairing_finish(Pairing *p, int64_t end_ns)
{
    for (size_t i = 0; i < p->flows.len; i++) {
        OpenCalls *open = &p->flows.at[i].open;
        for (; open->len; open->len--)
            add_row(p, &vec_last(open), end_of(p, &vec_last(open), end_ns), CALL_IS_OPEN);
    }
    for (uint32_t i = 0; i < p->work.len; i++)
        if (!p->work.at[i].is_done)
            end_work(p, i, end_ns, CALL_IS_OPEN);
}
