// SPDX-License-Identifier: Apache-2.0
// Symbolises a whole profile: gives every raw frame its function, file, line and inlined
// calls, and stores the text of the source lines that frames lie on. This is done at the end
// of a recording, so that the recording opens on any machine.

#ifndef SYMBOLISE_SYMBOLISE_H
#define SYMBOLISE_SYMBOLISE_H

#include "model/profile.h"
#include "os/source_file.h"
#include "symbolise/files.h"

#include <stdatomic.h>

typedef struct SymboliseOptions {
    SymboliseFiles files; // zero: plain files at the modules' paths

    // Folders with separate debug files, besides /usr/lib/debug and the module's own folder.
    const Str *debug_dirs;
    size_t debug_dir_count;
    // The servers of debuginfod; "": the network is not used. `debuginfod_cache` is the folder of
    // its client, which is searched also without servers; "" when not known.
    Str debuginfod_urls;
    Str debuginfod_cache;

    // Does the work that needs rights which this process has given up; NULL: this process does it.
    const SymboliseHelp *help;

    // Folder of the symbol cache; "" for none. It is made when missing.
    Str cache_dir;
    uint64_t cache_max_bytes; // 0: SYMBOL_CACHE_MAX_BYTES

    // The profile was recorded on the running kernel: /proc/kallsyms and the vdso of this process
    // are valid for it, unless `files` provides others.
    bool is_live;
    // Addresses in the kernel are those of the running kernel, whose symbols `files` provides.
    // Implied by is_live.
    bool is_running_kernel;

    // Frames below this row are left as they are: an earlier call has tried them.
    uint32_t first_frame;

    // Called from time to time with the number of addresses done and in all; NULL: not called.
    void (*progress)(void *ctx, size_t done, size_t total);
    void *progress_ctx;
    const atomic_bool *stop; // when it becomes true, the rest stays unresolved; may be NULL
} SymboliseOptions;

// Counts of one run, for --self-stats.
typedef struct SymboliseStats {
    size_t frames;        // raw frames in the profile
    size_t resolved;      // frames that got at least a function name
    size_t from_cache;    // of the resolved: by the cache, without opening the module
    size_t modules;       // modules with raw frames
    size_t debug_modules; // of these: with line information
} SymboliseStats;

// Resolves every frame from options.first_frame on that has a module but no function. A problem
// with a module (no symbols, a debug file that does not match, damage) becomes a note with the
// number of its samples; frames of which nothing is known stay raw.
//
// Each kind of module needs its bytes, from `files` or at the module's path: MODULE_FILE an object,
// MODULE_KERNEL and MODULE_KMOD a text as /proc/kallsyms, MODULE_JIT the text of perf-PID.map,
// MODULE_VDSO an image.
//
// Fails only when it was stopped (ERROR_LIMIT); the profile is valid then, too.
MUST_CHECK bool symbolise_profile(Profile *p, const SymboliseOptions *options,
                                  SymboliseStats *stats, Error *err);

// ---- Source text -----------------------------------------------------------

typedef struct SourceOptions {
    SymboliseFiles files;
    // Maps a source file that a module names, where the module's process had another root folder
    // than this one. SOURCE_ABSENT: it had not, or there is no such file. NULL: not asked.
    SourceAccess (*in_module_root)(void *ctx, ModuleId module, Str source, MappedFile *ret);
    // --source-path OLD=NEW: files whose path begins with `from` are read at `to`.
    const struct SourceMap {
        Str from, to;
    } * maps;
    size_t map_count;
    // "$(rustc --print sysroot)/lib/rustlib/src/rust", for the standard library's
    // /rustc/HASH/… paths; "" when there is none.
    Str rust_src;
    // Text is only from below these, and from public source files that a program names which is
    // this user's or root's. NULL: from anywhere.
    const SourceRoots *roots;
    unsigned context;       // lines stored before and after each line of a frame
    uint64_t max_bytes;     // limit of all stored text; 0: SOURCE_MAX_BYTES
    int64_t recorded_at_ns; // CLOCK_REALTIME; files changed later get a note. 0: not checked
} SourceOptions;

#define SOURCE_MAX_BYTES (16ull << 20)

// Stores the text of the source lines of all frames and of `context` lines around them. Files that
// cannot be read are left out; those that may not be read are named; files that changed after the
// recording get a note.
void symbolise_sources(Profile *p, const SourceOptions *options);

// Reads the whole text of one source file of the profile into the arena.
// `is_changed` says that the file is newer than the recording, so that its lines may differ.
// False when it cannot be read, may not (SourceOptions.roots), or is not text.
bool source_read(Arena *arena, const SourceOptions *options, const Profile *p, StrId file,
                 Str *text, bool *is_changed);

// Finds the folder for SourceOptions.rust_src: that of the first toolchain, by name, in rustup's
// folder that has the rust-src component, else that of the distribution; "" when there is none.
Str rust_source_find(Arena *arena, Str rustup_home);

#endif // SYMBOLISE_SYMBOLISE_H
