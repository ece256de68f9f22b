// SPDX-License-Identifier: Apache-2.0
// Work trees of revisions. They stand outside of the repository, because build tools look for their
// own files in the folders above.

#include "collect/bench/revisions.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/capture.h"
#include "os/file.h"
#include "os/folder_tree.h"

enum { OUTPUT_MAX_BYTES = 16 << 20, ARGS_MAX = 16, LOG_SHOWN_BYTES = 600 };

static bool run_git(const RevisionBuilds *b, Str folder, const char *const args[], bool quiet,
                    Str *output, int *status, Error *err)
{
    char *argv[ARGS_MAX + 4] = {arena_c_str(b->arena, STR("git"))};
    size_t n = 1;
    Bytes bytes = {0};
    if (folder.len) {
        argv[n++] = arena_c_str(b->arena, STR("-C"));
        argv[n++] = arena_c_str(b->arena, folder);
    }
    for (size_t i = 0; args[i]; i++)
        argv[n++] = arena_c_str(b->arena, str_from_c(args[i]));
    argv[n] = NULL;
    if (!os_capture(b->arena, &b->git, argv, quiet, OUTPUT_MAX_BYTES, &bytes, status, err))
        return false;
    *output = str_from_bytes(bytes);
    while (output->len && output->ptr[output->len - 1] == '\n')
        output->len--;
    return true;
}

bool revisions_git(const RevisionBuilds *b, const char *const args[], Str *ret, Error *err)
{
    int status;
    if (!run_git(b, b->top, args, false, ret, &status, err))
        return false;
    return status == 0 || error_set(err, ERROR_OS, "'git %s' ended with status %d", args[0],
                                    exit_status_of(status));
}

bool revisions_init(RevisionBuilds *ret, Arena *arena, Str cache, Str build, Str path, Error *err)
{
    RevisionBuilds b = {.arena = arena, .build = build};
    static const char *const where[] = {"rev-parse", "--show-toplevel", "--show-prefix",
                                        "--git-common-dir", NULL};
    Str output, line, lines[3] = {{0}};
    int status;
    if (!program_find(arena, STR("git"), path, &b.git, err) ||
        !program_find(arena, STR("sh"), path, &b.shell, err) ||
        !run_git(&b, STR(""), where, false, &output, &status, err))
        return false;
    if (status != 0)
        return error_set(err, ERROR_NOT_FOUND, "this folder is in no git work tree");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        lines[i] = str_next_line(&output, &line) ? line : STR("");
    b.top = lines[0];
    b.prefix = lines[1];
    if (cache.len == 0) {
        error_set(err, ERROR_NOT_FOUND, "there is no folder for the work trees of revisions");
        return error_hint(err, "set XDG_CACHE_HOME or HOME");
    }
    Str name = str_base_name(b.top);
    b.cache = arena_printf(arena, "%" STR_FMT "/" REVISIONS_FOLDER "/%" STR_FMT "-%016llx",
                           STR_ARG(cache), STR_ARG(name), (unsigned long long)str_hash(b.top));
    if (!os_make_folders(b.cache, err))
        return error_context(err, "cannot keep work trees");
    *ret = b;
    return true;
}

bool revision_find(const RevisionBuilds *b, Str name, Revision *ret, Error *err)
{
    Revision r = {.name = name};
    const char *commit =
        arena_c_str(b->arena, arena_printf(b->arena, "%" STR_FMT "^{commit}", STR_ARG(name)));
    const char *const parse[] = {"rev-parse",        "--verify", "--quiet",
                                 "--end-of-options", commit,     NULL};
    int status;
    if (!run_git(b, b->top, parse, true, &r.commit, &status, err))
        return false;
    if (status != 0 || r.commit.len < 40)
        return error_set(err, ERROR_NOT_FOUND, "there is no revision '%" STR_FMT "'",
                         STR_ARG(name));
    const char *const show[] = {"log", "-1", "--format=%s", arena_c_str(b->arena, r.commit), NULL};
    if (!revisions_git(b, show, &r.subject, err))
        return false;
    *ret = r;
    return true;
}

// ---- Builds ------------------------------------------------------------------

// The end of the output of the build.
static Str log_end(Arena *arena, Str path)
{
    Bytes bytes;
    if (!os_read_file(arena, path, OUTPUT_MAX_BYTES, &bytes, NULL))
        return STR("");
    Str text = str_trim(str_from_bytes(bytes));
    return text.len > LOG_SHOWN_BYTES ? str_slice(text, text.len - LOG_SHOWN_BYTES, text.len)
                                      : text;
}

// Runs the build command in `folder`; what it prints goes to the file `log`.
static bool run_build(const RevisionBuilds *b, Str folder, Str log, bool *build_failed, Error *err)
{
    Bytes output;
    int status;
    char *argv[] = {arena_c_str(b->arena, STR("sh")),
                    arena_c_str(b->arena, STR("-c")),
                    arena_c_str(b->arena, STR("cd \"$1\" && eval \"$3\" >\"$2\" 2>&1")),
                    arena_c_str(b->arena, STR("sh")),
                    arena_c_str(b->arena, folder),
                    arena_c_str(b->arena, log),
                    arena_c_str(b->arena, b->build),
                    NULL};
    if (b->build.len == 0)
        return true;
    if (!os_capture(b->arena, &b->shell, argv, false, OUTPUT_MAX_BYTES, &output, &status, err))
        return false;
    if (status == 0)
        return true;
    *build_failed = true;
    error_set(err, ERROR_OS, "the build in '%" STR_FMT "' ended with status %d: %" STR_FMT,
              STR_ARG(folder), exit_status_of(status), STR_ARG(log_end(b->arena, log)));
    return error_hint(err, "all that it printed is in '%" STR_FMT "'", STR_ARG(log));
}

