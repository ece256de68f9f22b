// SPDX-License-Identifier: Apache-2.0
// assay list: the events of this machine, each with whether it opens here.

#include <stdio.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help/list_program.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "os/event_list.h"

// A tracepoint costs the kernel milliseconds to close. So few that were asked
// for by name are tried one by one; of more, one stands for all of its kind.
enum { TRACEPOINT_TRIES = 8 };

typedef struct ListOptions {
    bool json, no_pager;
    Str colour;
} ListOptions;

static const Option list_options[] = {
    OPT_FLAG(0, "json", ListOptions, json, "as JSON, see docs/formats/list-json.md"),
    COLOUR_OPTION(ListOptions, colour),
    NO_PAGER_OPTION(ListOptions, no_pager),
};

typedef struct Row {
    const ListedEvent *event;
    const EventTry *result;
    bool is_tried; // else the result is that of another event of its kind
} Row;

typedef struct Listing {
    Arena *arena;
    EventSources sources;
    PerfLimits limits;
    ListedEventVec events;
    Vec(Row) rows; // those that match
    Error no_tracepoints;
    bool is_filtered;
} Listing;

// ---- The request -----------------------------------------------------------

static bool is_group_word(Str word, EventGroup group)
{
    // perf list's words beside our own
    static const struct {
        const char *word;
        EventGroup group;
    } words[] = {
        {"hw", EVENT_GROUP_HARDWARE},    {"sw", EVENT_GROUP_SOFTWARE},
        {"hwcache", EVENT_GROUP_CACHE},  {"tp", EVENT_GROUP_TRACEPOINT},
        {"mem", EVENT_GROUP_BREAKPOINT},
    };
    if (str_equal(word, str_from_c(event_group_name(group))))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].group == group && str_equal(word, str_from_c(words[i].word)))
            return true;
    return false;
}

// A word without wildcards matches anywhere in a name, as in perf list.
static bool matches(Str word, const ListedEvent *e)
{
    if (is_group_word(word, e->group))
        return true;
    bool is_glob = str_find_char(word, '*') != SIZE_MAX || str_find_char(word, '?') != SIZE_MAX ||
                   str_find_char(word, '[') != SIZE_MAX;
    if (is_glob)
        return str_glob_match(word, e->name) || (e->alias.len && str_glob_match(word, e->alias));
    return str_find(e->name, word) != SIZE_MAX || str_find(e->alias, word) != SIZE_MAX;
}

static bool is_wanted(const StrVec *words, const ListedEvent *e)
{
    for (size_t i = 0; i < words->len; i++)
        if (matches(words->at[i], e))
            return true;
    return words->len == 0;
}

// Those of system calls open for a process of one's own, others need rights.
static bool is_syscall(const ListedEvent *e)
{
    return str_equal(e->pmu, STR("syscalls")) || str_equal(e->pmu, STR("raw_syscalls"));
}

static const EventTry *try_event(Listing *l, const ListedEvent *e)
{
    EventTry *t = arena_new(l->arena, EventTry);
    *t = event_try(l->arena, &l->sources, &l->limits, e);
    return t;
}

static void gather(Listing *l, const StrVec *words)
{
    event_list(l->arena, &l->sources, &l->events, &l->no_tracepoints);
    size_t tracepoints = 0;
    for (size_t i = 0; i < l->events.len; i++) {
        const ListedEvent *e = &l->events.at[i];
        if (!is_wanted(words, e))
            continue;
        tracepoints += e->group == EVENT_GROUP_TRACEPOINT;
        vec_push(l->arena, &l->rows, (Row){.event = e});
    }
    const EventTry *stands_for[2] = {NULL, NULL};
    for (size_t i = 0; i < l->rows.len; i++) {
        Row *r = &l->rows.at[i];
        const EventTry **shared = &stands_for[is_syscall(r->event)];
        bool is_many = r->event->group == EVENT_GROUP_TRACEPOINT && tracepoints > TRACEPOINT_TRIES;
        r->is_tried = !is_many || !*shared;
        r->result = r->is_tried ? try_event(l, r->event) : *shared;
        if (is_many)
            *shared = r->result;
    }
}

// ---- Showing it --------------------------------------------------------------------

static const char *access_word(const EventTry *t)
{
    static const char *const words[] = {
        [EVENT_CLOSED] = "no",
        [EVENT_OPENS] = "sample",
        [EVENT_COUNTS] = "count",
        [EVENT_COUNTS_CPU] = "count-cpu",
    };
    return words[t->access];
}

static bool opens(const Row *r)
{
    return r->result->access != EVENT_CLOSED;
}

