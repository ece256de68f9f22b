// SPDX-License-Identifier: Apache-2.0
// assay view: a recording as one page that shows everything in it.

#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/view_options.h"
#include "cli/look/view_page.h"
#include "cli/runs/runs_page.h"
#include "cli/runs/runs_report.h"
#include "cli/survey/survey_show.h"
#include "cli/symbols.h"
#include "model/facts.h"
#include "os/desktop.h"
#include "os/file.h"
#include "os/stop.h"
#include "serve/page_server.h"

enum { SURVEY_PAGE_COLUMNS = 110 };

typedef struct ViewCommandOptions {
    SelectionOptions selection;
    ShareWords share;
    RecordingFiles files;
    LiveOptions live;
    StrVec source_paths;
    Str html, title;
    uint64_t port;
    int64_t idle_ns;
    bool no_open, no_source, force, serve;
} ViewCommandOptions;

static const int64_t IDLE_NS = INT64_C(1800) * 1000000000;

static const Option view_options[] = {
    OPT_TEXT(0, "html", ViewCommandOptions, html, "FILE",
             "the page (default: named after the recording); - for standard output"),
    OPT_FLAG(0, "force", ViewCommandOptions, force, "replace an existing output file"),
    OPT_FLAG(0, "no-open", ViewCommandOptions, no_open, "do not open the page on the desktop"),
    OPT_FLAG(0, "serve", ViewCommandOptions, serve,
             "serve the page on the loopback instead of writing a file, at an address that is "
             "printed; Ctrl-C ends it"),
    OPT_U64(0, "port", ViewCommandOptions, port, "N", "with --serve, the port; any free one"),
    OPT_DURATION(0, "idle", ViewCommandOptions, idle_ns, "TIME",
                 "with --serve, stop when nobody asked for the page for so long (30m)"),
    OPT_FLAG(0, "no-source", ViewCommandOptions, no_source,
             "leave source text and instructions out"),
    OPT_TEXT(0, "title", ViewCommandOptions, title, "TEXT",
             "the title (default: the recorded command)"),
    OPT_LIST(0, "source-path", ViewCommandOptions, source_paths, "OLD=NEW",
             "read source files whose path begins with OLD below NEW"),
    SHARE_OPTIONS(ViewCommandOptions, share),
    SELECTION_OPTIONS(ViewCommandOptions, selection),
    LIVE_OPTIONS(ViewCommandOptions, live),
    RECORDING_FILE_OPTIONS(ViewCommandOptions, files),
};

static bool is_anonymous(const ViewCommandOptions *o)
{
    return o->share.anonymise || o->share.key.len;
}

static Str title_of(const ViewCommandOptions *o, const Profile *p, Str path)
{
    if (o->title.len)
        return o->title;
    Str command = profile_fact(p, STR(FACT_COMMAND));
    return command.len ? command : str_base_name(path);
}

// "prog.html" in the working folder, for a recording "x/prog.assay".
static Str default_name(Str path, Arena *arena)
{
    Str base = str_base_name(path);
    if (str_ends_with(base, STR(".assay")))
        base = str_slice(base, 0, base.len - STR(".assay").len);
    if (str_ends_with(base, STR(".survey")))
        base = str_slice(base, 0, base.len - STR(".survey").len);
    if (base.len == 0 || str_equal(base, STR("-")))
        base = STR("profile");
    return arena_printf(arena, "%" STR_FMT ".html", STR_ARG(base));
}

// Opens the page on the desktop, or says how to look at it.
static void open_page(const ViewCommandOptions *o, Str path)
{
    Error err;
    bool is_remote = cli_env("SSH_CONNECTION").len > 0;
    bool has_desktop = cli_env("DISPLAY").len || cli_env("WAYLAND_DISPLAY").len;
    if (!o->no_open && has_desktop && !is_remote && os_desktop_open(path, environ, &err))
        return;
    if (is_remote)
        cli_say_hint(STR(
            "copy the file to your machine and open it there: it needs nothing else; or look at "
            "it by --serve"));
    else
        cli_say_hint(STR("open it in a browser: it needs nothing else"));
}

