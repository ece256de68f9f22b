// SPDX-License-Identifier: Apache-2.0
// Debug files from debuginfod servers. The library is opened at run time: it
// pulls in libcurl and 37 more, which cost 5 ms at every start.
//
// The library itself reads DEBUGINFOD_URLS; this is only called when that is set.

#include "symbolise/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

typedef struct debuginfod_client Client;
typedef Client *BeginFn(void);
typedef int FindFn(Client *client, const unsigned char *build_id, int len, char **path);
typedef void EndFn(Client *client);

typedef struct Library {
    BeginFn *begin;
    FindFn *find;
    EndFn *end;
} Library;

static bool library_open(Library *ret)
{
    void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    // Never closed: that would run libcurl's clean-up, a risk without a benefit.
    ret->begin = (BeginFn *)dlsym(handle, "debuginfod_begin");
    ret->find = (FindFn *)dlsym(handle, "debuginfod_find_debuginfo");
    ret->end = (EndFn *)dlsym(handle, "debuginfod_end");
    return ret->begin && ret->find && ret->end;
}

bool debuginfod_find(Arena *arena, const BuildId *id, Str *ret)
{
    Library library;
    if (id->len == 0 || !library_open(&library))
        return false;
    Client *client = library.begin();
    if (!client)
        return false;
    char *path = NULL;
    int fd = library.find(client, id->bytes, (int)id->len, &path);
    if (fd >= 0) {
        close(fd);
        *ret = arena_str(arena, str_from_c(path));
        heap_free(path); // the library allocated it by malloc, as heap_alloc does
    }
    library.end(client);
    return fd >= 0;
}
