// SPDX-License-Identifier: Apache-2.0
// Programs that cargo builds. Format: the Cargo book, "External tools", JSON messages;
// "Configuration", environment variables of profiles.

#include "build/build_internal.h"

#include <ctype.h>

#include "build/build_parts_internal.h"

typedef enum CargoKind { CARGO_BIN, CARGO_EXAMPLE, CARGO_TEST, CARGO_BENCH } CargoKind;

// What the words behind --cargo ask for.
typedef struct CargoWish {
    CargoKind kind;
    Str name;         // of the target; "": the only one
    Str profile;      // from --profile; "": not given
    bool has_profile; // --release, -r or --profile is given
    bool is_unit;     // --lib: the unit tests of the library
    size_t from;      // 1 when the first word is a sub-command
} CargoWish;

// The value of an option that is given as "--name=VALUE" or "--name VALUE".
static bool option_value(const StrVec *words, size_t i, Str name, Str *ret)
{
    Str word = words->at[i];
    *ret = STR("");
    if (str_equal(word, name)) {
        if (i + 1 < words->len && !str_starts_with(words->at[i + 1], STR("-")))
            *ret = words->at[i + 1];
        return true;
    }
    if (!str_starts_with(word, name) || word.len <= name.len || word.ptr[name.len] != '=')
        return false;
    *ret = str_slice(word, name.len + 1, word.len);
    return true;
}

static bool is_sub_command(Str word, CargoKind *kind)
{
    static const struct {
        const char *word;
        CargoKind kind;
    } words[] = {{"build", CARGO_BIN}, {"b", CARGO_BIN},  {"run", CARGO_BIN},    {"r", CARGO_BIN},
                 {"test", CARGO_TEST}, {"t", CARGO_TEST}, {"bench", CARGO_BENCH}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal(word, str_from_c(words[i].word))) {
            *kind = words[i].kind;
            return true;
        }
    return false;
}

static CargoWish wish_of(const StrVec *words)
{
    static const struct {
        const char *option;
        CargoKind kind;
    } kinds[] = {{"--bin", CARGO_BIN},
                 {"--example", CARGO_EXAMPLE},
                 {"--test", CARGO_TEST},
                 {"--bench", CARGO_BENCH}};
    CargoWish w = {.kind = CARGO_BIN};
    Str value;
    if (words->len && is_sub_command(words->at[0], &w.kind))
        w.from = 1;
    for (size_t i = w.from; i < words->len; i++) {
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            if (option_value(words, i, str_from_c(kinds[k].option), &value)) {
                w.kind = kinds[k].kind;
                w.name = value;
            }
        if (str_equal(words->at[i], STR("--lib"))) {
            w.kind = w.kind == CARGO_BENCH ? CARGO_BENCH : CARGO_TEST;
            w.is_unit = true;
        }
        if (option_value(words, i, STR("--profile"), &value)) {
            w.profile = value;
            w.has_profile = true;
        }
        w.has_profile |=
            str_equal(words->at[i], STR("--release")) || str_equal(words->at[i], STR("-r"));
    }
    return w;
}

// ---- The build ---------------------------------------------------------------------------

// "CARGO_PROFILE_MY_FAST_DEBUG" for the profile "my-fast".
static const char *profile_variable(Arena *arena, Str profile, const char *end)
{
    StrBuf b = {0};
    strbuf_add(&b, STR("CARGO_PROFILE_"));
    for (size_t i = 0; i < profile.len; i++) {
        char c = profile.ptr[i];
        strbuf_add_char(&b, c == '-' ? '_' : (char)toupper((unsigned char)c));
    }
    strbuf_add(&b, str_from_c(end));
    const char *name = arena_c_str(arena, strbuf_str(&b));
    strbuf_deinit(&b);
    return name;
}

static void add_variable(BuildVariables *ret, Arena *arena, const char *name, const char *value,
                         bool (*is_set)(const char *name))
{
    if (!is_set(name))
        vec_push(arena, ret, (BuildVariable){name, value});
}

