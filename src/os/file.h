// SPDX-License-Identifier: Apache-2.0
// Files: read whole, map, and write so that a reader never sees half a file.

#ifndef OS_FILE_H
#define OS_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdio.h>

// What tells one file from another that has the same name at another time.
typedef struct FileIdentity {
    uint64_t device;
    uint64_t inode;
    uint64_t size_bytes;
    int64_t mtime_ns; // CLOCK_REALTIME
} FileIdentity;

// A cap for files that are read whole and not expected to be large.
#define OS_READ_MAX_BYTES ((size_t)1 << 30)

// Reads a file whole into the arena, followed by a NUL that is not counted.
// Works on files without a size (/proc, pipes). More than `max_bytes` is
// ERROR_LIMIT; a directory is an error.
MUST_CHECK bool os_read_file(Arena *arena, Str path, size_t max_bytes, Bytes *ret, Error *err);
// The same from an open descriptor, from where it stands. `name` is for errors.
MUST_CHECK bool os_read_fd(Arena *arena, int fd, Str name, size_t max_bytes, Bytes *ret,
                           Error *err);
// A small file of /proc or /sys into `buf`, cut to `size` - 1 bytes and NUL
// terminated, white space at the end dropped. False when it cannot be read.
MUST_CHECK bool os_read_small(const char *path, char *buf, size_t size, Str *ret);
// The same, as a number.
MUST_CHECK bool os_read_u64(const char *path, uint64_t *ret);
MUST_CHECK bool os_read_i64(const char *path, int64_t *ret);
// The first bytes of a regular file: how many there are, 0 when it cannot be read.
size_t os_read_start(Str path, uint8_t *buf, size_t size);

// A regular file's bytes, mapped read-only and private. An empty file gives
// empty bytes. Of a file that someone truncates while it is mapped the lost part
// reads as zeros: os/map_guard.h.
typedef struct MappedFile {
    Bytes bytes;
    FileIdentity identity;
} MappedFile;

MUST_CHECK bool os_map_file(Str path, MappedFile *ret, Error *err);
MUST_CHECK bool os_map_fd(int fd, Str name, MappedFile *ret, Error *err);
// Leaves *m empty. Accepts an empty one.
void os_unmap_file(MappedFile *m);

// Reads a regular file whole into a buffer that serves one file after the other, which
// costs less than mapping where all bytes are read once. Later bytes than those it had
// when it was opened are not read. `identity` may be NULL.
MUST_CHECK bool os_load_file(Str path, U8Vec *into, FileIdentity *identity, Error *err);

bool os_file_exists(Str path);
// Regular file with content readable by us, and its identity.
MUST_CHECK bool os_file_identity(Str path, FileIdentity *ret, Error *err);
// Makes a folder and the missing ones above it (mode 0777 less the umask).
MUST_CHECK bool os_make_folders(Str path, Error *err);

// O_RDONLY | O_CLOEXEC, with an error text that names the file. -1 on failure.
int os_open_read(Str path, Error *err);

typedef enum OutputMode {
    OUTPUT_KEEP,   // an existing file is an error: ERROR_LIMIT, hint to use --force
    OUTPUT_REPLACE // an existing file is replaced when the new one is whole
} OutputMode;

// A file under way: written under a temporary name beside its own and renamed
// at the end. What exists and is not a regular file (/dev/stdout, a FIFO) is
// written to directly.
typedef struct OutputFile {
    FILE *stream; // the caller writes here
    OutputMode mode;
    bool direct; // no temporary name: device, pipe
    char path[4096];
    char temp_path[4096 + 32];
} OutputFile;

MUST_CHECK bool os_output_open(Str path, OutputMode mode, OutputFile *ret, Error *err);
// Flushes, checks every write so far, renames. On false nothing is left behind.
MUST_CHECK bool os_output_commit(OutputFile *out, Error *err);
// Removes what was written. Accepts one that was committed already.
void os_output_abort(OutputFile *out);

// All of the above for bytes that are ready.
MUST_CHECK bool os_write_file(Str path, Bytes content, OutputMode mode, Error *err);

#endif // OS_FILE_H