static int write_page(const ViewCommandOptions *o, Str page, Str path, Arena *arena)
{
    Error err;
    if (str_equal(o->html, STR("-")))
        return cli_print(page) ? STATUS_OK : STATUS_FAILED;
    Str output = o->html.len ? o->html : default_name(path, arena);
    // Named by us: an older page of that name is kept as perf keeps its recordings.
    if (o->html.len == 0 && !o->force && !os_keep_old(arena_c_str(arena, output), &err))
        return cli_fail(&err);
    if (!os_write_file(output, bytes_from_str(page), o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, &err))
        return cli_fail(&err);
    cli_say("%" STR_FMT ": %.1f MB", STR_ARG(output), (double)page.len / 1e6);
    open_page(o, output);
    return STATUS_OK;
}

// What to do on the user's own machine, where SSH_CONNECTION is that of this machine's server:
// "CLIENT PORT SERVER PORT".
static void say_how_to_forward(const PageServer *s)
{
    Str rest = cli_env("SSH_CONNECTION"), server = {0};
    StrBuf hint = {0};
    for (int i = 0; i < 3; i++)
        (void)str_next_part(&rest, ' ', &server);
    strbuf_printf(&hint,
                  "on your machine: ssh -N -L %u:127.0.0.1:%u %" STR_FMT
                  ", then open that address there; or copy the page: --html FILE",
                  (unsigned)s->port, (unsigned)s->port, STR_ARG(server));
    cli_say_hint(strbuf_str(&hint));
    strbuf_deinit(&hint);
}

// Serves the page until Ctrl-C or until nobody asks for it. The address is not opened on the
// desktop: other users of the machine can read the arguments of programs, and it holds the token.
static int serve_page(const ViewCommandOptions *o, Str page)
{
    PageServer server;
    PageServerEnd end;
    StopSignals signals;
    Error err;
    StrBuf address = {0};
    if (!page_server_open(&server, (uint16_t)o->port, &err))
        return cli_fail(&err);
    strbuf_printf(&address, "http://127.0.0.1:%u/%s/\n", (unsigned)server.port, server.token);
    bool ok = cli_print(strbuf_str(&address));
    strbuf_deinit(&address);
    if (cli_env("SSH_CONNECTION").len)
        say_how_to_forward(&server);
    cli_say_hint(
        STR("every user of this machine who knows the address can read the page; Ctrl-C ends it"));
    stop_begin(&signals);
    if (ok && !page_server_run(&server, page, o->idle_ns, stop_flag(), &end, &err)) {
        cli_fail(&err);
        ok = false;
    }
    stop_end(&signals);
    page_server_close(&server);
    if (ok && end == PAGE_SERVER_IDLE)
        cli_say("nobody asked for the page any more: stopped");
    return ok ? STATUS_OK : STATUS_FAILED;
}

static bool add_recording(const ViewCommandOptions *o, const Opened *opened, ViewPage *page,
                          Error *err)
{
    const ViewRecording r = {.selection = &o->selection,
                             .share = &o->share,
                             .files = &o->files,
                             .source_paths = &o->source_paths,
                             .no_source = o->no_source,
                             .title = title_of(o, opened->profile, opened->path)};
    return view_page_add_recording(page, &r, opened->profile, opened->scratch, err);
}

// Adds a loaded recording to the page, by its contents.
static bool add_loaded(const ViewCommandOptions *o, const Opened *opened, ViewPage *page,
                       Error *err)
{
    Profile *p = opened->profile;
    if (p->samples.stack.len)
        return add_recording(o, opened, page, err);
    if (p->line_counts.file.len)
        return view_page_add_counts(p, NULL, !o->no_source && !is_anonymous(o),
                                    o->share.strip_paths, opened->scratch, page, err);
    if (runs_report_applies(p)) {
        if (is_anonymous(o) || o->share.strip_paths)
            return error_set(err, ERROR_USAGE,
                             "names and paths of runs cannot be left out: '%" STR_FMT "'",
                             STR_ARG(opened->path));
        return runs_page_add(page, p, err);
    }
    return no_samples(p, "show", err);
}