// Profiles of development have debug information anyhow. Level 1 has lines and inlined calls, and
// costs little; "none" keeps a `strip = true` of the manifest from removing them.
void build_cargo_variables(Arena *arena, const StrVec *words, bool (*is_set)(const char *name),
                           BuildVariables *ret)
{
    CargoWish w = wish_of(words);
    const Str usual[] = {STR("release"), STR("bench")};
    Str profiles[] = {usual[0], usual[1], w.profile};
    bool is_usual = w.profile.len == 0 || str_equal(w.profile, usual[0]) ||
                    str_equal(w.profile, usual[1]) || str_equal(w.profile, STR("dev")) ||
                    str_equal(w.profile, STR("test"));
    for (size_t i = 0; i < ARRAY_LEN(profiles) - is_usual; i++) {
        add_variable(ret, arena, profile_variable(arena, profiles[i], "_DEBUG"), "1", is_set);
        add_variable(ret, arena, profile_variable(arena, profiles[i], "_STRIP"), "none", is_set);
    }
}

static StrVec build_words(Arena *arena, const StrVec *given, const CargoWish *w)
{
    static const char *const subs[] = {[CARGO_BIN] = "build",
                                       [CARGO_EXAMPLE] = "build",
                                       [CARGO_TEST] = "test",
                                       [CARGO_BENCH] = "bench"};
    StrVec words = {0};
    vec_push(arena, &words, STR("cargo"));
    vec_push(arena, &words, str_from_c(subs[w->kind]));
    if (w->kind == CARGO_TEST || w->kind == CARGO_BENCH)
        vec_push(arena, &words, STR("--no-run"));
    vec_push(arena, &words, STR("--message-format=json-render-diagnostics"));
    // What is measured should be what is shipped. `cargo bench` takes its own profile.
    if (!w->has_profile && w->kind != CARGO_BENCH)
        vec_push(arena, &words, STR("--release"));
    for (size_t i = w->from; i < given->len; i++)
        vec_push(arena, &words, given->at[i]);
    return words;
}

// ---- The program ---------------------------------------------------------------------------

typedef struct CargoArtifact {
    Str executable, name, manifest;
    bool is_unit; // of a library or a program itself, no target of its own
} CargoArtifact;
typedef Vec(CargoArtifact) CargoArtifacts;

static bool has_kind(const JsonValue *target, const char *kind)
{
    const JsonValue *kinds = json_find(target, "kind");
    for (const JsonValue *k = kinds ? kinds->child : NULL; k; k = k->next)
        if (str_equal(k->text, str_from_c(kind)))
            return true;
    return false;
}

static bool is_wanted(const JsonValue *message, const JsonValue *target, const CargoWish *w)
{
    const JsonValue *test = json_find(json_find(message, "profile"), "test");
    bool is_test = test && test->kind == JSON_BOOL && test->boolean;
    if (w->name.len && !str_equal(build_json_text(target, "name"), w->name))
        return false;
    switch (w->kind) {
    case CARGO_BIN:
        return has_kind(target, "bin") && !is_test;
    case CARGO_EXAMPLE:
        return has_kind(target, "example");
    case CARGO_TEST:
        return is_test && (!w->name.len || has_kind(target, "test")) &&
               (!w->is_unit || !has_kind(target, "test"));
    case CARGO_BENCH:
        return is_test && (w->is_unit || has_kind(target, "bench"));
    }
    return false;
}

static void read_artifacts(Arena *arena, Str text, const CargoWish *w, CargoArtifacts *ret)
{
    Str line;
    while (str_next_line(&text, &line)) {
        Arena scratch = {0};
        JsonValue *message;
        if (line.len && line.ptr[0] == '{' && json_parse(&scratch, line, &message, NULL) &&
            str_equal(build_json_text(message, "reason"), STR("compiler-artifact"))) {
            const JsonValue *target = json_find(message, "target");
            Str executable = build_json_text(message, "executable");
            if (executable.len && target && is_wanted(message, target, w))
                vec_push(
                    arena, ret,
                    (CargoArtifact){
                        .executable = arena_str(arena, executable),
                        .name = arena_str(arena, build_json_text(target, "name")),
                        .manifest = arena_str(arena, build_json_text(message, "manifest_path")),
                        .is_unit = !has_kind(target, "bench") && !has_kind(target, "test") &&
                                   !has_kind(target, "example")});
        }
        arena_deinit(&scratch);
    }
}

