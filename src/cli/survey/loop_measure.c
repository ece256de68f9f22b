// SPDX-License-Identifier: Apache-2.0
// Rounds of assay loop.
//
// The last program is run again, in turns with the new one, from a copy: a comparison with times of
// some minutes ago would show the machine's drift. A program with libraries of its own cannot be
// copied, because the copy would load the new ones; it is compared with its last recordings.

#include "cli/survey/loop_measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/survey/loop_sources.h"
#include "cli/survey/survey_child.h"
#include "cli/survey/survey_folder.h"
#include "cli/survey/survey_show.h"
#include "os/file.h"
#include "os/folder_tree.h"

static Str path_in(LoopMeasure *m, const char *name)
{
    return arena_printf(m->arena, "%" STR_FMT "/%s", STR_ARG(m->folder), name);
}

// ---- The copy of the last program --------------------------------------------------------------

static bool is_elf(Bytes file)
{
    return file.len > 4 && memcmp(file.ptr, "\177ELF", 4) == 0;
}

// Copies the program, to be run as the last one. No copy of a script: it names the same files.
static void keep_program(LoopMeasure *m)
{
    enum { ONLY_OWNER = 0700 };
    MappedFile file = {0};
    Str folder = path_in(m, "old");
    Str copy = arena_printf(m->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder),
                            STR_ARG(str_base_name(m->program)));
    m->copy = STR("");
    if (m->copy_is_bad || m->program.len == 0 || !os_map_file(m->program, &file, NULL))
        return;
    if (is_elf(file.bytes) && os_make_folders(folder, NULL) &&
        os_write_file(copy, file.bytes, OUTPUT_REPLACE, NULL) && chmod(copy.ptr, ONLY_OWNER) == 0)
        m->copy = copy;
    os_unmap_file(&file);
}

// Keeps the source files of the measured program, and names those that changed after it was built.
static void keep_sources(LoopMeasure *m, Str folder, const SurveyManifest *manifest)
{
    enum { NAMED = 3 };
    StrVec newer = {0};
    StrBuf names = {0};
    if (m->copy.len == 0)
        return;
    m->sources = loop_sources_keep(m->arena, folder, manifest, m->program,
                                   path_in(m, "old/sources"), &newer);
    for (size_t i = 0; i < newer.len && i < NAMED; i++)
        strbuf_printf(&names, "%s'%" STR_FMT "'", i ? ", " : "", STR_ARG(newer.at[i]));
    if (newer.len > NAMED)
        strbuf_printf(&names, " and %zu more", newer.len - NAMED);
    if (newer.len)
        cli_say("the program is older than %" STR_FMT ": the source lines shown may differ from "
                "those that it was built from",
                STR_ARG(strbuf_str(&names)));
    strbuf_deinit(&names);
}

void loop_measure_end(LoopMeasure *m)
{
    (void)os_tree_remove(AT_FDCWD, path_in(m, "old").ptr);
}

static bool is_system(Str path)
{
    return str_starts_with(path, STR("/usr/")) || str_starts_with(path, STR("/lib")) ||
           str_starts_with(path, STR("/opt/")) || str_starts_with(path, STR("/nix/"));
}

// Whether the program loaded libraries that may be built together with it.
static bool has_own_libraries(const Profile *p, Str program)
{
    for (size_t i = 0; i < p->modules.path.len; i++) {
        Str path = profile_text(p, p->modules.path.at[i]);
        if (p->modules.kind.at[i] == MODULE_FILE && !is_system(path) &&
            !str_equal(str_base_name(path), str_base_name(program)))
            return true;
    }
    return false;
}

// What the round tells of the next: whether a copy will do.
static void look_at_libraries(LoopMeasure *m, Str folder, const SurveyManifest *manifest)
{
    Str path = survey_part_path(m->arena, folder, &manifest->part[SURVEY_NEW][SURVEY_CPU]);
    Profile p;
    if (path.len == 0 || !load_profile(path, &p, NULL, NULL))
        return;
    m->copy_is_bad |= has_own_libraries(&p, m->program);
    profile_deinit(&p);
}

// The status with which the copy ended, among the runs of both; false when it was not timed.
static bool status_of_copy(LoopMeasure *m, Str folder, const SurveyManifest *manifest,
                           uint32_t *ret)
{
    Str path = survey_part_path(m->arena, folder, &manifest->part[SURVEY_NEW][SURVEY_TIME]);
    Profile p;
    bool found = false;
    if (path.len == 0 || !load_profile(path, &p, NULL, NULL))
        return false;
    for (size_t i = 0; i < p.runs.status.len; i++)
        if (str_equal(profile_text(&p, p.runs.name.at[i]), STR("old")) &&
            p.runs.status.at[i] != RUN_STATUS_NONE) {
            *ret = p.runs.status.at[i];
            found = true;
        }
    profile_deinit(&p);
    return found;
}

// ---- A survey ----------------------------------------------------------------------------------

