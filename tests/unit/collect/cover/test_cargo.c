// SPDX-License-Identifier: Apache-2.0
// Which command builds what a cargo command runs, and what cargo's messages say.

#include "harness.h"

#include "collect/cover/cargo.h"

typedef void MakeWords(Arena *arena, char *const argv[], CoverWords *ret);

// The words that `make` gives for a command, joined by spaces.
static void words_of(MakeWords *make, const char *command, const char *expected)
{
    Arena arena = {0};
    CoverWords words = {0}, build = {0};
    StrBuf text = {0};
    Str rest = str_from_c(command), word;
    while (str_next_part(&rest, ' ', &word))
        vec_push(&arena, &words, arena_c_str(&arena, word));
    vec_push(&arena, &words, NULL);
    assert_true(cover_cargo_is(words.at));
    make(&arena, words.at, &build);
    for (size_t i = 0; i < build.len; i++)
        strbuf_printf(&text, i ? " %s" : "%s", build.at[i]);
    assert_str(strbuf_str(&text), expected);
    assert_null(build.at[build.len]);
    strbuf_deinit(&text);
    arena_deinit(&arena);
}

static void build_of(const char *command, const char *expected)
{
    words_of(cover_cargo_build_words, command, expected);
}

#define MESSAGES "--message-format=json-render-diagnostics"

static void options_reach_the_build(void **state)
{
    (void)state;
    build_of("cargo test", "cargo test --no-run " MESSAGES);
    build_of("cargo test --all-features -p a b -- --nocapture",
             "cargo test --no-run " MESSAGES " --all-features -p a b");
    build_of("/usr/bin/cargo +nightly t --message-format short --no-run",
             "/usr/bin/cargo +nightly test --no-run " MESSAGES);
    build_of("cargo --offline bench --bench b",
             "cargo --offline bench --no-run " MESSAGES " --bench b");
}

static void a_program_of_cargo_run_is_built(void **state)
{
    (void)state;
    build_of("cargo run --release --bin x file --release",
             "cargo build " MESSAGES " --release --bin x");
    build_of("cargo run -- 5", "cargo build " MESSAGES);
    build_of("cargo test --doc", "cargo build " MESSAGES);
}

static void nextest_has_options_that_cargo_lacks(void **state)
{
    (void)state;
    build_of("cargo nextest run --retries 2 --workspace --cargo-profile ci --profile slow -p a",
             "cargo test --no-run " MESSAGES " --workspace --profile ci -p a");
    build_of("cargo nextest run -Fextra -pa -E test(x) -P ci --features=b name",
             "cargo test --no-run " MESSAGES " -Fextra -pa --features=b");
}

static void the_workspace_is_asked_for_where_the_command_has_it(void **state)
{
    (void)state;
    words_of(cover_cargo_metadata_words,
             "cargo +beta test --offline -p a --config build.target-dir='x' --manifest-path m -- "
             "--frozen",
             "cargo +beta metadata --format-version=1 --no-deps --offline --config "
             "build.target-dir='x' --manifest-path m");
}

static void options_of_tarpaulins_are_cargos(void **state)
{
    (void)state;
    Arena arena = {0};
    StrVec packages = {0};
    char cargo[] = "cargo", test[] = "test", release[] = "--release";
    char *argv[] = {cargo, test, release, NULL};
    vec_push(&arena, &packages, STR("a"));
    char *const *words = cover_cargo_with_options(&arena, argv, &packages, true);
    assert_string_equal(words[1], "test");
    assert_string_equal(words[2], "--package=a");
    assert_string_equal(words[3], "--all-features");
    assert_string_equal(words[4], "--release");
    assert_null(words[5]);
    arena_deinit(&arena);
}

static void other_commands_are_not_cargos(void **state)
{
    (void)state;
    char cargo[] = "cargo", build[] = "build", make[] = "make", test[] = "test";
    char *no_sub[] = {cargo, NULL}, *other_sub[] = {cargo, build, NULL};
    char *other[] = {make, test, NULL};
    assert_false(cover_cargo_is(no_sub));
    assert_false(cover_cargo_is(other_sub));
    assert_false(cover_cargo_is(other));
}

static void messages_name_what_was_built(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverCargo c = {0};
    Str text =
        STR("{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/a/Cargo.toml\",\"target\":{"
            "\"kind\":[\"lib\"]},\"filenames\":[\"/w/t/liba-9.rlib\",\"/w/t/"
            "liba.rlib\"],\"executable\":null}\n"
            "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/a/Cargo.toml\",\"target\":{"
            "\"kind\":[\"lib\"]},\"filenames\":[\"/w/t/a-123\"],\"executable\":\"/w/t/a-123\"}\n"
            "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/b/Cargo.toml\",\"target\":{"
            "\"kind\":[\"cdylib\"]},\"filenames\":[\"/w/t/libb.so\"],\"executable\":null}\n"
            "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/m/Cargo.toml\",\"target\":{"
            "\"kind\":[\"proc-macro\"]},\"filenames\":[\"/w/t/libm-5.so\"],\"executable\":null}\n"
            "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/b/Cargo.toml\",\"target\":{"
            "\"kind\":[\"custom-build\"]},\"filenames\":[],\"executable\":\"/w/t/build\"}\n"
            "not json\n{\"reason\":\"build-finished\"}\n{\"cut");
    cover_cargo_read_messages(&arena, text, &c);
    assert_int_equal(c.objects.len, 3);
    assert_str(c.objects.at[0], "/w/t/a-123");
    assert_str(c.folders.at[0], "/w/a");
    assert_str(c.objects.at[1], "/w/t/libb.so");
    assert_str(c.objects.at[2], "/w/t/libm-5.so");
    assert_int_equal(c.units.len, 3);
    assert_str(c.units.at[0], "a-9");
    assert_str(c.units.at[1], "a-123");
    assert_str(c.units.at[2], "m-5");
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_reach_the_build),
        cmocka_unit_test(a_program_of_cargo_run_is_built),
        cmocka_unit_test(nextest_has_options_that_cargo_lacks),
        cmocka_unit_test(the_workspace_is_asked_for_where_the_command_has_it),
        cmocka_unit_test(options_of_tarpaulins_are_cargos),
        cmocka_unit_test(other_commands_are_not_cargos),
        cmocka_unit_test(messages_name_what_was_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