static const char *kind_option(const CargoWish *w)
{
    static const char *const options[] = {[CARGO_BIN] = "--bin",
                                          [CARGO_EXAMPLE] = "--example",
                                          [CARGO_TEST] = "--test",
                                          [CARGO_BENCH] = "--bench"};
    return options[w->kind];
}

// Several programs, or none: names the options that choose one.
static bool explain_choice(const CargoArtifacts *a, const CargoWish *w, Error *err)
{
    if (a->len == 0) {
        (void)error_set(err, ERROR_NOT_FOUND, "cargo built no program that fits '%s%s%" STR_FMT "'",
                        kind_option(w), w->name.len ? " " : "", STR_ARG(w->name));
        return error_hint(err, "name one behind --cargo: --bin X, --example X, --test X, --bench X "
                               "or --lib (unit tests); -p PACKAGE in a workspace");
    }
    (void)error_set(err, ERROR_USAGE, "cargo built %zu programs; only one can be recorded", a->len);
    StrBuf b = {0};
    for (size_t i = 0; i < MIN(a->len, (size_t)8); i++)
        strbuf_printf(&b, "%s%s %" STR_FMT, i ? ", " : "", kind_option(w), STR_ARG(a->at[i].name));
    if (a->len > 8)
        strbuf_printf(&b, " …");
    bool same = a->len > 1 && str_equal(a->at[0].name, a->at[1].name);
    (void)error_hint(err, "choose one behind --cargo: %" STR_FMT "%s", STR_ARG(strbuf_str(&b)),
                     same ? "; -p PACKAGE tells equal names apart" : "");
    strbuf_deinit(&b);
    return false;
}

// cargo starts tests and benchmarks in the folder of their package, and tells benchmarks that they
// are to measure.
static void add_start(Arena *arena, const CargoArtifact *a, CargoKind kind, BuiltProgram *ret)
{
    Str folder = arena_str(arena, str_dir_name(a->manifest));
    if (kind == CARGO_TEST || kind == CARGO_BENCH)
        ret->folder = folder;
    if (kind == CARGO_BENCH)
        vec_push(arena, &ret->words, STR("--bench"));
    vec_push(arena, &ret->started,
             (BuildVariable){"CARGO_MANIFEST_DIR", arena_c_str(arena, folder)});
}

bool build_cargo(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err)
{
    CargoWish w = wish_of(&r->cargo_words);
    StrVec words = build_words(arena, &r->cargo_words, &w);
    CargoArtifacts found = {0};
    Bytes output;
    if (!build_run(arena, r->search_path, &words, &output, &ret->status, err))
        return false;
    if (ret->status != 0)
        return true;
    read_artifacts(arena, str_from_bytes(output), &w, &found);
    if (found.len != 1)
        return explain_choice(&found, &w, err);
    ret->path = found.at[0].executable;
    add_start(arena, &found.at[0], w.kind, ret);
    return true;
}

// ---- Benchmarks ----------------------------------------------------------------------------

StrVec build_cargo_bench_words(Arena *arena, const StrVec *cargo_words)
{
    CargoWish w = {.kind = CARGO_BENCH};
    CargoKind kind;
    w.from = cargo_words->len && is_sub_command(cargo_words->at[0], &kind);
    return build_words(arena, cargo_words, &w);
}

void build_cargo_bench_read(Arena *arena, Str output, BuiltBenches *ret)
{
    const CargoWish any = {.kind = CARGO_BENCH, .is_unit = true};
    CargoArtifacts found = {0};
    read_artifacts(arena, output, &any, &found);
    for (size_t i = 0; i < found.len; i++) {
        const CargoArtifact *a = &found.at[i];
        vec_push(arena, ret,
                 (BuiltBench){.path = a->executable,
                              .name = a->name,
                              .folder = str_dir_name(a->manifest),
                              .is_unit = a->is_unit});
    }
}

bool build_cargo_benches(Arena *arena, const StrVec *cargo_words, Str search_path,
                         BuiltBenches *ret, int *status, Error *err)
{
    StrVec words = build_cargo_bench_words(arena, cargo_words);
    Bytes output;
    if (!build_run(arena, search_path, &words, &output, status, err))
        return false;
    if (*status == 0)
        build_cargo_bench_read(arena, str_from_bytes(output), ret);
    return true;
}
