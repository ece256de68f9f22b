// SPDX-License-Identifier: Apache-2.0
// Where breakpoints may stand in an object: the addresses at which its line
// tables say a statement begins, checked against instruction boundaries.
// docs/decisions/0062 says why so.

#ifndef COLLECT_COVER_SITES_H
#define COLLECT_COVER_SITES_H

#include "disasm/disasm.h"
#include "elf/elf.h"
#include "model/profile.h"
#include "symbolise/module_symbols.h"

enum { SITE_NO_ROW = UINT32_MAX };

typedef struct TraceSite {
    uint64_t svma;
    uint32_t line;     // row of the profile's line counts, SITE_NO_ROW: none
    uint32_t function; // row of its function counts, when the function begins here
    uint8_t original;  // the byte that the breakpoint replaces
} TraceSite;

// One file that processes map.
typedef struct TraceModule {
    Str path;
    uint64_t device_inode; // hash of both
    uint64_t size_bytes;   // when it was read
    int64_t mtime_ns;      // likewise
    Elf elf;               // its segments; the file is no longer mapped
    TraceSite *sites;      // ascending svma; an address has one for each of its lines
    size_t site_count;
    size_t place_count;    // different addresses among them
    uint64_t off_boundary; // addresses inside an instruction, left out
    bool has_debug;
} TraceModule;

// Which sources are of interest.
typedef bool TraceKeepFile(void *ctx, Str path);

// A source that has lines.
typedef struct TraceSource {
    StrId file;
    bool is_wanted;
    U32Vec brackets; // lines of brackets only: they are no statements
} TraceSource;

typedef struct SiteLoader {
    Arena *arena;
    Profile *profile;
    Table line_index; // of line_counts by (file, line)
    Vec(TraceSource) sources;
    Table source_index; // of sources by file
    TraceKeepFile *keep;
    void *keep_ctx;
    const DebugSearch *debug; // separate debug files besides the usual places; may be NULL
    Disasm *disasm;           // NULL: not there
} SiteLoader;

void site_loader_init(SiteLoader *l, Arena *arena, Profile *profile);
void site_loader_deinit(SiteLoader *l);

// Reads a file's sites, out of its separate debug file where it has one; one without debug
// information, or of another machine, has none. Lines and functions that are new get rows with
// count 0.
void sites_load(SiteLoader *l, Str path, TraceModule *ret);

// The first site at a stated address, or NULL.
const TraceSite *site_find(const TraceModule *m, uint64_t svma);

// Behind the last site at the address of `first`.
const TraceSite *site_next_place(const TraceModule *m, const TraceSite *first);

// Whether all that a hit at the address of `first` would tell is known already.
bool site_is_known(const TraceModule *m, const TraceSite *first, const Profile *profile);

#endif // COLLECT_COVER_SITES_H