static int finish_page(const ViewCommandOptions *o, ViewPage *page, Str title, Str path,
                       Arena *arena)
{
    StrBuf text = {0};
    view_page_write(page, title, &text);
    int status =
        o->serve ? serve_page(o, strbuf_str(&text)) : write_page(o, strbuf_str(&text), path, arena);
    strbuf_deinit(&text);
    return status;
}

// The page of a command that was recorded.
static int show_recorded(void *values, const Opened *opened)
{
    const ViewCommandOptions *o = values;
    ViewPage page = {0};
    Error err;
    int status = add_loaded(o, opened, &page, &err)
                     ? finish_page(o, &page, title_of(o, opened->profile, opened->path),
                                   opened->path, opened->scratch)
                     : cli_fail(&err);
    view_page_deinit(&page);
    return status;
}

// A page of several recordings while it is made.
typedef struct Joined {
    ViewPage page;
    Str title, path; // of the first recording
    bool may_skip;   // one of several that has nothing to show is left out
    StrVec coverage; // operands that are no recordings: programs, profiles, tracefiles
    Error first;     // why the first of them is no recording
} Joined;

// Adds one operand to the page, or keeps it for the coverage.
static bool add_operand(const ViewCommandOptions *o, Str path, Joined *j, Arena *arena, Error *err)
{
    Profile p;
    Error reason;
    if (!load_recording(path, &o->files, false, &p, NULL, &reason)) {
        if (j->coverage.len == 0)
            j->first = reason;
        vec_push(arena, &j->coverage, path);
        return true;
    }
    const StrVec none = {0};
    const Opened opened = {.profile = &p, .path = path, .further = &none, .scratch = arena};
    bool ok = add_loaded(o, &opened, &j->page, err);
    if (ok && j->path.len == 0) {
        j->title = arena_str(arena, title_of(o, &p, path));
        j->path = path;
    }
    if (!ok && j->may_skip && err->kind == ERROR_NOT_FOUND) {
        (void)error_context(err, "'%" STR_FMT "'", STR_ARG(path));
        cli_say_left_out(err);
        ok = true;
    }
    profile_deinit(&p);
    return ok;
}

static bool add_operands(const ViewCommandOptions *o, const StrVec *operands, Joined *j,
                         Arena *arena, Error *err)
{
    j->may_skip = operands->len > 1;
    for (size_t i = 0; i < operands->len; i++)
        if (!add_operand(o, operands->at[i], j, arena, err))
            return false;
    if (j->coverage.len == 0)
        return j->path.len > 0 ||
               error_set(err, ERROR_NOT_FOUND, "none of the recordings has anything to show");
    if (is_anonymous(o))
        return error_set(err, ERROR_USAGE, "coverage cannot be anonymised: '%" STR_FMT "'",
                         STR_ARG(j->coverage.at[0]));
    if (!view_page_add_coverage(&j->coverage, NULL, !o->no_source, o->share.strip_paths, arena,
                                &j->page, err)) {
        // One operand alone was rather meant as a recording.
        if (j->coverage.len == 1)
            *err = j->first;
        return false;
    }
    if (j->path.len == 0) {
        j->path = j->coverage.at[0];
        j->title = STR("Coverage");
    }
    return true;
}

// The operands, with the recordings of a survey in the place of its folder.
static bool open_surveys(const StrVec *operands, Arena *arena, StrVec *ret, Error *err)
{
    for (size_t i = 0; i < operands->len; i++) {
        if (!survey_folder_is(operands->at[i]))
            vec_push(arena, ret, operands->at[i]);
        else if (!survey_folder_files(arena, operands->at[i], ret, err))
            return false;
    }
    return true;
}

// Whether the page must not hold what is known: a screen of text would.
static bool hides_anything(const ViewCommandOptions *o)
{
    return is_anonymous(o) || o->no_source || o->share.names || o->share.strip_paths;
}

