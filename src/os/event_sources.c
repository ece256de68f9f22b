// SPDX-License-Identifier: Apache-2.0
// Where the names of events come from: sysfs, tracefs, libpfm4.

#include "os/event.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

// The parts of perfmon/pfmlib_perf_event.h that are used, so that its package is not needed to
// build. ABI: libpfm4 4.x, PFM_OS_PERF_EVENT_EXT.
typedef struct PfmEncodeArg {
    struct perf_event_attr *attr;
    char **full_name;
    size_t size;
    int index;
    int cpu;
    int flags;
    int pad;
} PfmEncodeArg;

enum { PFM_SUCCESS = 0, PFM_PLM_USER_AND_KERNEL = 0x8 | 0x1, PFM_OS_PERF_EXT = 2 };

typedef int (*PfmInitialize)(void);
typedef int (*PfmEncode)(const char *name, int default_plm, int os, void *arg);

static PfmEncode pfm_encode;
static pthread_once_t pfm_once = PTHREAD_ONCE_INIT;

static void load_pfm(void)
{
    void *lib = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return;
    PfmInitialize initialize = (PfmInitialize)dlsym(lib, "pfm_initialize");
    PfmEncode encode = (PfmEncode)dlsym(lib, "pfm_get_os_event_encoding");
    if (initialize && encode && initialize() == PFM_SUCCESS)
        pfm_encode = encode;
    else
        dlclose(lib);
}

static bool find_in_pfm(Arena *arena, Str name, EventSpec *ret)
{
    pthread_once(&pfm_once, load_pfm);
    if (!pfm_encode)
        return false;
    struct perf_event_attr attr = {.size = sizeof(attr)};
    PfmEncodeArg arg = {.attr = &attr, .size = sizeof(arg)};
    if (pfm_encode(arena_c_str(arena, name), PFM_PLM_USER_AND_KERNEL, PFM_OS_PERF_EXT, &arg) !=
        PFM_SUCCESS)
        return false;
    ret->type = attr.type;
    ret->config = attr.config;
    ret->config1 = attr.config1;
    ret->config2 = attr.config2;
    return true;
}

EventSources event_sources_default(void)
{
    EventSources src = {.sysfs = STR("/sys/bus/event_source/devices"), .find_other = find_in_pfm};
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    for (size_t i = 0; i < ARRAY_LEN(places) && src.tracefs.len == 0; i++) {
        char path[64];
        snprintf(path, sizeof(path), "%s/events", places[i]);
        // A folder that this user may not read is mounted, too.
        if (access(path, F_OK) == 0 || errno == EACCES)
            src.tracefs = str_from_c(places[i]);
    }
    return src;
}
