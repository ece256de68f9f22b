// SPDX-License-Identifier: Apache-2.0
// Sites: the addresses of an object at which breakpoints are set. They are the addresses at
// which a statement begins by the line tables, checked against instruction boundaries. Why
// they are chosen so: docs/decisions/0062.

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
    uint32_t number;       // in the order in which files were read
    uint64_t device_inode; // hash of both
    uint64_t size_bytes;   // when it was read
    int64_t mtime_ns;      // when it was read
    Elf elf;               // only its segments are valid: the file is not mapped any more
    TraceSite *sites;      // ascending svma; an address has one site for each of its lines
    size_t site_count;
    size_t place_count;    // number of different addresses
    uint64_t off_boundary; // addresses inside an instruction, which are left out
    bool has_debug;
} TraceModule;

// Whether the lines of a source are wanted.
typedef bool TraceKeepFile(void *ctx, Str path);

// A source file in the line tables.
typedef struct TraceSource {
    StrId file;
    bool is_wanted;
    U32Vec brackets; // lines with only brackets, which are no statements (bracket_lines.h)
} TraceSource;

typedef struct SiteLoader {
    Arena *arena;
    Profile *profile;
    Table line_index; // of line_counts by (file, line)
    Vec(TraceSource) sources;
    Table source_index; // of sources by file
    TraceKeepFile *keep;
    void *keep_ctx;
    const DebugSearch *debug; // further places of separate debug files; may be NULL
    Disasm *disasm;           // NULL: no disassembler is installed
} SiteLoader;

// A loader that adds rows to `profile`. The caller sets `keep` and `debug` afterwards.
void site_loader_init(SiteLoader *l, Arena *arena, Profile *profile);
void site_loader_deinit(SiteLoader *l); // closes the disassembler and frees the tables

// Reads the sites of a file, from its separate debug file if it has one. A file without debug
// information, or of another machine, has no sites. New lines and functions get rows with count 0.
void sites_load(SiteLoader *l, Str path, TraceModule *ret);

// The first site at a stated address, or NULL.
const TraceSite *site_find(const TraceModule *m, uint64_t svma);

// The first site after those at the address of `first`; one past the last site at the end.
const TraceSite *site_next_place(const TraceModule *m, const TraceSite *first);

// Whether all lines and functions at the address of `first` have a count already, so that a hit
// there would add nothing.
bool site_is_known(const TraceModule *m, const TraceSite *first, const Profile *profile);

#endif // COLLECT_COVER_SITES_H
