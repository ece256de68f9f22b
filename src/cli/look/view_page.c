// SPDX-License-Identifier: Apache-2.0
// Source text and instructions for a page.

#include "cli/look/view_page.h"

#include "analyse/annotate.h"
#include "cli/look/annotate_code.h"
#include "cli/symbols.h"
#include "model/facts.h"

enum {
    FILES_MAX = 20000,
    TEXT_BYTES_MAX = 256 << 20, // of all files
    CODE_FUNCTIONS = 12,
    KEPT_BYTES_MAX = 400, // symbolise/sources.c keeps no more of a line
};

// Lines that the recording keeps of each file: neighbours in the profile.
typedef struct KeptLines {
    size_t *first; // [string]: row + 1; 0: none
} KeptLines;

static KeptLines kept_lines(const Profile *p)
{
    KeptLines k = {heap_alloc((p->strings.texts.len + 1) * sizeof(size_t))};
    for (size_t i = p->source_lines.file.len; i-- > 0;)
        k.first[p->source_lines.file.at[i].v] = i + 1;
    return k;
}

// Whether the lines that the recording keeps still stand where they stood.
static bool keeps_its_lines(const Profile *p, const KeptLines *k, StrId file, Str text)
{
    const SourceLines *kept = &p->source_lines;
    if (k->first[file.v] == 0)
        return true;
    StrVec lines = {0};
    str_add_lines(NULL, text, &lines);
    bool same = true;
    for (size_t i = k->first[file.v] - 1; i < kept->file.len && same; i++) {
        if (kept->file.at[i].v != file.v)
            break;
        uint32_t number = kept->line.at[i];
        same = number && number <= lines.len &&
               str_equal(str_slice(lines.at[number - 1], 0, KEPT_BYTES_MAX),
                         profile_text(p, kept->text.at[i]));
    }
    vec_free(&lines);
    return same;
}

void view_page_texts(const Report *report, const SourceOptions *sources, Arena *arena,
                     ViewTextVec *ret)
{
    const Profile *p = report->profile;
    StrIdVec files = view_touched_files(report, FILES_MAX);
    KeptLines kept = kept_lines(p);
    size_t bytes = 0;
    for (size_t i = 0; i < files.len; i++) {
        ViewText row = {.file = files.at[i]};
        bool is_changed = false;
        if (!source_read(arena, sources, p, row.file, &row.text, &is_changed)) {
            row.text = STR("");
            row.trouble = "not found here";
        } else if (kept.first[row.file.v] ? !keeps_its_lines(p, &kept, row.file, row.text)
                                          : is_changed) {
            // Without kept lines a newer file may still be the same: it is shown, with a warning.
            if (kept.first[row.file.v])
                row.text = STR("");
            row.trouble = "changed since the recording";
        }
        if (bytes + row.text.len > TEXT_BYTES_MAX) {
            row.text = STR("");
            row.trouble = "left out: the page holds at most 256 MiB of source text";
        }
        bytes += row.text.len;
        vec_push(arena, ret, row);
    }
    heap_free(kept.first);
    vec_free(&files);
}

static void add_code(const Report *report, uint32_t key, const RecordingSearch *search,
                     Arena *arena, ViewInstructionVec *ret)
{
    Annotation a;
    Error err;
    Code code;
    annotation_init(&a, report->profile, &report->keys, key, (StrId){0}, 1);
    annotation_add(&a, &report->weights, 0);
    annotation_finish(&a);
    if (code_init(&code, &a, search, &err)) {
        for (size_t i = 0; i < code.lines.len; i++) {
            const CodeLine *line = &code.lines.at[i];
            StrBuf text = {0};
            strbuf_add(&text, line->instruction.text);
            if (line->target_name.len)
                strbuf_printf(&text, " <%" STR_FMT ">", STR_ARG(line->target_name));
            vec_push(arena, ret,
                     (ViewInstruction){.function = arena_str(arena, code.function),
                                       .file = arena_str(arena, line->file),
                                       .line = line->line,
                                       .address = line->instruction.address,
                                       .text = arena_str(arena, strbuf_str(&text)),
                                       .inlined = arena_str(arena, line->inlined),
                                       .self = line->self[0]});
            strbuf_deinit(&text);
        }
    }
    code_deinit(&code);
    annotation_deinit(&a);
}

void view_page_code(const Report *report, const RecordingSearch *search, Arena *arena,
                    ViewInstructionVec *ret)
{
    size_t functions = 0;
    for (size_t i = 0; i < report->rows.len && functions < CODE_FUNCTIONS; i++) {
        const FlatRow *row = &report->rows.at[i];
        if (percent_of(row->self, report->weights.value) < 1)
            break; // rows are by self value
        if (row->kernel || row->inlined)
            continue; // an inlined function's code stands in its caller's
        add_code(report, row->key, search, arena, ret);
        functions++;
    }
}

bool view_page_add_recording(ViewPage *page, const ViewRecording *o, Profile *p, Arena *arena,
                             Error *err)
{
    bool is_anonymous = o->share->anonymise || o->share->key.len;
    ReportRequest request = {
        .by = BY_FUNCTION, .sort = FLAT_BY_SELF, .want_lines = true, .kernel_self = true};
    SourceOptions sources;
    RecordingSearch search;
    Report r;
    if (!selection_from_options(o->selection, p, arena, &request.selection, err) ||
        !symbols_source_options(arena, o->source_paths, &sources, err))
        return false;
    // The page adds up all samples that it holds.
    if (selection_is_part(&request.selection) && !keep_selected(p, &request.selection, err))
        return false;
    uint64_t start;
    if (profile_fact_u64(p, STR(FACT_START_REALTIME), &start))
        sources.recorded_at_ns = (int64_t)start;
    // Files and instructions are found by the true names, which sharing may replace.
    ViewTextVec texts = {0};
    ViewInstructionVec code = {0};
    bool hides = o->no_source || is_anonymous;
    bool is_shared = o->share->names || o->share->strip_paths || is_anonymous;
    if (!report_init(&r, p, &request, err))
        return false;
    if (!hides) {
        view_page_texts(&r, &sources, arena, &texts);
        recording_search(arena, o->files, &search);
        view_page_code(&r, &search, arena, &code);
    }
    if (is_shared) { // the report's texts are the profile's, which change
        report_deinit(&r);
        if (!share_selected(o->share, p, &request.selection, err) ||
            !report_init(&r, p, &request, err))
            return false;
    }
    if (o->share->strip_paths)
        for (size_t i = 0; i < code.len; i++)
            code.at[i].file = str_base_name(code.at[i].file);
    ViewOptions options = {.title = o->title,
                           .texts = &texts,
                           .instructions = &code,
                           .no_source = hides,
                           .runs = o->runs};
    bool ok = view_page_add_report(page, &r, &options, err);
    report_deinit(&r);
    return ok;
}
