// SPDX-License-Identifier: Apache-2.0
// The page: frame, overview, order of the parts.

#include "export/view/view_internal.h"

#include "analyse/fit.h"
#include "model/facts.h"

extern const char view_script[], view_style[], view_script_hash[], view_style_hash[];
extern const size_t view_script_len, view_style_len;

static void add_head(StrBuf *out, Str title)
{
    strbuf_add(out,
               STR("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "script-src '"));
    strbuf_add(out, str_from_c(view_script_hash));
    strbuf_add(out, STR("'; style-src '"));
    strbuf_add(out, str_from_c(view_style_hash));
    strbuf_add(out, STR("'; img-src 'none'; base-uri 'none'; form-action 'none'; "
                        "require-trusted-types-for 'script'; trusted-types 'none'\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width\">\n"
                        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>"));
    strbuf_add_xml(out, text_prefix(title, 200));
    strbuf_add(out, STR("</title>\n<style>"));
    strbuf_add(out, str_over(view_style, view_style_len));
    strbuf_add(out, STR("</style></head>\n<body>\n"));
}

static void add_metrics(JsonWriter *json, const Profile *p)
{
    json_begin_array(json, "metrics");
    for (size_t m = 0; m < p->metrics.name.len; m++) {
        // Added up here, over the samples: the page adds up its own columns and compares.
        uint64_t total = 0;
        bool is_clamped = false;
        for (size_t i = 0; i < p->samples.stack.len; i++)
            is_clamped |= __builtin_add_overflow(total, view_value(p, m, i), &total);
        json_begin_object(json, NULL);
        json_str(json, "name", profile_text(p, p->metrics.name.at[m]));
        json_str(json, "unit", profile_text(p, p->metrics.unit.at[m]));
        json_str(json, "event", profile_text(p, p->metrics.event.at[m]));
        json_bool(json, "is_level", p->metrics.kind.at[m] == METRIC_MAX);
        if (!is_clamped)
            json_u64(json, "total", total);
        json_end(json);
    }
    json_end(json);
}

static void add_threads(JsonWriter *json, const Profile *p)
{
    json_begin_array(json, "threads");
    for (size_t i = 0; i < p->threads.tid.len; i++) {
        uint32_t process = p->threads.process.at[i].v;
        json_begin_object(json, NULL);
        json_u64(json, "tid", p->threads.tid.at[i]);
        json_u64(json, "pid", p->processes.pid.at[process]);
        json_str(json, "name", profile_text(p, p->threads.name.at[i]));
        json_str(json, "process", profile_text(p, p->processes.name.at[process]));
        json_end(json);
    }
    json_end(json);
}

// Says how much of the time line is not in the page.
static void add_states_note(JsonWriter *json, const Profile *p)
{
    WaitSpans states;
    size_t left = view_states_init(&states, p), arrows = states.arrows.len;
    wait_spans_deinit(&states);
    if (left == 0 && arrows <= VIEW_ARROWS_MAX)
        return;
    StrBuf text = {0};
    strbuf_printf(
        &text, "the timeline has the %d longest of %zu waits and the first %zu of %zu wakings",
        VIEW_STATES_MAX, VIEW_STATES_MAX + left, MIN(arrows, (size_t)VIEW_ARROWS_MAX), arrows);
    json_begin_array(json, NULL);
    json_bool(json, NULL, false);
    json_str(json, NULL, strbuf_str(&text));
    json_end(json);
    strbuf_deinit(&text);
}

static void add_notes(JsonWriter *json, const Profile *p)
{
    json_begin_array(json, "notes");
    for (size_t i = 0; i < p->notes.text.len; i++) {
        json_begin_array(json, NULL);
        json_bool(json, NULL, p->notes.level.at[i] == NOTE_WARNING);
        json_str(json, NULL, profile_text(p, p->notes.text.at[i]));
        json_end(json);
    }
    add_states_note(json, p);
    json_end(json);
    json_begin_array(json, "facts");
    for (size_t i = 0; i < p->facts.key.len; i++) {
        json_begin_array(json, NULL);
        json_str(json, NULL, profile_text(p, p->facts.key.at[i]));
        json_str(json, NULL, profile_text(p, p->facts.value.at[i]));
        json_end(json);
    }
    json_end(json);
}

static void add_about(StrBuf *about, const ViewPage *page, const Report *r, const ViewOptions *o,
                      bool is_preview)
{
    const Profile *p = r->profile;
    JsonWriter json;
    StrBuf truth = {0};
    view_add_truth(&truth, r, o);
    view_about_begin(&json, about, page->recordings, "overview");
    json_u64(&json, "version", 1);
    json_str(&json, "collector", profile_fact(p, STR(FACT_COLLECTOR)));
    json_str(&json, "title", o->title);
    json_str(&json, "truth", strbuf_str(&truth));
    json_u64(&json, "metric", r->request.selection.metric.v);
    json_u64(&json, "samples", p->samples.stack.len);
    json_bool(&json, "sampled", r->truth.sampled && !r->truth.aggregated);
    json_bool(&json, "no_source", o->no_source);
    json_bool(&json, "preview", is_preview);
    if (o->runs > 1)
        json_u64(&json, "runs", o->runs);
    if (p->states.thread.len)
        json_u64(&json, "states", p->intervals.thread.len);
    add_metrics(&json, p);
    add_threads(&json, p);
    add_notes(&json, p);
    json_end(&json);
    strbuf_deinit(&truth);
}

// The texts come last, when every column has named its own. The page finds columns by name.
static void add_strings(ViewBlock *b, const ViewStrings *strings)
{
    const StrVec *texts = &strings->texts.texts;
    view_column_begin(b);
    for (size_t i = 0; i < texts->len; i++)
        view_add_u64(b, texts->at[i].len);
    view_column_end(b, "str.len", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < texts->len; i++)
        view_add_text(b, texts->at[i]);
    view_column_end(b, "str.text", VIEW_BYTES);
}

// Adds the overview of a tree. `rest`, the page that the recording's further blocks go to, may be
// NULL.
static bool add_overview(const ViewPage *page, const ViewTree *tree, const Report *r,
                         const ViewOptions *o, ViewPage *rest, StrBuf *out, Error *err)
{
    enum { LEVEL = 6, LEVEL_OF_LARGE = 3, LARGE_BYTES = 1 << 20 };
    const Profile *p = r->profile;
    ViewStrings strings = {0};
    intern_init(&strings.texts, &strings.arena);
    ViewBlock overview = {0};
    StrBuf about = {0};
    view_add_tree(&overview, tree, &r->keys, &strings);
    if (rest)
        view_add_tracks(&overview, p, &strings);
    add_about(&about, page, r, o, !rest);
    // Made before the overview is ended, because it names texts, and placed after it.
    bool ok = !rest ||
              (view_add_samples(rest, tree, p, err) && view_add_source(rest, p, o, &strings, err));
    if (ok) {
        add_strings(&overview, &strings);
        int level = overview.bytes.len > LARGE_BYTES ? LEVEL_OF_LARGE : LEVEL;
        ok = view_block_add(&overview, strbuf_str(&about), level, out, err);
    }
    view_block_deinit(&overview);
    strbuf_deinit(&about);
    intern_deinit(&strings.texts);
    arena_deinit(&strings.arena);
    return ok;
}

bool view_page_add_report(ViewPage *page, const Report *r, const ViewOptions *o, Error *err)
{
    ViewTree tree, preview;
    view_tree_init(&tree, r->profile, &r->keys);
    bool has_preview = view_tree_preview(&tree, r->request.selection.metric.v, &preview), ok = true;
    if (has_preview) {
        ok = add_overview(page, &preview, r, o, NULL, &page->first, err);
        view_tree_deinit(&preview);
    }
    StrBuf *out = has_preview ? &page->second : &page->first;
    ok = ok && add_overview(page, &tree, r, o, page, out, err);
    if (ok) {
        view_add_summary(&page->summary, r, o);
        page->recordings++;
    }
    view_tree_deinit(&tree);
    return ok;
}

void view_page_write(const ViewPage *page, Str title, StrBuf *out)
{
    add_head(out, title);
    strbuf_add(out, STR("<main id=\"summary\">\n"));
    strbuf_add(out, strbuf_str(&page->summary));
    strbuf_add(out,
               STR("<noscript><p>The pictures, the source and the timeline of this page need "
                   "JavaScript. It runs in this file alone and asks no server.</p></noscript>\n"
                   "</main>\n"));
    strbuf_add(out, strbuf_str(&page->first));
    strbuf_add(out, STR("<script>"));
    strbuf_add(out, str_over(view_script, view_script_len));
    strbuf_add(out, STR("</script>\n"));
    strbuf_add(out, strbuf_str(&page->second));
    strbuf_add(out, strbuf_str(&page->bulk));
    strbuf_add(out, STR("</body></html>\n"));
}

void view_page_deinit(ViewPage *page)
{
    strbuf_deinit(&page->summary);
    strbuf_deinit(&page->first);
    strbuf_deinit(&page->second);
    strbuf_deinit(&page->bulk);
    table_deinit(&page->written_index);
    vec_free(&page->written);
    *page = (ViewPage){0};
}
