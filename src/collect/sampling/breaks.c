// SPDX-License-Identifier: Apache-2.0
// The two ends of a session of breakpoints: the tracing process, and the recorder.

#include "collect/sampling/breaks_internal.h"

#include "collect/breakpoints/journal.h"
#include "collect/sampling/tracer_parts_internal.h"
#include "os/clock.h"
#include "os/message.h"
#include "unwind/core.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MESSAGE_BYTES_MAX = CHUNK_BYTES + 64,
    SEND_MS = 25,    // records may wait so long
    ATTACH_MS = 200, // the child may not have allowed it yet
};

#define NS_PER_MS 1000000ll

// The first byte of a message to the recorder.
typedef enum MessageKind {
    MESSAGE_ATTACHED = 'a',
    MESSAGE_RECORDS = 'r',
    MESSAGE_END = 'e'
} MessageKind;

typedef struct Attached {
    bool ok;
    Error err;
} Attached;

// ---- The events -------------------------------------------------------------------------------

bool breaks_can(const SamplingOptions *o, Error *err)
{
    bool probes = o->events && o->events->len;
    for (size_t i = 0; probes && i < o->events->len; i++) {
        const EventSpec *e = &o->events->at[i];
        probes = e->is_probe;
        if (e->at_return)
            return error_set(err, ERROR_UNSUPPORTED,
                             "the return of '%" STR_FMT "' needs a probe of the kernel: the "
                             "function ends in a jump to another one",
                             STR_ARG(e->name));
    }
#ifndef __x86_64__
    probes = false;
#endif
    return (probes && o->argv && !o->system_wide && !o->kernel_only &&
            (o->stacks == STACKS_AUTO || o->stacks == STACKS_TABLES || o->stacks == STACKS_NONE)) ||
           error_set(err, ERROR_UNSUPPORTED, "breakpoints probe functions of a command only");
}

void breaks_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret)
{
    tracer_events(arena, options, why, ret);
    ret->by_breakpoints = true;
    ret->freq_clamped = false;
    ret->stacks = options->stacks == STACKS_NONE ? STACKS_NONE : STACKS_TABLES;
    if (options->stack_bytes)
        ret->stack_bytes =
            (uint32_t)align_down(MIN(options->stack_bytes, (uint32_t)TRACER_STACK_BYTES_MAX), 8);
    if (ret->stacks == STACKS_NONE)
        ret->base.sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
    ret->layout = perf_layout(&ret->base);
    struct perf_event_attr counted = ret->base;
    counted.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    ret->counted_layout = perf_layout(&counted);
    ret->events = (EventSpecVec){0};
    ret->open.len = 0;
    table_deinit(&ret->by_id);
    for (size_t i = 0; i < options->events->len; i++) {
        uint64_t id = TRACER_EVENT_ID + i;
        vec_push(arena, &ret->events, options->events->at[i]);
        vec_push(NULL, &ret->open, (OpenEvent){.fd = -1, .event = (int)i, .id = id});
        table_insert(&ret->by_id, hash_u64(id), (uint32_t)i);
    }
    ret->event_name = ret->events.at[0].name;
}

// ---- The tracing process ----------------------------------------------------------------------

static void find_places(const EventSet *events, Breaks *ret)
{
    enum { SEMAPHORE_SHIFT = 32 }; // the kernel's own form: "config:32-63"
    for (size_t i = 0; i < events->events.len; i++) {
        const EventSpec *e = &events->events.at[i];
        const char *path = (const char *)(uintptr_t)e->config1;
        struct stat st = {0};
        (void)!stat(path, &st);
        vec_push(NULL, &ret->places,
                 (BreakPlace){.device = st.st_dev,
                              .inode = st.st_ino,
                              .path = str_from_c(path),
                              .offset = e->config2,
                              .semaphore_offset = e->config >> SEMAPHORE_SHIFT});
    }
}

static bool tell(int line, MessageKind kind, const void *bytes, size_t len, StrBuf *buf)
{
    strbuf_clear(buf);
    strbuf_add_char(buf, (char)kind);
    strbuf_add(buf, (Str){bytes, len});
    return message_send(line, strbuf_str(buf), MESSAGE_BYTES_MAX);
}

// Sends the records that the tracer has pushed. False when there is no listener any more.
static bool send_records(int line, ChunkQueue *queue, StrBuf *buf)
{
    bool ok = true;
    for (Chunk *c = queue->first ? queue_pop_all(queue) : NULL, *next; c; c = next) {
        next = c->next;
        ok = ok && (c->len == 0 || tell(line, MESSAGE_RECORDS, c->data, c->len, buf));
        queue_recycle(queue, c);
    }
    return ok;
}

