// SPDX-License-Identifier: Apache-2.0
// Opening what the user names.

#include "cli/recording.h"

#include <unistd.h>

#include "os/file.h"
#include "store/store.h"

static bool read_bytes(Bytes file, Str name, Profile *p, ImportFormat *format, Error *err)
{
    *format = IMPORT_UNKNOWN;
    if (store_is_recording(file))
        return store_read(file, p, err) ||
               error_context(err, "cannot read recording '%" STR_FMT "'", STR_ARG(name));
    if (file.len == 0)
        return error_set(err, ERROR_FORMAT,
                         "cannot read recording '%" STR_FMT "': the file is empty", STR_ARG(name));
    return import_bytes(file, p, format, err) ||
           error_context(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
}

static bool load_stdin(Profile *p, ImportFormat *format, Error *err)
{
    Arena arena = {0};
    Bytes file;
    bool ok = os_read_fd(&arena, STDIN_FILENO, STR("standard input"), SIZE_MAX, &file, err) &&
              read_bytes(file, STR("standard input"), p, format, err);
    arena_deinit(&arena);
    return ok;
}

bool load_profile(Str path, Profile *p, ImportFormat *format, Error *err)
{
    ImportFormat ignored;
    if (!format)
        format = &ignored;
    if (str_equal(path, STR("-")))
        return load_stdin(p, format, err);
    MappedFile file;
    if (!os_map_file(path, &file, err)) {
        if (str_equal(path, DEFAULT_RECORDING) && !os_file_exists(path))
            error_hint(err, "make one with 'assay record -- PROGRAM', or give its file");
        return false;
    }
    bool ok = read_bytes(file.bytes, path, p, format, err);
    os_unmap_file(&file);
    return ok;
}
