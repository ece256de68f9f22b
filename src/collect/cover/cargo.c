// SPDX-License-Identifier: Apache-2.0
// Builds a Rust workspace for coverage. Formats: the Cargo book, "External tools", JSON messages
// and cargo metadata.

#include "collect/cover/cargo.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/json.h"
#include "os/capture.h"

enum { MESSAGES_MAX_BYTES = 1 << 28 };

// ---- The user's words ------------------------------------------------------------

typedef struct CargoWords {
    size_t sub;  // index of the sub-command, 0: none
    size_t from; // the first of its arguments
    size_t end;  // the end of its arguments: at "--" or after the last word
    bool is_nextest;
} CargoWords;

static Str word_at(char *const argv[], size_t i)
{
    return str_from_c(argv[i]);
}

static bool is_one_of(Str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(word, str_from_c(list[i])))
            return true;
    return false;
}

// Options of cargo whose argument is the next word.
static bool takes_argument(Str word)
{
    static const char *const list[] = {"-p",
                                       "--package",
                                       "--bin",
                                       "--example",
                                       "--test",
                                       "--bench",
                                       "-F",
                                       "--features",
                                       "--target",
                                       "-j",
                                       "--jobs",
                                       "--exclude",
                                       "--config",
                                       "--target-dir",
                                       "--manifest-path",
                                       "-Z",
                                       "--color",
                                       "--message-format",
                                       "-C",
                                       "--profile",
                                       "--cargo-profile",
                                       "--lockfile-path"};
    return is_one_of(word, list, ARRAY_LEN(list));
}

static CargoWords split(char *const argv[])
{
    CargoWords w = {0};
    size_t i = 1;
    while (argv[i] && (argv[i][0] == '-' || argv[i][0] == '+'))
        i += takes_argument(word_at(argv, i)) && argv[i + 1] ? 2 : 1;
    if (!argv[i])
        return w;
    w.sub = i;
    w.from = i + 1;
    if (str_equal(word_at(argv, i), STR("nextest"))) {
        w.is_nextest = true;
        if (argv[w.from] && str_equal(word_at(argv, w.from), STR("run")))
            w.from++;
    }
    for (w.end = w.from; argv[w.end] && !str_equal(word_at(argv, w.end), STR("--"));)
        w.end++;
    return w;
}

bool cover_cargo_is(char *const argv[])
{
    static const char *const list[] = {"test", "t", "run", "r", "bench", "nextest"};
    if (!str_equal(str_base_name(word_at(argv, 0)), STR("cargo")))
        return false;
    CargoWords w = split(argv);
    return w.sub && is_one_of(word_at(argv, w.sub), list, ARRAY_LEN(list));
}

static void add_word(Arena *arena, CoverWords *words, Str word)
{
    vec_push(arena, words, arena_c_str(arena, word));
}

char *const *cover_cargo_with_options(Arena *arena, char *const argv[], const StrVec *packages,
                                      bool all_features)
{
    CargoWords w = split(argv);
    CoverWords words = {0};
    for (size_t i = 0; argv[i]; i++) {
        vec_push(arena, &words, argv[i]);
        if (i + 1 != w.from)
            continue;
        for (size_t k = 0; k < packages->len; k++)
            add_word(arena, &words,
                     arena_printf(arena, "--package=%" STR_FMT, STR_ARG(packages->at[k])));
        if (all_features)
            add_word(arena, &words, STR("--all-features"));
    }
    vec_push(arena, &words, NULL);
    return words.at;
}

// ---- The build -----------------------------------------------------------------------

// Whether an option of nextest is an option of cargo test, too, as most are.
static bool is_cargo_option(Str word)
{
    static const char *const list[] = {
        "--workspace", "--all",      "--all-features", "--no-default-features",
        "--release",   "-r",         "--lib",          "--bins",
        "--tests",     "--examples", "--benches",      "--offline",
        "--locked",    "--frozen",   "--all-targets"};
    Str name, value;
    // "-Fextra", "-pname", "-j4"
    if (word.len > 2 && word.ptr[0] == '-' && word.ptr[1] != '-')
        return takes_argument(str_slice(word, 0, 2));
    if (str_split(word, '=', &name, &value))
        return takes_argument(name) && !str_equal(name, STR("--profile"));
    return is_one_of(word, list, ARRAY_LEN(list)) ||
           (takes_argument(word) && !str_equal(word, STR("--profile")));
}

// Whether an option must not reach the build: it would end the build early or change its messages.
static bool is_left_out(Str word)
{
    static const char *const list[] = {"--no-run", "--doc", "--message-format"};
    return is_one_of(word, list, ARRAY_LEN(list)) ||
           str_starts_with(word, STR("--message-format="));
}

