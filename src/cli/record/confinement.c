// SPDX-License-Identifier: Apache-2.0
// The requests: a letter, then its arguments.

#include "cli/record/confinement.h"

#include <unistd.h>

#include "base/log.h"
#include "cli/symbols.h"
#include "os/privilege.h"
#include "symbolise/debuginfod.h"
#include "symbolise/symbol_cache.h"

enum {
    PUBLISH = 'P',         // reply: 1 byte, whether it was done, and an Error
    REMOVE = 'R',          // no reply
    CACHE_WRITE = 'C',     // name, NUL, content; no reply
    FIND_DEBUG_FILE = 'D', // a build-id; reply: the path, empty when there is none
};

// ---- In the process with the rights -----------------------------------------------------

static void publish_here(Confinement *c, StrBuf *reply)
{
    Error err = {0};
    bool ok = store_writer_publish(c->writer, &err);
    strbuf_add_char(reply, (char)ok);
    strbuf_add(reply, str_over((const char *)&err, sizeof(err)));
}

static void find_here(Str id_bytes, StrBuf *reply)
{
    Arena arena = {0};
    BuildId id = {.len = (uint32_t)id_bytes.len};
    Str path;
    if (id_bytes.len <= sizeof(id.bytes)) {
        bytes_copy(id.bytes, bytes_from_str(id_bytes));
        if (debuginfod_find(&arena, &id, &path))
            strbuf_add(reply, path);
    }
    arena_deinit(&arena);
}

static void serve(void *ctx, Str request, StrBuf *reply)
{
    Confinement *c = ctx;
    Str rest = str_slice(request, MIN(request.len, (size_t)1), request.len), name;
    switch (request.len ? request.ptr[0] : 0) {
    case PUBLISH:
        publish_here(c, reply);
        break;
    case REMOVE:
        store_writer_remove(c->writer);
        break;
    case CACHE_WRITE:
        if (str_next_part(&rest, '\0', &name))
            symbol_cache_write(c->cache, name, rest, c->cache_max_bytes);
        break;
    case FIND_DEBUG_FILE:
        find_here(rest, reply);
        break;
    default:
        break;
    }
}

// ---- In the recorder ----------------------------------------------------------------------

static bool ask_to_publish(void *ctx, Error *err)
{
    Confinement *c = ctx;
    StrBuf reply = {0};
    static const char letter = PUBLISH;
    Error why = {0};
    bool ok = keeper_ask(&c->keeper, str_over(&letter, 1), &reply);
    if (!ok || reply.len != 1 + sizeof(why)) {
        (void)error_set(&why, ERROR_OS,
                        "cannot rename '%" STR_FMT "': the process that would is gone",
                        STR_ARG(store_writer_part_path(c->writer)));
        ok = false;
    } else {
        bytes_copy((uint8_t *)&why, bytes_over((const uint8_t *)reply.ptr + 1, sizeof(why)));
        ok = reply.ptr[0];
    }
    strbuf_deinit(&reply);
    if (!ok && err)
        *err = why;
    return ok;
}

static void ask_to_remove(void *ctx)
{
    Confinement *c = ctx;
    StrBuf reply = {0};
    static const char letter = REMOVE;
    (void)!keeper_ask(&c->keeper, str_over(&letter, 1), &reply);
    strbuf_deinit(&reply);
}

static void ask_to_cache(void *ctx, Str name, Str content)
{
    Confinement *c = ctx;
    StrBuf request = {0}, reply = {0};
    strbuf_add_char(&request, CACHE_WRITE);
    strbuf_add(&request, name);
    strbuf_add_char(&request, 0);
    strbuf_add(&request, content);
    (void)!keeper_ask(&c->keeper, strbuf_str(&request), &reply);
    strbuf_deinit(&request);
    strbuf_deinit(&reply);
}

static bool ask_to_find(void *ctx, Arena *arena, const BuildId *id, Str *ret)
{
    Confinement *c = ctx;
    StrBuf request = {0}, reply = {0};
    strbuf_add_char(&request, FIND_DEBUG_FILE);
    strbuf_add(&request, str_over((const char *)id->bytes, id->len));
    bool found = keeper_ask(&c->keeper, strbuf_str(&request), &reply) && reply.len > 0;
    if (found)
        *ret = arena_str(arena, strbuf_str(&reply));
    strbuf_deinit(&request);
    strbuf_deinit(&reply);
    return found;
}

bool confinement_start(Arena *arena, StoreWriter *writer, Confinement *ret)
{
    static const StrVec no_dirs;
    SymboliseOptions options;
    *ret = (Confinement){.writer = writer, .cache = -1};
    if (!privilege_is_special())
        return false;
    symbols_options(arena, &no_dirs, &options);
    // Made now where it is missing; symbolising says why it cannot be used.
    if (options.cache_dir.len)
        ret->cache = symbol_cache_open(options.cache_dir, NULL);
    ret->cache_max_bytes = options.cache_max_bytes;
    if (!keeper_start(&(KeeperTask){.serve = serve, .ctx = ret}, &ret->keeper)) {
        confinement_end(ret);
        return false;
    }
    ret->ends = (StoreEnds){ask_to_publish, ask_to_remove, ret};
    ret->help = (SymboliseHelp){ask_to_cache, ask_to_find, ret};
    store_writer_delegate(writer, &ret->ends);
    return true;
}

void confinement_enter(bool may_signal)
{
    privilege_reduce(may_signal);
    bool confined = privilege_confine(false);
    log_debug(LOG_RECORD, 1, "rights reduced for names, %s",
              confined ? "calls filtered" : "no filter");
}

void confinement_end(Confinement *c)
{
    keeper_end(&c->keeper);
    if (c->cache >= 0)
        close(c->cache);
    c->cache = -1;
}
