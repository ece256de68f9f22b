// SPDX-License-Identifier: Apache-2.0
// How much of the stack is copied at probes. A probe takes every hit, and copying costs most of a
// hit. The first hits have copies that hold most stacks. Then the probe is opened again with a copy
// that fits, and the first one is disabled; with a larger one where a stack was larger than its
// copy, and with a smaller one again where deep stacks do not come any more.

#include "collect/sampling/events_internal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "os/clock.h"
#include "os/proc.h"

enum {
    COPY_BYTES_MAX = 65528, // perf_event_open(2)
    COPY_GROWTH = 4,        // a copy grows so many times …
    COPY_GROWTH_LARGE = 2,  // … and a large one so many
    COPY_BYTES_LARGE = 16 << 10,
    COPY_BYTES_MIN = 2 << 10,
    COPIES_IN_RING = 64, // a copy is not so large that a ring holds fewer
    STACKS_SEEN = 256,   // before a copy shrinks …
    STACKS_SEEN_MS_MAX =
        200, // … in so short a time: where hits are rarer, large copies cost little
    STACKS_SEEN_SHIFT_MAX = 10,
    LAYERS_TO_GROW = 4, // from the smallest copy to the largest
};

// The requests to the process that keeps the rights.
typedef struct OpenRequest {
    uint32_t event;
    uint32_t bytes;
    uint32_t owner;
    uint32_t ring;
} OpenRequest;

static int open_larger(const EventSet *set, const OpenRequest *r)
{
    const EventSpec *spec = &set->events.at[r->event];
    struct perf_event_attr attr = events_sampler_attr(set, spec);
    attr.sample_stack_user = r->bytes;
    attr.disabled = 1;
    attr.enable_on_exec = 0;
    bool is_wide = events_is_wide(set, spec) || set->options->system_wide;
    pid_t pid = r->owner ? (pid_t)r->owner : set->child;
    int cpu = set->per_thread ? -1 : (int)set->cpus[r->ring];
    return perf_event_open(&attr, is_wide ? -1 : pid, cpu, -1);
}

// Only events that are open already may be opened once more.
static int serve_open(void *ctx, Str request)
{
    const EventSet *set = ctx;
    OpenRequest r;
    if (request.len != sizeof(r))
        return -1;
    memcpy(&r, request.ptr, sizeof(r));
    for (size_t i = 0; r.bytes <= COPY_BYTES_MAX && i < set->open.len; i++) {
        const OpenEvent *o = &set->open.at[i];
        if (o->event != SIDE_BAND && o->event == (int)r.event && o->owner == r.owner &&
            o->ring == r.ring)
            return set->events.at[o->event].is_probe ? open_larger(set, &r) : -1;
    }
    return -1;
}

void stack_copies_keep_rights(EventSet *set)
{
    if (set->copies && !keeper_start(&(KeeperTask){.open = serve_open, .ctx = set}, &set->opener))
        log_debug(LOG_RECORD, 1, "copies of stacks cannot grow");
}

static int reopen(EventSet *set, const OpenEvent *old, uint32_t bytes)
{
    OpenRequest r = {(uint32_t)old->event, bytes, old->owner, old->ring};
    int fd = set->opener.is_there ? keeper_open(&set->opener, str_over((const char *)&r, sizeof(r)))
                                  : open_larger(set, &r);
    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, set->ring_fds[old->ring]) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void add_layer(EventLayer *layer, const OpenEvent *old, int fd)
{
    uint64_t id = 0;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        id = 0;
    OpenEvent *o = &layer->open[layer->open_count];
    *o = *old;
    o->fd = fd;
    o->id = id;
    o->layer = old->layer + 1;
    table_insert(&layer->by_id, hash_u64(id), (uint32_t)layer->open_count++);
}

// The open descriptors of an event in its newest layer.
static size_t newest_of(const EventSet *set, size_t event, const OpenEvent **ret, size_t max)
{
    uint32_t number = atomic_load(&set->copies[event].layer);
    size_t n = 0;
    for (size_t i = 0; number == 0 && i < set->open.len && n < max; i++)
        if (set->open.at[i].event == (int)event)
            ret[n++] = &set->open.at[i];
    for (const EventLayer *l = atomic_load(&set->layers); l && number; l = l->older)
        for (size_t i = 0; i < l->open_count && n < max; i++)
            if (l->open[i].event == (int)event && l->open[i].layer == number)
                ret[n++] = &l->open[i];
    return n;
}

