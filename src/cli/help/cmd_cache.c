// SPDX-License-Identifier: Apache-2.0
// assay cache: shows what is kept between runs, and clears it.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/symbols.h"
#include "collect/bench/revisions.h"
#include "os/folder_tree.h"
#include "os/owned_file.h"
#include "symbolise/symbol_cache.h"

typedef struct CacheOptions {
    Str clear;
    bool json;
} CacheOptions;

static const Option cache_options[] = {
    OPT_OPTIONAL(0, "clear", CacheOptions, clear, "WHAT", "all|symbols|revisions",
                 "remove it: all (without a word), symbols or revisions"),
    OPT_FLAG(0, "json", CacheOptions, json, "as JSON, see docs/formats/json.md"),
};

// One kind of what is kept.
typedef struct CachePart {
    const char *name;
    const char *meaning;
    TreeSize size;
} CachePart;

enum { PART_SYMBOLS, PART_REVISIONS, PART_COUNT };

typedef struct CacheFolder {
    Str path;
    int fd; // -1: there is none yet
    CachePart parts[PART_COUNT];
} CacheFolder;

// Opens the folder if it is there. It is not made, for a look must not leave anything behind.
static bool open_cache(Arena *arena, CacheFolder *c, Error *err)
{
    SymboliseOptions folders;
    symbols_options(arena, &(StrVec){0}, &folders);
    *c = (CacheFolder){.path = folders.cache_dir, .fd = -1};
    c->parts[PART_SYMBOLS].name = "symbols";
    c->parts[PART_SYMBOLS].meaning = "names, lines and debug sections of programs";
    c->parts[PART_REVISIONS].name = "revisions";
    c->parts[PART_REVISIONS].meaning = "builds of assay bench --revisions, --bisect";
    if (c->path.len == 0) {
        error_set(err, ERROR_NOT_FOUND, "there is no folder for a cache");
        return error_hint(err, "set XDG_CACHE_HOME or HOME");
    }
    struct stat st;
    if (lstat(arena_c_str(arena, c->path), &st) != 0 && errno == ENOENT)
        return true;
    c->fd = os_open_own_folder(c->path, err);
    return c->fd >= 0;
}

static void measure(CacheFolder *c)
{
    if (c->fd < 0)
        return;
    TreeSize *symbols = &c->parts[PART_SYMBOLS].size;
    TreeSize *revisions = &c->parts[PART_REVISIONS].size;
    os_tree_size(c->fd, REVISIONS_FOLDER, revisions);
    symbol_cache_size(c->fd, &symbols->files, &symbols->bytes);
}

static void show_text(const CacheFolder *c, StrBuf *out)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        const CachePart *part = &c->parts[i];
        StrBuf size = {0};
        cli_add_size(&size, part->size.bytes);
        strbuf_printf(out, "%-10s %10.*s in %" PRIu64 " %s: %s\n", part->name, (int)size.len,
                      size.ptr, part->size.files, part->size.files == 1 ? "file" : "files",
                      part->meaning);
        strbuf_deinit(&size);
    }
    strbuf_printf(out, "in %" STR_FMT "%s\n", STR_ARG(c->path),
                  c->fd < 0 ? ", which does not exist yet" : "");
    strbuf_printf(out,
                  "symbols keep to %llu MiB: the oldest files go first; assay cache --clear "
                  "removes all\n",
                  SYMBOL_CACHE_MAX_BYTES >> 20);
}

static void show_json(const CacheFolder *c, StrBuf *out)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-cache"));
    json_u64(&w, "version", 1);
    json_str(&w, "folder", c->path);
    json_begin_array(&w, "parts");
    for (size_t i = 0; i < PART_COUNT; i++) {
        const CachePart *part = &c->parts[i];
        json_begin_object(&w, NULL);
        json_str(&w, "name", str_from_c(part->name));
        json_u64(&w, "files", part->size.files);
        json_u64(&w, "bytes", part->size.bytes);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

static int show(const CacheFolder *c, bool json)
{
    StrBuf out = {0};
    if (json)
        show_json(c, &out);
    else
        show_text(c, &out);
    bool written = json ? cli_print(strbuf_str(&out)) : cli_print_text(strbuf_str(&out));
    strbuf_deinit(&out);
    return written ? STATUS_OK : STATUS_FAILED;
}

static void say_cleared(const CachePart *part)
{
    StrBuf size = {0};
    cli_add_size(&size, part->size.bytes);
    cli_say("removed %s: %" STR_FMT, part->name, STR_ARG(strbuf_str(&size)));
    strbuf_deinit(&size);
}

static int clear(const CacheFolder *c, Str what)
{
    bool all = str_equal(what, STR("all"));
    bool symbols = all || str_equal(what, STR("symbols"));
    bool revisions = all || str_equal(what, STR("revisions"));
    int status = STATUS_OK;
    if (c->fd < 0)
        return STATUS_OK;
    if (symbols) {
        symbol_cache_clear(c->fd);
        say_cleared(&c->parts[PART_SYMBOLS]);
    }
    if (revisions && c->parts[PART_REVISIONS].size.bytes) {
        Error err;
        if (revisions_clear(c->fd, &err))
            say_cleared(&c->parts[PART_REVISIONS]);
        else
            status = cli_fail(&err);
    }
    return status;
}

static int look_after(CommandLine *line, void *values)
{
    const CacheOptions *o = values;
    CacheFolder c;
    Error err;
    if (line->operands.len)
        return usage_error(line->cmd,
                           "no argument is expected, but '%" STR_FMT
                           "' is given; to remove a part, "
                           "type --clear=%" STR_FMT,
                           STR_ARG(line->operands.at[0]), STR_ARG(line->operands.at[0]));
    if (!open_cache(line->arena, &c, &err))
        return cli_fail(&err);
    measure(&c);
    int status = o->clear.len ? clear(&c, o->clear) : show(&c, o->json);
    if (c.fd >= 0)
        close(c.fd);
    return status;
}

static int run_cache(const Command *cmd, int argc, char **argv)
{
    CacheOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, look_after);
}

const Command cache_command = {
    .name = "cache",
    .group = "help",
    .summary = "show what is kept between runs, and clear it",
    .first = "  assay cache            how much is kept, and where\n"
             "  assay cache --clear    remove all of it\n",
    .usage = "[--clear[=WHAT]] [--json]",
    .options = cache_options,
    .option_count = ARRAY_LEN(cache_options),
    .details = "Symbols make a second report of the same program quick. Revisions are work trees\n"
               "of git with their builds, so that a commit is built once for each build command.\n"
               "Both are made again when they are needed. Recordings, coverage results and the\n"
               "history of benchmarks are kept.\n",
    .run = run_cache,
};