static bool make_tree(const RevisionBuilds *b, const Revision *r, Str tree, Error *err)
{
    if (os_file_exists(tree))
        return true;
    // --force: git may remember a work tree of this name whose folder is gone. A hook of the
    // repository must not run for a tree that the user does not see.
    const char *const add[] = {"-c",
                               "core.hooksPath=/dev/null",
                               "worktree",
                               "add",
                               "--quiet",
                               "--force",
                               "--detach",
                               arena_c_str(b->arena, tree),
                               arena_c_str(b->arena, r->commit),
                               NULL};
    Str output;
    int status;
    if (!run_git(b, b->top, add, false, &output, &status, err))
        return false;
    return status == 0 ||
           error_set(err, ERROR_OS, "git cannot make the work tree '%" STR_FMT "'", STR_ARG(tree));
}

// The command is a part of the name: another command gets another tree.
static Str tree_of(const RevisionBuilds *b, const Revision *r)
{
    return arena_printf(b->arena, "%" STR_FMT "/%" STR_FMT "-%016llx", STR_ARG(b->cache),
                        STR_ARG(str_slice(r->commit, 0, 16)),
                        (unsigned long long)str_hash(b->build));
}

static Str mark_of(const RevisionBuilds *b, Str tree)
{
    return arena_printf(b->arena, "%" STR_FMT ".built", STR_ARG(tree));
}

static Str in_tree(const RevisionBuilds *b, Str tree)
{
    Str prefix = b->prefix;
    while (prefix.len && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    return prefix.len
               ? arena_printf(b->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(tree), STR_ARG(prefix))
               : tree;
}

static bool build_locked(const RevisionBuilds *b, Revision *r, Str tree, bool *build_failed,
                         Error *err)
{
    Str built = mark_of(b, tree);
    Str log = revision_log(b, r);
    if (!make_tree(b, r, tree, err))
        return false;
    r->folder = in_tree(b, tree);
    r->reused = os_file_exists(built);
    if (r->reused)
        return true;
    if (!run_build(b, r->folder, log, build_failed, err))
        return false;
    return os_write_file(built, bytes_from_str(b->build), OUTPUT_REPLACE, err);
}

Str revision_log(const RevisionBuilds *b, const Revision *r)
{
    if (r->commit.len == 0)
        return arena_printf(b->arena, "%" STR_FMT "/work-tree.log", STR_ARG(b->cache));
    return arena_printf(b->arena, "%" STR_FMT ".log", STR_ARG(tree_of(b, r)));
}

bool revision_is_built(const RevisionBuilds *b, const Revision *r)
{
    return b->build.len == 0 || (r->commit.len && os_file_exists(mark_of(b, tree_of(b, r))));
}

bool revision_build(const RevisionBuilds *b, Revision *r, bool *build_failed, Error *err)
{
    *build_failed = false;
    if (r->commit.len == 0) {
        r->folder = in_tree(b, b->top);
        return run_build(b, r->folder, revision_log(b, r), build_failed, err);
    }
    Str tree = tree_of(b, r);
    Str lock = arena_printf(b->arena, "%" STR_FMT ".lock", STR_ARG(tree));
    int fd = open(arena_c_str(b->arena, lock), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        return error_os(err, "cannot lock '%" STR_FMT "'", STR_ARG(lock));
    bool ok = build_locked(b, r, tree, build_failed, err);
    close(fd);
    return ok;
}

// ---- Removal -------------------------------------------------------------------

// Whether a build in the folder of a repository holds its lock.
static bool builds_now(int parent, const char *repository)
{
    DIR *dir = os_open_folder(parent, repository);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        if (!str_ends_with(str_from_c(e->d_name), STR(".lock")))
            continue;
        int fd = openat(dirfd(dir), e->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        found = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
    return found;
}

bool revisions_clear(int cache, Error *err)
{
    DIR *dir = os_open_folder(cache, REVISIONS_FOLDER);
    bool free_of_builds = true;
    for (struct dirent *e; dir && free_of_builds && (e = readdir(dir));)
        if (e->d_name[0] != '.' && builds_now(dirfd(dir), e->d_name)) {
            free_of_builds =
                error_set(err, ERROR_LIMIT, "revisions of '%s' are being built now", e->d_name);
            (void)error_hint(err, "try again when assay bench has ended");
        }
    if (dir)
        closedir(dir);
    if (!dir || !free_of_builds)
        return free_of_builds;
    return os_tree_remove(cache, REVISIONS_FOLDER) ||
           error_os(err, "cannot remove all of '" REVISIONS_FOLDER "'");
}