// The first screen of a survey, above the summaries of its recordings.
static void add_survey(ViewPage *page, Str folder)
{
    StrBuf text = {0};
    Error err;
    // What cannot be read is said when the recordings are opened.
    if (survey_add_text(folder, SURVEY_PAGE_COLUMNS, &text, &err)) {
        strbuf_add(&page->summary, STR("<h1>Survey</h1>\n<pre>"));
        Str rest = strbuf_str(&text), line;
        while (str_next_line(&rest, &line)) { // escaped line by line: a line feed is markup here
            strbuf_add_xml(&page->summary, line);
            strbuf_add_char(&page->summary, '\n');
        }
        strbuf_add(&page->summary, STR("</pre>\n"));
    }
    strbuf_deinit(&text);
}

static int view_files(const ViewCommandOptions *o, const StrVec *operands, Arena *arena)
{
    StrVec files = {0};
    Joined j = {0};
    Error err;
    Str usual = DEFAULT_RECORDING;
    const StrVec of_usual = {.at = &usual, .len = 1};
    int status;
    for (size_t i = 0; i < operands->len && !hides_anything(o); i++)
        if (survey_folder_is(operands->at[i]))
            add_survey(&j.page, operands->at[i]);
    bool is_survey = operands->len && survey_folder_is(operands->at[0]);
    if (!open_surveys(operands->len ? operands : &of_usual, arena, &files, &err) ||
        !add_operands(o, &files, &j, arena, &err))
        status = cli_fail(&err);
    else
        status = finish_page(o, &j.page, o->title.len ? o->title : j.title,
                             is_survey ? operands->at[0] : j.path, arena);
    view_page_deinit(&j.page);
    return status;
}

static int view_a_recording(CommandLine *line, void *values)
{
    static const RecordingView view = {.show = show_recorded,
                                       .files_at = offsetof(ViewCommandOptions, files),
                                       .records = true,
                                       .live_at = offsetof(ViewCommandOptions, live)};
    ViewCommandOptions *o = values;
    if (!o->serve && (o->port || o->idle_ns != IDLE_NS))
        return usage_error(line->cmd, "--port and --idle are for --serve");
    if (o->serve && o->html.len)
        return usage_error(line->cmd, "--serve and --html cannot be combined");
    if (o->port > UINT16_MAX || o->idle_ns <= 0)
        return usage_error(line->cmd, "--port is at most 65535, --idle above 0");
    live_options_settle(line, &o->live, &o->selection, o->force);
    if (live_is_asked(line, &o->live))
        return view_recording(line, values, &view);
    return view_files(o, &line->operands, line->arena);
}

static int run_view(const Command *cmd, int argc, char **argv)
{
    ViewCommandOptions o = {.live = LIVE_DEFAULTS, .idle_ns = IDLE_NS};
    return command_run_parsed(cmd, argc, argv, &o, view_a_recording);
}

const Command view_command = {
    .name = "view",
    .group = "look",
    .summary = "write recordings as one page for a browser: flame graph, source, timeline",
    .first = "  assay view              the last recording as a page\n"
             "  assay view -- CMD       record a command and show it\n"
             "  assay view --html FILE  write the page to a file\n",
    .usage = "[OPTION ...] [FILE ...]\n[OPTION ...] -- CMD [ARG ...]\n[OPTION ...] --cargo "
             "[CARGO-OPTION ...] [-- ARG ...]",
    .options = view_options,
    .option_count = ARRAY_LEN(view_options),
    .details =
        "The page is one HTML file for any browser. It works offline, asks no server, and holds\n"
        "the recording, the source lines it touches and the instructions of its hottest\n"
        "functions. '?' in the page lists its keys. Before the file is given to others,\n"
        "--no-source, --strip-paths and --anonymise take out what they are not to see.\n"
        "\n"
        "Several recordings become one page, joined on source lines: CPU time, the heap, waits, "
        "and\n"
        "coverage, also as programs with profiles of LLVM, units of gcc and tracefiles.\n"
        "\n"
        "Examples:\n"
        "  assay view -- ./prog data.csv                   record it and look at it\n"
        "  assay view prog.assay --html prog.html          only write the page\n"
        "  assay view prog.assay --serve                   look at it over SSH\n"
        "  assay view cpu.assay heap.assay cov.info        all of them on the same lines\n"
        "  assay view prog.assay --no-source --strip-paths for sharing\n",
    .run = run_view,
};
