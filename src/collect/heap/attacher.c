// SPDX-License-Identifier: Apache-2.0
// Requests are a letter; each reply is a HeapAttachment.

#include "collect/heap/attacher.h"

enum { ATTACH = 'A', REAP = 'R', DETACH = 'D' };

// ---- In the process that attaches -------------------------------------------------------

static void note(HeapAttacher *a)
{
    a->is.hooked = a->attached.hooked;
    a->is.is_left = a->attached.is_left;
    a->is.has_held = a->attached.remote.threads.len > 0;
    a->is.stopped_ns = MAX(a->is.stopped_ns, a->attached.remote.stopped_ns);
}

static void detach_here(HeapAttacher *a)
{
    if (!a->is.is_attached)
        return;
    if (agent_process_runs(a->target->pid))
        heap_detach(&a->attached);
    remote_close(&a->attached.remote);
    a->is.is_attached = false;
    note(a);
}

static void serve(void *ctx, Str request, StrBuf *reply)
{
    HeapAttacher *a = ctx;
    switch (request.len ? request.ptr[0] : 0) {
    case ATTACH:
        a->has_tried = true;
        a->is.is_attached =
            heap_attach(&a->arena, a->session, a->target, NULL, &a->attached, &a->is.err);
        note(a);
        break;
    case REAP:
        remote_reap(&a->attached.remote);
        note(a);
        break;
    default:
        detach_here(a);
    }
    strbuf_add(reply, str_over((const char *)&a->is, sizeof(a->is)));
}

// The recorder has ended. One that was killed has not detached, and its guard waits until the
// program has no files in the session.
static void end(void *ctx)
{
    HeapAttacher *a = ctx;
    detach_here(a);
    if (a->has_tried)
        agent_session_leave(a->session, a->target->pid);
}

// ---- In the recorder --------------------------------------------------------------------

static bool ask(HeapAttacher *a, char letter)
{
    StrBuf reply = {0};
    bool ok = keeper_ask(&a->keeper, str_over(&letter, 1), &reply) && reply.len == sizeof(a->is);
    if (ok)
        memcpy(&a->is, reply.ptr, sizeof(a->is));
    strbuf_deinit(&reply);
    return ok;
}

bool heap_attacher_start(AgentSession *session, const AttachTarget *target, HeapAttacher *ret,
                         Error *err)
{
    *ret = (HeapAttacher){.session = session, .target = target};
    return keeper_start(&(KeeperTask){.serve = serve, .end = end, .ctx = ret}, &ret->keeper) ||
           error_os(err, "cannot start the process that attaches");
}

bool heap_attacher_attach(HeapAttacher *a, Error *err)
{
    if (!ask(a, ATTACH))
        return error_set(err, ERROR_OS, "the process that attaches was killed");
    if (!a->is.is_attached && err)
        *err = a->is.err;
    return a->is.is_attached;
}

void heap_attacher_reap(HeapAttacher *a)
{
    if (a->is.has_held)
        (void)ask(a, REAP);
}

void heap_attacher_end(HeapAttacher *a)
{
    if (a->is.is_attached && !ask(a, DETACH))
        a->is.is_left = true;
    a->is.is_attached = false;
    keeper_end(&a->keeper);
}