// One probe. Both layers are open for a moment, so that no hit is missed; the time decides which
// sample of a hit counts.
static void resize(EventSet *set, size_t event, uint32_t bytes)
{
    StackCopies *c = &set->copies[event];
    uint64_t ring = set->ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
    uint32_t next = atomic_load(&c->layer) + 1;
    // The worker may ask twice, until it sees the new layer.
    bool is_new = bytes != atomic_load(&c->bytes);
    if (!is_new || next >= STACK_LAYERS_MAX || ring / bytes < COPIES_IN_RING)
        return;
    size_t max = set->open.len;
    const OpenEvent **old = arena_array(set->arena, const OpenEvent *, max);
    EventLayer *layer = arena_new(set->arena, EventLayer);
    layer->open = arena_array(set->arena, OpenEvent, max);
    size_t count = newest_of(set, event, old, max);
    for (size_t i = 0; i < count; i++) {
        int fd = reopen(set, old[i], bytes);
        bool has_ended = fd < 0 && old[i]->owner && !proc_exists(old[i]->owner);
        if (fd >= 0)
            add_layer(layer, old[i], fd);
        else if (!has_ended) { // the old ones stay
            for (size_t j = 0; j < layer->open_count; j++)
                close(layer->open[j].fd);
            table_deinit(&layer->by_id);
            atomic_store(&c->layer, STACK_LAYERS_MAX);
            log_debug(LOG_RECORD, 1, "copies of %u bytes are refused", bytes);
            return;
        }
    }
    atomic_store(&c->bytes, bytes);
    layer->older = atomic_load(&set->layers);
    atomic_store(&set->layers, layer);
    atomic_store(&c->layer, next);
    for (size_t i = 0; i < layer->open_count; i++)
        ioctl(layer->open[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    atomic_store(&c->from_ns[next], (uint64_t)os_monotonic_ns());
    for (size_t i = 0; i < count; i++)
        ioctl(old[i]->fd, PERF_EVENT_IOC_DISABLE, 0);
    log_debug(LOG_RECORD, 1, "copies of stacks at '%" STR_FMT "' have %u bytes now",
              STR_ARG(set->events.at[event].name), bytes);
}

void stack_copies_resize(EventSet *set)
{
    atomic_store(&set->wants_copies, false);
    for (size_t i = 0; set->copies && i < set->events.len; i++) {
        uint32_t bytes = atomic_exchange(&set->copies[i].wanted, 0);
        if (bytes)
            resize(set, i, bytes);
    }
}

static void ask(EventSet *set, StackCopies *c, uint64_t bytes)
{
    atomic_store(&c->wanted, (uint32_t)MIN(bytes, (uint64_t)COPY_BYTES_MAX));
    atomic_store(&set->wants_copies, true);
}

// How many stacks tell that smaller copies do. After each time that they did not, it takes more.
static uint32_t stacks_seen(const StackCopies *c)
{
    return STACKS_SEEN << MIN(2 * c->growths, (uint32_t)STACKS_SEEN_SHIFT_MAX);
}

// Asks for copies that fit the stacks seen: deep ones may not come again.
static void fit_copies(EventSet *set, StackCopies *c, uint64_t time_ns, uint32_t now)
{
    // Twice as much: later stacks may be deeper.
    uint64_t fit = MAX(align_up(c->most_bytes * 2, 512), (uint64_t)COPY_BYTES_MIN);
    uint64_t ms_max = (uint64_t)STACKS_SEEN_MS_MAX * (stacks_seen(c) / STACKS_SEEN);
    c->whole = 0;
    if (c->growths)
        c->most_bytes = 0;
    // The last layers are kept for copies that have to grow.
    if (time_ns - c->first_ns > ms_max * 1000000 ||
        (c->growths && atomic_load(&c->layer) + LAYERS_TO_GROW >= STACK_LAYERS_MAX))
        return;
    if (fit * 2 <= now)
        ask(set, c, fit);
    c->has_asked = true;
}

void stack_copies_see(EventSet *set, const OpenEvent *event, uint64_t time_ns, bool is_short,
                      uint64_t bytes)
{
    StackCopies *c = &set->copies[event->event];
    uint32_t now = atomic_load(&c->bytes);
    // Samples of an older layer are known to be too short.
    if (event->layer != atomic_load(&c->layer) || atomic_load(&c->wanted))
        return;
    if (now == 0)
        now = set->stack_bytes;
    if (is_short && now < COPY_BYTES_MAX) {
        ask(set, c, (uint64_t)now * (now < COPY_BYTES_LARGE ? COPY_GROWTH : COPY_GROWTH_LARGE));
        c->growths++;
        c->whole = 0;
        c->most_bytes = 0;
    }
    if (atomic_load(&c->wanted) || (c->has_asked && c->growths == 0))
        return;
    c->most_bytes = MAX(c->most_bytes, bytes);
    if (c->whole == 0)
        c->first_ns = time_ns;
    if (++c->whole < stacks_seen(c))
        return;
    fit_copies(set, c, time_ns, now);
}

// The time from which on a layer counts; UINT64_MAX: it does not yet.
static uint64_t layer_from(StackCopies *c, uint32_t layer)
{
    uint64_t from = layer && layer < STACK_LAYERS_MAX ? atomic_load(&c->from_ns[layer]) : 0;
    return layer && from == 0 ? UINT64_MAX : from;
}

bool stack_copies_layer_is_over(const EventSet *set, const OpenEvent *event, uint64_t time)
{
    return time >= layer_from(&set->copies[event->event], event->layer + 1);
}

bool stack_copies_layer_counts(const EventSet *set, const OpenEvent *event, uint64_t time)
{
    return time >= layer_from(&set->copies[event->event], event->layer) &&
           !stack_copies_layer_is_over(set, event, time);
}