static void add_build_options(Arena *arena, char *const argv[], const CargoWords *w, bool is_run,
                              CoverWords *ret)
{
    for (size_t i = w->from; i < w->end; i++) {
        Str word = word_at(argv, i);
        bool pair = takes_argument(word) && i + 1 < w->end;
        // The first operand of run begins the arguments of the program.
        if (is_run && word.len && word.ptr[0] != '-')
            break;
        bool keep = !is_left_out(word) && (!w->is_nextest || is_cargo_option(word));
        if (keep && w->is_nextest && str_equal(word, STR("--cargo-profile")))
            word = STR("--profile");
        if (keep)
            add_word(arena, ret, word);
        if (keep && pair)
            add_word(arena, ret, word_at(argv, i + 1));
        i += pair;
    }
}

void cover_cargo_build_words(Arena *arena, char *const argv[], CoverWords *ret)
{
    CargoWords w = split(argv);
    Str sub = word_at(argv, w.sub);
    bool is_run = str_equal(sub, STR("run")) || str_equal(sub, STR("r"));
    bool only_doc = false;
    for (size_t i = w.from; i < w.end; i++)
        only_doc |= str_equal(word_at(argv, i), STR("--doc"));
    for (size_t i = 0; i < w.sub; i++)
        add_word(arena, ret, word_at(argv, i));
    bool is_build = is_run || only_doc;
    add_word(arena, ret,
             is_build                       ? STR("build")
             : str_equal(sub, STR("bench")) ? STR("bench")
                                            : STR("test"));
    if (!is_build)
        add_word(arena, ret, STR("--no-run"));
    add_word(arena, ret, STR("--message-format=json-render-diagnostics"));
    add_build_options(arena, argv, &w, is_run, ret);
    vec_push(arena, ret, NULL);
    ret->len--;
}

static Str text_of(const JsonValue *object, const char *key)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_STRING ? v->text : STR("");
}

// Whether a message is about a shared object that programs or the compiler load.
static bool is_shared_library(const JsonValue *message)
{
    const JsonValue *kinds = json_find(json_find(message, "target"), "kind");
    for (const JsonValue *k = kinds ? kinds->child : NULL; k; k = k->next)
        if (str_equal(k->text, STR("cdylib")) || str_equal(k->text, STR("dylib")) ||
            str_equal(k->text, STR("proc-macro")))
            return true;
    return false;
}

// Adds the unit of an output file: "/t/debug/deps/liba-0123.rlib" is of unit "a-0123",
// "/t/debug/deps/it-0123" of "it-0123".
static void add_unit(Arena *arena, Str path, CoverCargo *ret)
{
    Str name = str_base_name(path);
    size_t dot = str_find_last_char(name, '.');
    if (dot != SIZE_MAX && str_starts_with(name, STR("lib")))
        name = str_slice(name, 3, dot);
    if (str_find_last_char(name, '-') != SIZE_MAX)
        vec_push(arena, &ret->units, arena_str(arena, name));
}

static void add_object(Arena *arena, CoverCargo *ret, Str path, Str manifest)
{
    vec_push(arena, &ret->objects, arena_str(arena, path));
    vec_push(arena, &ret->folders, arena_str(arena, str_dir_name(manifest)));
}

static void read_artifact(Arena *arena, const JsonValue *message, CoverCargo *ret)
{
    Str executable = text_of(message, "executable");
    Str manifest = text_of(message, "manifest_path");
    bool is_shared = is_shared_library(message);
    if (executable.len)
        add_object(arena, ret, executable, manifest);
    const JsonValue *names = json_find(message, "filenames");
    for (const JsonValue *n = names ? names->child : NULL; n; n = n->next) {
        if (n->kind != JSON_STRING)
            continue;
        add_unit(arena, n->text, ret);
        if (is_shared && str_ends_with(n->text, STR(".so")))
            add_object(arena, ret, n->text, manifest);
    }
}

void cover_cargo_read_messages(Arena *arena, Str text, CoverCargo *ret)
{
    Str line;
    while (str_next_line(&text, &line)) {
        Arena scratch = {0};
        JsonValue *message;
        // Build scripts are left out: cargo runs them, not the program.
        if (line.len && line.ptr[0] == '{' && json_parse(&scratch, line, &message, NULL) &&
            str_equal(text_of(message, "reason"), STR("compiler-artifact")) &&
            str_find(line, STR("\"kind\":[\"custom-build\"]")) == SIZE_MAX)
            read_artifact(arena, message, ret);
        arena_deinit(&scratch);
    }
}

// ---- The workspace ---------------------------------------------------------------------

static void add_scripts(Arena *arena, const JsonValue *package, CoverCargo *ret)
{
    const JsonValue *targets = json_find(package, "targets");
    for (const JsonValue *t = targets ? targets->child : NULL; t; t = t->next) {
        const JsonValue *kinds = json_find(t, "kind");
        Str source = text_of(t, "src_path");
        if (kinds && kinds->child && str_equal(kinds->child->text, STR("custom-build")) &&
            source.len)
            vec_push(arena, &ret->scripts, source);
    }
}

