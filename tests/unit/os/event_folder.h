// SPDX-License-Identifier: Apache-2.0
// A machine's event sources as files in a folder of their own.

#ifndef UNIT_OS_EVENT_FOLDER_H
#define UNIT_OS_EVENT_FOLDER_H

#include "harness.h"

#include "os/event.h"
#include "os/file.h"

#include <stdlib.h>

static Arena arena;
static Error err;
static EventSources sources;

// A file below the folder.
static void put(const char *path, const char *text)
{
    Str full = arena_printf(&arena, "%" STR_FMT "/%s", STR_ARG(sources.sysfs), path);
    assert_ok(os_make_folders(str_dir_name(full), &err), &err);
    assert_ok(os_write_file(full, bytes_from_str(str_from_c(text)), OUTPUT_REPLACE, &err), &err);
}

static bool make_event_folder(void)
{
    char folder[] = "/tmp/assay-events-XXXXXX";
    if (!mkdtemp(folder))
        return false;
    sources = (EventSources){.sysfs = arena_str(&arena, str_from_c(folder))};
    sources.tracefs = arena_printf(&arena, "%s/tracing", folder);
    return true;
}

static int remove_machine(void **state)
{
    (void)state;
    Str command = arena_printf(&arena, "rm -rf '%" STR_FMT "'", STR_ARG(sources.sysfs));
    int rc = system(command.ptr);
    arena_deinit(&arena);
    return rc;
}

#endif // UNIT_OS_EVENT_FOLDER_H
