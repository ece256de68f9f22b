// SPDX-License-Identifier: Apache-2.0
// Files: read whole, map, and write so that a reader never sees half a file.

#ifndef OS_FILE_H
#define OS_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdio.h>

// Two files that had the same name at different times differ in one of these.
typedef struct FileIdentity {
    uint64_t device;
    uint64_t inode;
    uint64_t size_bytes;
    int64_t mtime_ns; // CLOCK_REALTIME
} FileIdentity;

// The limit for files that are read whole and are not expected to be large.
#define OS_READ_MAX_BYTES ((size_t)1 << 30)

// Reads a file whole into the arena, followed by a NUL that is not counted.
// Works on files without a size (/proc, pipes). More than `max_bytes` is
// ERROR_LIMIT; a directory is an error.
MUST_CHECK bool os_read_file(Arena *arena, Str path, size_t max_bytes, Bytes *ret, Error *err);
// The same from an open descriptor, from its present position. `name` is for errors.
MUST_CHECK bool os_read_fd(Arena *arena, int fd, Str name, size_t max_bytes, Bytes *ret,
                           Error *err);
// Reads from an open descriptor until `size` bytes are there or the input ends. `got` is less than
// `size` only at the end.
MUST_CHECK bool os_read_head(int fd, Str name, uint8_t *buf, size_t size, size_t *got, Error *err);
// A small file of /proc or /sys into `buf`, cut to `size` - 1 bytes and NUL
// terminated, white space at the end dropped. False when it cannot be read.
MUST_CHECK bool os_read_small(const char *path, char *buf, size_t size, Str *ret);
// The same for a file that holds one decimal number.
MUST_CHECK bool os_read_u64(const char *path, uint64_t *ret);
MUST_CHECK bool os_read_i64(const char *path, int64_t *ret);
// Reads the first `size` bytes of a regular file and returns how many it got: fewer for a shorter
// file, 0 when the file cannot be read.
size_t os_read_start(Str path, uint8_t *buf, size_t size);

// The bytes of a regular file, mapped read-only and private; empty for an empty file. When
// someone truncates the file while it is mapped, the lost part reads as zeros: os/map_guard.h.
typedef struct MappedFile {
    Bytes bytes;
    FileIdentity identity;
    uint32_t uid; // of its owner
} MappedFile;

// Maps a file. Anything but a regular file is an error.
MUST_CHECK bool os_map_file(Str path, MappedFile *ret, Error *err);
// The same for an open descriptor, which stays open. `name` is for errors.
MUST_CHECK bool os_map_fd(int fd, Str name, MappedFile *ret, Error *err);
// Maps an input that may be a pipe: `head`, which was read already, and all that follows. They go
// through a file without a name in `folder`, so that their size costs disk and not memory.
MUST_CHECK bool os_map_input(int fd, Str name, Bytes head, Str folder, MappedFile *ret, Error *err);
// Unmaps the file and leaves `*m` empty. Accepts an empty one.
void os_unmap_file(MappedFile *m);

// Reads a regular file whole into `into`, whose memory is reused from file to file. Where every
// byte is read once, this costs less than mapping. Bytes that were appended to the file after it
// was opened are not read. `identity` may be NULL.
MUST_CHECK bool os_load_file(Str path, U8Vec *into, FileIdentity *identity, Error *err);

// Whether the path leads to a file of any kind.
bool os_file_exists(Str path);
// The identity of a regular file that this process may read; any other file is an error.
MUST_CHECK bool os_file_identity(Str path, FileIdentity *ret, Error *err);
// Whether anything has that name: also a link that leads nowhere.
bool os_name_is_taken(Str path);
// Makes a folder and the missing ones above it (mode 0777 less the umask). Refuses what
// os_check_way_not_planted does.
MUST_CHECK bool os_make_folders(Str path, Error *err);

// O_RDONLY | O_CLOEXEC, with an error text that names the file. -1 on failure.
int os_open_read(Str path, Error *err);

typedef enum OutputMode {
    OUTPUT_KEEP,   // an existing file is an error: ERROR_LIMIT, hint to use --force
    OUTPUT_REPLACE // an existing file is replaced when the new one is whole
} OutputMode;

// Whether the output may replace or write to what exists at its path: false with ERROR_PERMISSION
// when it belongs to another user and lies in a folder where every user may make files (/tmp). That
// user could otherwise read the output or choose where it goes. The kernel's protected_symlinks,
// _regular and _fifos refuse the same where they are on.
MUST_CHECK bool os_check_not_planted(Str path, Error *err);

// The same for the path and each folder on the way to it: for results that lie where no option
// says, as in .assay, and for what is read back and run. Below the working folder, which may be
// another user's, none of them may be a symbolic link of another user but root. Where the working
// folder itself leads is not looked at.
MUST_CHECK bool os_check_way_not_planted(Str path, Error *err);

// Gives a new file the mode, owner and group of the file that it will replace. Bits of set-uid and
// set-gid are never taken over. Where the group cannot be kept, its rights are removed. Only its
// owner must be able to read the new file until then.
MUST_CHECK bool os_keep_owner(int fd, const char *replaced, Error *err);

typedef enum OutputPlace {
    OUTPUT_DIRECT,    // a device or a pipe, written as it is
    OUTPUT_UNNAMED,   // a file without a name
    OUTPUT_TEMPORARY, // a file with the temporary name
    OUTPUT_NAMED,     // a file with its final name
} OutputPlace;

// A file that is being written: without a name, or under a temporary one in the same folder where
// the file system cannot do that, and named at the end. So a process that is killed leaves nothing
// but, for the moment in which it replaces a file, a whole file PATH.*.tmp.
// An existing device or FIFO (/dev/stdout) is written directly. A new file gets the mode and owner
// of the file that it replaces.
typedef struct OutputFile {
    FILE *stream; // the caller writes here
    OutputMode mode;
    OutputPlace place;
    bool sync; // set by the caller: the content is on the disk before the file has its name
    char path[4096];
    char temp_path[4096 + 32];
} OutputFile;

// Opens the temporary file, to be ended with os_output_commit or os_output_abort.
MUST_CHECK bool os_output_open(Str path, OutputMode mode, OutputFile *ret, Error *err);
// Flushes, checks that every write succeeded, and renames. On false the temporary file is gone
// and an existing file is as it was.
MUST_CHECK bool os_output_commit(OutputFile *out, Error *err);
// Closes and removes the temporary file. Does nothing after os_output_commit.
void os_output_abort(OutputFile *out);

// Opens, writes `content` and commits.
MUST_CHECK bool os_write_file(Str path, Bytes content, OutputMode mode, Error *err);
// The same, and the file is on the disk when this returns: what it was made of may be deleted.
MUST_CHECK bool os_write_file_synced(Str path, Bytes content, OutputMode mode, Error *err);

// Renames the file at `path` to "PATH.old", in the place of an older one of that name. No error
// when there is none. Only regular files are renamed or replaced.
MUST_CHECK bool os_keep_old(const char *path, Error *err);

#endif // OS_FILE_H
