// SPDX-License-Identifier: Apache-2.0
// Symbolising a whole profile: every raw frame gets its function, file, line
// and the calls inlined there; then the text of the source lines it touches.
// Runs when a recording is finished, so that the recording opens anywhere.

#ifndef SYMBOLISE_SYMBOLISE_H
#define SYMBOLISE_SYMBOLISE_H

#include "model/profile.h"
#include "symbolise/files.h"

#include <stdatomic.h>

typedef struct SymboliseOptions {
    SymboliseFiles files; // zero: plain files at the modules' paths

    // Where separate debug files are looked for besides /usr/lib/debug and
    // beside the module.
    const Str *debug_dirs;
    size_t debug_dir_count;
    // Server list of debuginfod; "" keeps the network out. `debuginfod_cache` is
    // its client's folder, looked into even without servers; "" when not known.
    Str debuginfod_urls;
    Str debuginfod_cache;

    // Folder of the symbol cache; "" for none. It is made when missing.
    Str cache_dir;
    uint64_t cache_max_bytes; // 0: SYMBOL_CACHE_MAX_BYTES

    // The profile was recorded on the running kernel: /proc/kallsyms and this
    // process's vdso are the profile's too, unless `files` brings others.
    bool is_live;
    // The kernel's addresses are the running kernel's, which `files` has the
    // symbols of. With is_live they are.
    bool is_running_kernel;

    // Called now and then; NULL for none. `done` and `total` count addresses.
    void (*progress)(void *ctx, size_t done, size_t total);
    void *progress_ctx;
    const atomic_bool *stop; // set: leave the rest unresolved and return; may be NULL
} SymboliseOptions;

// What a run did; for --self-stats.
typedef struct SymboliseStats {
    size_t frames;        // raw frames given
    size_t resolved;      // got at least a function name
    size_t from_cache;    // of these, without opening the module
    size_t modules;       // that frames lay in
    size_t debug_modules; // with line information
} SymboliseStats;

// Resolves every frame that has a module but no function. Trouble with a module
// (no symbols, a debug file that does not match, damage) becomes a note with the
// number of samples it concerns; frames that nothing is known of stay raw.
//
// What MODULE_* need: MODULE_FILE its bytes at the module's path or from
// `files`; MODULE_KERNEL and MODULE_KMOD kallsyms text; MODULE_JIT the text of
// perf-PID.map, which is what the module's path should name; MODULE_VDSO an image.
//
// Fails only when it was stopped (ERROR_LIMIT); the profile is valid then too.
MUST_CHECK bool symbolise_profile(Profile *p, const SymboliseOptions *options,
                                  SymboliseStats *stats, Error *err);

// ---- Source text -----------------------------------------------------------

typedef struct SourceOptions {
    SymboliseFiles files;
    // --source-path OLD=NEW: files whose path begins with `from` are read at `to`.
    const struct SourceMap {
        Str from, to;
    } * maps;
    size_t map_count;
    // "$(rustc --print sysroot)/lib/rustlib/src/rust", for the standard library's
    // /rustc/HASH/… paths; "" when there is none.
    Str rust_src;
    unsigned context;       // lines kept on both sides of a touched one
    uint64_t max_bytes;     // of text kept in all; 0: SOURCE_MAX_BYTES
    int64_t recorded_at_ns; // CLOCK_REALTIME; files changed later are noted. 0: not checked
} SourceOptions;

#define SOURCE_MAX_BYTES (16ull << 20)

// Stores the text of the lines that frames stand at, `context` lines around
// them. Files that cannot be read are left out; changed ones are noted.
void symbolise_sources(Profile *p, const SourceOptions *options);

// The whole text of one source file, copied into the arena; `path` is as the
// profile has it. `is_changed`: the file is newer than the recording, so its
// lines may be others. False when it cannot be read or is not text.
bool source_read(Arena *arena, const SourceOptions *options, Str path, Str *text, bool *is_changed);

// SourceOptions.rust_src: the first toolchain below rustup's folder (by name)
// that has the rust-src component, else the distribution's; "" when there is none.
Str rust_source_find(Arena *arena, Str rustup_home);

#endif // SYMBOLISE_SYMBOLISE_H
