// SPDX-License-Identifier: Apache-2.0
// Files that hold several objects: archives of System V, GNU and BSD (man 5 ar), and universal
// binaries of Mach-O (Apple, <mach-o/fat.h>), which may hold archives.

#ifndef LLVMCOV_CONTAINERS_H
#define LLVMCOV_CONTAINERS_H

#include "base/error.h"
#include "base/str.h"

// One object of a container; borrows its file.
typedef struct CovMember {
    Str name; // of an archive's member; of a universal binary's part "arm64" and the like, "" if
              // its processor has no name here
    Bytes bytes;
} CovMember;

// Returns false to end the walk; `err` of cov_container_each says why.
typedef bool CovMemberEach(void *ctx, const CovMember *member, Error *err);

// Whether the file begins as an archive, or as a universal binary, does. Files of Java's classes
// begin in the same way and are none.
bool cov_archive_is(Bytes file);
bool cov_universal_is(Bytes file);

// The name of the processor of this machine, as universal binaries of it are told by.
Str cov_universal_here(void);

// Calls `each` for every member of an archive that is no table of names or symbols, or every part
// of a universal binary, in the order of the file. Members beyond the end of the file are an error.
MUST_CHECK bool cov_container_each(Bytes file, CovMemberEach *each, void *ctx, Error *err);

#endif // LLVMCOV_CONTAINERS_H
