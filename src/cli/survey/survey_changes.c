// SPDX-License-Identifier: Apache-2.0
// What changed between two commands: the tables of `assay diff` for the recordings of a survey.

#include "cli/survey/survey_changes.h"

#include "cli/survey/survey_child.h"

typedef struct Change {
    SurveyStep step;
    const char *title;
    const char *limit; // rows
} Change;

// Whether a line of `assay diff` is a row of a table: not the files' names and not the advice
// below.
static bool is_row(Str line)
{
    return str_starts_with(line, STR(" "));
}

static void add_files(SurveyData *d, StrVec *words, int side, SurveyStep step)
{
    const SurveyPart *part = &d->manifest.part[side][step];
    Str path = survey_part_path(&d->arena, d->folder, part);
    vec_push(&d->arena, words, path);
    for (uint32_t i = 2; i <= part->repeats; i++)
        vec_push(&d->arena, words, survey_repeat_path(&d->arena, path, i));
}

static void add_change(StrBuf *out, SurveyData *d, const Change *change)
{
    StrVec words = {0};
    Str text, line;
    Error err;
    static const char *const first[] = {"diff", "--by", "line", "--color", "never", "--limit"};
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        vec_push(&d->arena, &words, str_from_c(first[i]));
    vec_push(&d->arena, &words, str_from_c(change->limit));
    // One who compares two commands knows that they are different programs.
    vec_push(&d->arena, &words, STR("--force"));
    vec_push(&d->arena, &words, STR("-a"));
    add_files(d, &words, SURVEY_OLD, change->step);
    vec_push(&d->arena, &words, STR("-b"));
    add_files(d, &words, SURVEY_NEW, change->step);
    if (!survey_child_capture(&d->arena, &words, &text, &err))
        return;
    strbuf_printf(out, "%s\n", change->title);
    while (str_next_line(&text, &line))
        if (is_row(line)) {
            strbuf_add(out, line);
            strbuf_add_char(out, '\n');
        } else if (str_starts_with(line, STR("nothing"))) {
            strbuf_printf(out, "  %" STR_FMT "\n", STR_ARG(line));
        }
}

void survey_changes_add(StrBuf *out, SurveyData *d)
{
    static const Change changes[] = {{SURVEY_CPU, "CPU time, line by line", "5"},
                                     {SURVEY_HEAP, "heap, line by line", "3"},
                                     {SURVEY_COUNTS, "executions, line by line", "4"}};
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        bool has_both = true;
        for (int side = 0; side < SURVEY_SIDES; side++)
            has_both &= d->manifest.part[side][changes[i].step].file.len > 0;
        // A program without a heap has nothing to compare.
        has_both &= changes[i].step != SURVEY_HEAP || d->costs.blocks > 0;
        if (has_both)
            add_change(out, d, &changes[i]);
    }
    if (out->len)
        strbuf_add_char(out, '\n');
}