static void add_name(StrBuf *out, const ListedEvent *e)
{
    strbuf_add_terminal(out, e->name);
    if (e->alias.len) {
        strbuf_add(out, STR(", "));
        strbuf_add_terminal(out, e->alias);
    }
}

static void add_row(StrBuf *out, const Terminal *t, const Row *r, Str name, Str about)
{
    size_t from = out->len;
    strbuf_printf(out, "  %s%s", access_word(r->result), r->result->user_only ? " :u" : "");
    pad_to(out, from, 13);
    style_begin(out, t, opens(r) ? STYLE_PLAIN : STYLE_DIM);
    from = out->len;
    strbuf_add(out, name);
    if (about.len) {
        pad_to(out, from, 28);
        strbuf_add(out, STR("  "));
        strbuf_add_terminal(out, about);
    }
    style_end(out, t, opens(r) ? STYLE_PLAIN : STYLE_DIM);
    strbuf_add_char(out, '\n');
}

// Rows [from, to) are tracepoints of one system.
static void add_system(StrBuf *out, const Terminal *t, const Listing *l, size_t from, size_t to)
{
    Str system = l->rows.at[from].event->pmu;
    StrBuf name = {0}, about = {0};
    strbuf_printf(&name, "%" STR_FMT ":*", STR_ARG(system));
    strbuf_printf(&about, "%zu event%s", to - from, to - from == 1 ? "" : "s");
    add_row(out, t, &l->rows.at[from], strbuf_str(&name), strbuf_str(&about));
    strbuf_deinit(&name);
    strbuf_deinit(&about);
}

// Each reason once: the reason why events of the group do not open, and the remedy.
static void add_reasons(StrBuf *out, const Listing *l, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const EventTry *t = l->rows.at[i].result;
        bool is_new = t->err.kind != ERROR_NONE;
        for (size_t k = from; k < i && is_new; k++)
            is_new = l->rows.at[k].result->err.kind != t->err.kind ||
                     l->rows.at[k].result->err.os_errno != t->err.os_errno;
        if (!is_new)
            continue;
        strbuf_add(out, STR("  "));
        strbuf_add_terminal(out, str_from_c(t->err.text));
        if (t->err.hint[0]) {
            strbuf_add(out, STR("\n  -> "));
            strbuf_add_terminal(out, str_from_c(t->err.hint));
        }
        strbuf_add_char(out, '\n');
    }
}

static void add_group(StrBuf *out, const Terminal *t, const Listing *l, size_t from, size_t to)
{
    EventGroup group = l->rows.at[from].event->group;
    size_t open = 0;
    for (size_t i = from; i < to; i++)
        open += opens(&l->rows.at[i]);
    style_begin(out, t, STYLE_BOLD);
    strbuf_printf(out, "%s", event_group_name(group));
    style_end(out, t, STYLE_BOLD);
    strbuf_printf(out, ": %zu of %zu open here\n", open, to - from);
    for (size_t i = from; i < to;) {
        size_t end = i + 1;
        // Without a word there are thousands: a line for each system.
        bool is_folded = group == EVENT_GROUP_TRACEPOINT && !l->is_filtered;
        while (is_folded && end < to &&
               str_equal(l->rows.at[end].event->pmu, l->rows.at[i].event->pmu))
            end++;
        if (is_folded) {
            add_system(out, t, l, i, end);
        } else {
            StrBuf name = {0};
            add_name(&name, l->rows.at[i].event);
            add_row(out, t, &l->rows.at[i], strbuf_str(&name), l->rows.at[i].event->about);
            strbuf_deinit(&name);
        }
        i = end;
    }
    add_reasons(out, l, from, to);
}

static void show_text(const Listing *l, const Terminal *t, StrBuf *out)
{
    for (size_t i = 0; i < l->rows.len;) {
        size_t end = i + 1;
        while (end < l->rows.len && l->rows.at[end].event->group == l->rows.at[i].event->group)
            end++;
        if (i)
            strbuf_add_char(out, '\n');
        add_group(out, t, l, i, end);
        i = end;
    }
    if (l->no_tracepoints.kind != ERROR_NONE && !l->is_filtered) {
        strbuf_add(out, STR("\ntracepoint: not known here\n  "));
        strbuf_add_terminal(out, str_from_c(l->no_tracepoints.text));
        strbuf_add(out, STR("\n  -> "));
        strbuf_add_terminal(out, str_from_c(l->no_tracepoints.hint));
        strbuf_add_char(out, '\n');
    }
    if (!l->is_filtered)
        strbuf_add(out, STR("\nsample: for assay record and stat; count: for assay stat; "
                            "count-cpu: for assay stat -a;\n:u: without the kernel's part\n"));
}