static bool read_metadata(Arena *arena, Str text, CoverCargo *ret, Error *err)
{
    JsonValue *root;
    if (!json_parse(arena, text, &root, err))
        return error_context(err, "cargo metadata");
    ret->target = text_of(root, "target_directory");
    ret->own_target =
        arena_printf(arena, "%" STR_FMT "/assay-cover%s%s", STR_ARG(ret->target),
                     ret->how.all ? "-all" : "", ret->how.continuous ? "-continuous" : "");
    const JsonValue *packages = json_find(root, "packages");
    for (const JsonValue *p = packages ? packages->child : NULL; p; p = p->next) {
        Str manifest = text_of(p, "manifest_path");
        if (manifest.len)
            vec_push(arena, &ret->members, str_dir_name(manifest));
        add_scripts(arena, p, ret);
    }
    if (ret->target.len == 0 || ret->members.len == 0)
        return error_set(err, ERROR_FORMAT, "cargo metadata names no target folder or package");
    return true;
}

// Keeps the options that name the workspace and its target folder.
void cover_cargo_metadata_words(Arena *arena, char *const argv[], CoverWords *ret)
{
    static const char *const paired[] = {"--manifest-path", "--config", "-Z", "--lockfile-path"};
    static const char *const single[] = {"--offline", "--locked", "--frozen"};
    CargoWords w = split(argv);
    for (size_t i = 0; i < w.sub; i++)
        add_word(arena, ret, word_at(argv, i));
    add_word(arena, ret, STR("metadata"));
    add_word(arena, ret, STR("--format-version=1"));
    add_word(arena, ret, STR("--no-deps"));
    for (size_t i = w.from; i < w.end; i++) {
        Str word = word_at(argv, i);
        bool pair = is_one_of(word, paired, ARRAY_LEN(paired)) && i + 1 < w.end;
        bool alone = is_one_of(word, single, ARRAY_LEN(single)) ||
                     str_starts_with(word, STR("--manifest-path=")) ||
                     str_starts_with(word, STR("--config="));
        if (pair || alone)
            add_word(arena, ret, word);
        if (pair)
            add_word(arena, ret, word_at(argv, ++i));
    }
    vec_push(arena, ret, NULL);
    ret->len--;
}

static bool has_target_dir(char *const argv[])
{
    for (size_t i = 1; argv[i] && !str_equal(word_at(argv, i), STR("--")); i++)
        if (str_starts_with(word_at(argv, i), STR("--target-dir")))
            return true;
    return false;
}

void cover_cargo_variables(Arena *arena, char *const argv[], const CoverCargo *c,
                           CoverVariables *ret)
{
    if (!has_target_dir(argv))
        vec_push(arena, ret, (CoverVariable){"CARGO_TARGET_DIR", c->own_target.ptr});
}

bool cover_cargo_metadata(Arena *arena, const Program *cargo, char *const argv[], CoverCargoHow how,
                          CoverCargo *ret, Error *err)
{
    CoverWords words = {0};
    Bytes text;
    *ret = (CoverCargo){.how = how};
    cover_cargo_metadata_words(arena, argv, &words);
    return os_capture(arena, cargo, words.at, false, MESSAGES_MAX_BYTES, &text, &ret->build_status,
                      err) &&
           (ret->build_status != 0 || read_metadata(arena, str_from_bytes(text), ret, err));
}

// cargo links a program in "deps" under a second name without the hash. The unit is that of the
// file with the same inode.
static void add_linked_unit(Arena *arena, Str path, CoverCargo *ret)
{
    struct stat st, other;
    Str folder = arena_printf(arena, "%" STR_FMT "/deps", STR_ARG(str_dir_name(path)));
    DIR *dir = stat(arena_c_str(arena, path), &st) == 0 ? opendir(folder.ptr) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (fstatat(dirfd(dir), e->d_name, &other, 0) == 0 && other.st_ino == st.st_ino)
            add_unit(arena, str_from_c(e->d_name), ret);
    if (dir)
        closedir(dir);
}

bool cover_cargo_build(Arena *arena, const Program *cargo, char *const argv[], CoverCargo *ret,
                       Error *err)
{
    CoverWords words = {0};
    Bytes text;
    cover_cargo_build_words(arena, argv, &words);
    if (!os_capture(arena, cargo, words.at, false, MESSAGES_MAX_BYTES, &text, &ret->build_status,
                    err))
        return false;
    cover_cargo_read_messages(arena, str_from_bytes(text), ret);
    for (size_t i = 0, count = ret->objects.len; i < count; i++)
        add_linked_unit(arena, ret->objects.at[i], ret);
    return true;
}