// True when the recorder wants the tracing to end, or has ended.
static bool is_told_to_end(Tracer *t, int line)
{
    char wish;
    ssize_t n = recv(line, &wish, 1, MSG_DONTWAIT);
    if (n == 1)
        tracer_start(t);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void serve(Tracer *t, int line, StrBuf *buf)
{
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGCHLD);
    struct pollfd p[] = {
        {.fd = line, .events = POLLIN},
        {.fd = signalfd(-1, &stops, SFD_NONBLOCK | SFD_CLOEXEC), .events = POLLIN}};
    for (bool go_on = true, has_more = false; go_on;) {
        struct signalfd_siginfo info;
        (void)!poll(p, ARRAY_LEN(p), has_more ? 0 : SEND_MS);
        while (p[1].revents && read(p[1].fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
            ;
        // First, since a hit that follows the recorder's word to start counts.
        go_on = !(p[0].revents || !t->sampling) || !is_told_to_end(t, line);
        has_more = tracer_reap(t);
        if (os_monotonic_ns() - t->pushed_ns > SEND_MS * NS_PER_MS)
            tracer_push(t);
        go_on = send_records(line, t->queue, buf) && go_on;
    }
    close(p[1].fd);
}

static bool seize(Tracer *t, Breaks *breaks, const EventSet *events, ChunkQueue *queue, pid_t child,
                  Error *err)
{
    for (int waited_ms = 0;; waited_ms++) {
        if (tracer_seize(t, events, queue, child, err))
            break;
        if (!err || err->os_errno != EPERM || waited_ms == ATTACH_MS)
            return false;
        usleep(1000);
    }
    t->breaks = breaks;
    return true;
}

static void trace(const EventSet *events, pid_t child, int line, int journal)
{
    Breaks breaks = {.journal = journal};
    ChunkQueue queue;
    Tracer t = {0};
    StrBuf buf = {0};
    Attached attached = {0};
    find_places(events, &breaks);
    queue_init(&queue);
    attached.ok = seize(&t, &breaks, events, &queue, child, &attached.err);
    if (tell(line, MESSAGE_ATTACHED, &attached, sizeof(attached), &buf) && attached.ok)
        serve(&t, line, &buf);
    if (attached.ok) {
        tracer_detach(&t);
        BreakCounts counts = {.hits = breaks.hits,
                              .stopped_ns = breaks.stopped_ns,
                              .refused = breaks.refused,
                              .no_loader = breaks.no_loader,
                              .dropped = t.dropped};
        (void)(send_records(line, &queue, &buf) &&
               tell(line, MESSAGE_END, &counts, sizeof(counts), &buf));
    }
    tracer_deinit(&t);
    queue_deinit(&queue);
    vec_free(&breaks.places);
    strbuf_deinit(&buf);
}

static _Noreturn void help(const EventSet *events, int line, int journal)
{
    StrBuf message = {0};
    pid_t child = 0;
    // killall and pkill by the command's name do not end this process. Signals of the terminal stay
    // blocked: the recorder passes them on to the program.
    prctl(PR_SET_NAME, "breakpoints", 0L, 0L, 0L);
    if (message_receive(line, &message, sizeof(child)) && message.len == sizeof(child)) {
        memcpy(&child, message.ptr, sizeof(child));
        trace(events, child, line, journal);
    }
    strbuf_deinit(&message);
    _exit(0);
}

// ---- The recorder -----------------------------------------------------------------------------

bool breaks_open(const EventSet *events, ChunkQueue *queue, BreakSession *ret, Error *err)
{
    int ends[2];
    *ret = (BreakSession){.queue = queue, .line = -1, .journal = journal_open(err)};
    ret->program = *events->options->program;
    if (ret->journal < 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_os(err, "cannot make a socket");
    ret->line = ends[0];
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        help(events, ends[1], ret->journal);
    }
    int saved = errno;
    close(ends[1]);
    errno = saved;
    if (pid < 0)
        return error_os(err, "cannot start a process");
    ret->tracer = pid;
    ret->program.tracer = pid;
    return true;
}

bool breaks_attach(BreakSession *s, pid_t child, Error *err)
{
    StrBuf message = {0};
    Attached attached = {0};
    bool ok =
        message_send(s->line, (Str){(const char *)&child, sizeof(child)}, MESSAGE_BYTES_MAX) &&
        message_receive(s->line, &message, MESSAGE_BYTES_MAX) &&
        message.len == 1 + sizeof(attached);
    if (ok)
        memcpy(&attached, message.ptr + 1, sizeof(attached));
    else
        (void)error_set(&attached.err, ERROR_OS, "the process that sets breakpoints was killed");
    strbuf_deinit(&message);
    if (!attached.ok && err)
        *err = attached.err;
    return attached.ok;
}

void breaks_start(BreakSession *s)
{
    static const char start = 's';
    (void)!send(s->line, &start, 1, MSG_NOSIGNAL);
}

static void pass_on(BreakSession *s, Str records)
{
    Chunk *c = queue_take_empty(s->queue, true);
    c->ring = 0;
    c->len = (uint32_t)MIN(records.len, (size_t)CHUNK_BYTES);
    memcpy(c->data, records.ptr, c->len);
    c->ends_round = true;
    queue_push(s->queue, c);
}

static void end_tracer(BreakSession *s)
{
    while (s->tracer && waitpid(s->tracer, NULL, 0) < 0 && errno == EINTR)
        ;
    s->tracer = 0;
}

void breaks_receive(BreakSession *s)
{
    StrBuf message = {0};
    if (s->has_ended)
        return;
    bool ok = message_receive(s->line, &message, MESSAGE_BYTES_MAX) && message.len > 0;
    Str rest = ok ? (Str){message.ptr + 1, message.len - 1} : STR("");
    if (ok && message.ptr[0] == MESSAGE_RECORDS) {
        pass_on(s, rest);
    } else if (ok && message.ptr[0] == MESSAGE_END && rest.len == sizeof(s->counts)) {
        memcpy(&s->counts, rest.ptr, sizeof(s->counts));
        s->has_ended = true;
    } else {
        // At once, since threads run; and once more when the kernel has ended the tracing.
        journal_rescue(s->journal);
        end_tracer(s);
        journal_rescue(s->journal);
        s->has_ended = s->counts.was_killed = true;
    }
    strbuf_deinit(&message);
}

void breaks_stop(BreakSession *s)
{
    shutdown(s->line, SHUT_WR);
    while (!s->has_ended)
        breaks_receive(s);
}

void breaks_close(BreakSession *s)
{
    if (!s->queue)
        return;
    if (s->line >= 0)
        close(s->line);
    end_tracer(s);
    if (s->journal >= 0)
        close(s->journal);
    *s = (BreakSession){0};
}