static void show_json(const Listing *l, StrBuf *out)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_u64(&w, "schema", 1);
    json_begin_array(&w, "events");
    for (size_t i = 0; i < l->rows.len; i++) {
        const Row *r = &l->rows.at[i];
        json_begin_object(&w, NULL);
        json_str(&w, "group", str_from_c(event_group_name(r->event->group)));
        json_str(&w, "name", r->event->name);
        json_str(&w, "alias", r->event->alias);
        json_str(&w, "about", r->event->about);
        json_str(&w, "opens", str_from_c(access_word(r->result)));
        json_bool(&w, "user_only", r->result->user_only);
        json_bool(&w, "tried", r->is_tried);
        json_str(&w, "why", str_from_c(r->result->err.text));
        json_str(&w, "fix", str_from_c(r->result->err.hint));
        json_end(&w);
    }
    json_end(&w);
    json_begin_object(&w, "no_tracepoints");
    json_str(&w, "why", str_from_c(l->no_tracepoints.text));
    json_str(&w, "fix", str_from_c(l->no_tracepoints.hint));
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

static int show(const Listing *l, const ListOptions *o)
{
    StrBuf out = {0};
    Terminal t = terminal_get(o->colour);
    if (o->json)
        show_json(l, &out);
    else
        show_text(l, &t, &out);
    bool written = pager_print(strbuf_str(&out), o->json, o->no_pager);
    strbuf_deinit(&out);
    return written ? STATUS_OK : STATUS_FAILED;
}

static Listing gathered(Arena *arena, const StrVec *words)
{
    Listing l = {.arena = arena,
                 .sources = event_sources_default(),
                 .limits = perf_limits(),
                 .is_filtered = words->len > 0};
    gather(&l, words);
    return l;
}

// Whether the first word stands for a program or a library; it becomes the name of the file.
static bool find_program(Arena *arena, StrVec *words)
{
    if (words->len == 0)
        return false;
    if (list_is_program(words->at[0]))
        return true;
    const StrVec first = {.at = words->at, .len = 1};
    Str found = list_find_program(arena, words->at[0]);
    if (found.len == 0 || gathered(arena, &first).rows.len)
        return false;
    words->at[0] = found;
    return true;
}

static int list_events(CommandLine *line, void *values)
{
    const ListOptions *o = values;
    if (find_program(line->arena, &line->operands))
        return list_program(line->arena, &line->operands, o->json, o->no_pager);
    Listing l = gathered(line->arena, &line->operands);
    if (l.rows.len || o->json)
        return show(&l, o);
    Error err;
    Str wanted = line->operands.at[0];
    error_set(&err, ERROR_NOT_FOUND, "no event of this machine matches '%" STR_FMT "'%s",
              STR_ARG(wanted),
              str_find_char(wanted, '/') != SIZE_MAX ? ", and no file has this name" : "");
    if (l.no_tracepoints.kind != ERROR_NONE)
        error_hint(&err, "tracepoints cannot be listed: %s; %s", l.no_tracepoints.text,
                   l.no_tracepoints.hint);
    return cli_fail(&err);
}

static int run_list(const Command *cmd, int argc, char **argv)
{
    ListOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, list_events);
}

// Spellings that users of perf know.
static const ForeignOption foreign[] = {
    {'d', "desc", FOREIGN_IGNORED, NULL},
    {'v', "long-desc", FOREIGN_IGNORED, NULL},
    {0, "details", FOREIGN_IGNORED, NULL},
    {0, "no-desc", FOREIGN_IGNORED, NULL},
    {'j', NULL, FOREIGN_REFUSED, "assay list --json"},
};

const Command list_command = {
    .name = "list",
    .group = "help",
    .summary = "list the events of this machine and whether they open here",
    .first = "  assay list            all events, and whether they open here\n"
             "  assay list 'sched:*'  some\n"
             "  assay list ./prog     functions and markers that can be probed\n",
    .usage = "[--json] [GLOB ...]\n[--json] FILE [GLOB ...]",
    .options = list_options,
    .option_count = ARRAY_LEN(list_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details =
        "Opens every event once to find out whether it works; of many tracepoints only one of\n"
        "each kind. A word without wildcards matches anywhere in a name. hardware (hw), cache,\n"
        "software (sw), pmu, raw, breakpoint and tracepoint name whole groups.\n"
        "\n"
        "Examples:\n"
        "  assay list\n"
        "  assay list sw\n"
        "  assay list 'sched:*'\n"
        "  assay list ./prog parse        the functions and markers that can be probed\n"
        "  assay list libc.so.6           those of a library, or of a program in $PATH\n",
    .run = run_list,
};