// The command with the copy in the place of the program.
static Str command_of_copy(LoopMeasure *m)
{
    StrBuf out = {0};
    strbuf_add_shell_word(&out, m->copy);
    for (size_t i = 1; i < m->words.len; i++) {
        strbuf_add_char(&out, ' ');
        strbuf_add_shell_word(&out, m->words.at[i]);
    }
    Str ret = arena_str(m->arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

static StrVec survey_words(LoopMeasure *m, Str output)
{
    StrVec words = {0};
    const Str all[] = {STR("survey"),  STR("-q"), STR("-f"),         STR("--no-html"),
                       STR("-o"),      output,    STR("--steps"),    m->steps,
                       STR("--input"), m->input,  STR("--max-time"), m->max_time};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        vec_push(m->arena, &words, all[i]);
    if (m->copy.len) {
        vec_push(m->arena, &words, STR("--against"));
        vec_push(m->arena, &words, command_of_copy(m));
        for (size_t i = 0; i < m->sources.len; i++) {
            vec_push(m->arena, &words, STR("--source-path-old"));
            vec_push(m->arena, &words, m->sources.at[i]);
        }
    }
    vec_push(m->arena, &words, STR("--"));
    for (size_t i = 0; i < m->words.len; i++)
        vec_push(m->arena, &words, m->words.at[i]);
    return words;
}

static LoopResult run_survey(LoopMeasure *m, Str output)
{
    StrVec words = survey_words(m, output);
    const SurveyChild child = {.words = &words,
                               .input = STR("/dev/null"),
                               .mask = m->mask,
                               .what = m->copy.len ? "running the last program and this one"
                                                   : "running the program"};
    SurveyChildEnd end;
    Error err;
    if (!survey_child_run(m->arena, &child, &end, &err)) {
        (void)cli_fail(&err);
        return LOOP_FAILED;
    }
    if (end.interrupted)
        return LOOP_STOPPED;
    if (survey_folder_is(output))
        return LOOP_MEASURED;
    Str why, cure;
    survey_child_reason(end.said, &why, &cure);
    cli_say("%" STR_FMT, STR_ARG(why.len ? why : STR("the survey failed")));
    return LOOP_FAILED;
}

// ---- What changed since recordings -------------------------------------------------------------

static void print_lines_of(LoopMeasure *m, const StrVec *words)
{
    Str text, line;
    StrBuf out = {0};
    Error err;
    if (survey_child_capture(m->arena, words, &text, &err))
        while (str_next_line(&text, &line))
            if (str_starts_with(line, STR(" "))) { // tables and verdicts, without names of files
                strbuf_add(&out, line);
                strbuf_add_char(&out, '\n');
            }
    (void)!cli_print_text(strbuf_str(&out));
    strbuf_deinit(&out);
}

// Compares the surveys of the last round and this one, file by file.
static void print_since_last(LoopMeasure *m)
{
    StrVec bench = {0}, diff = {0};
    const Str times[] = {STR("bench"), STR("--compare"), path_in(m, "last/time.assay"),
                         path_in(m, "now/time.assay")};
    const Str samples[] = {STR("diff"),
                           STR("--force"),
                           STR("--by"),
                           STR("line"),
                           STR("--limit"),
                           STR("5"),
                           path_in(m, "last/cpu.assay"),
                           path_in(m, "now/cpu.assay")};
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        vec_push(m->arena, &bench, times[i]);
    for (size_t i = 0; i < ARRAY_LEN(samples); i++)
        vec_push(m->arena, &diff, samples[i]);
    print_lines_of(m, &bench);
    print_lines_of(m, &diff);
}

// ---- A round -----------------------------------------------------------------------------------

// Puts the survey of the last round aside.
static void keep_last(LoopMeasure *m)
{
    Str now = path_in(m, "now"), last = path_in(m, "last");
    if (!survey_folder_is(now))
        return;
    (void)os_tree_remove(AT_FDCWD, last.ptr);
    m->has_last = rename(now.ptr, last.ptr) == 0;
}

LoopResult loop_measure(LoopMeasure *m)
{
    Str now = path_in(m, "now");
    SurveyManifest manifest;
    Error err;
    uint32_t status_of_old = 0;
    bool had_copy = m->copy.len > 0;
    if (!had_copy)
        keep_last(m);
    LoopResult result = run_survey(m, now);
    if (result != LOOP_MEASURED)
        return result;
    if (!survey_manifest_read(m->arena, now, &manifest, &err)) {
        (void)cli_fail(&err);
        return LOOP_FAILED;
    }
    if (had_copy && status_of_copy(m, now, &manifest, &status_of_old) &&
        status_of_old != m->status) {
        cli_say("the copy of the last program ends with status %u, the program ended with %u: they "
                "are not compared, and later programs are compared by their recordings",
                status_of_old, m->status);
        m->copy_is_bad = true;
    } else if (!had_copy && m->has_last) {
        print_since_last(m);
    }
    look_at_libraries(m, now, &manifest);
    m->status = manifest.status;
    (void)survey_show(now, &m->terminal, SURVEY_BRIEF);
    m->has_last = true;
    keep_program(m);
    keep_sources(m, now, &manifest);
    return LOOP_MEASURED;
}
