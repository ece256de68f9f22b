// SPDX-License-Identifier: Apache-2.0
// Options that the commands which show a recording share.

#include "cli/look/view_options.h"

#include <math.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "model/facts.h"

static const NameLengthWord name_lengths[] = {
    {"full", NAME_FULL}, {"no-arguments", NAME_NO_ARGUMENTS}, {"short", NAME_NO_TEMPLATES}};
const Choices name_length_words = CHOICES_OF(name_lengths, word);

// When the recording ends: its wall time, or the time of the last sample if that is later.
static int64_t profile_end_ns(const Profile *p)
{
    int64_t end = 0;
    for (size_t i = 0; i < p->samples.time_ns.len; i++)
        end = MAX(end, p->samples.time_ns.at[i]);
    uint64_t wall;
    if (profile_fact_u64(p, STR(FACT_WALL_NS), &wall) && wall <= INT64_MAX)
        end = MAX(end, (int64_t)wall);
    return end;
}

// One end of a time range.
static bool parse_time(Str text, const Profile *p, int64_t *ret)
{
    Str number = str_trim(text);
    bool is_percent = str_ends_with(number, STR("%"));
    if (is_percent || str_ends_with(number, STR("s")))
        number = str_slice(number, 0, number.len - 1);
    double value;
    if (!str_parse_double(number, &value) || !isfinite(value) || value < 0)
        return false;
    double ns = is_percent ? value / 100 * (double)profile_end_ns(p) : value * 1e9;
    if (ns >= 9.2e18)
        return false;
    *ret = (int64_t)llround(ns);
    return true;
}

static bool parse_time_range(Str text, const Profile *p, Selection *s, Error *err)
{
    size_t dots = str_find(text, STR(".."));
    if (dots != SIZE_MAX) {
        Str from = str_slice(text, 0, dots), to = str_slice(text, dots + 2, text.len);
        // "..100%" ends at the last sample, which must be included.
        if ((from.len == 0 || parse_time(from, p, &s->from_ns)) &&
            (to.len == 0 || parse_time(to, p, &s->to_ns)) && s->from_ns <= s->to_ns) {
            if (str_ends_with(str_trim(to), STR("%")) && s->to_ns == profile_end_ns(p))
                s->to_ns++;
            return true;
        }
    }
    error_set(err, ERROR_USAGE, "bad time range '%" STR_FMT "'", STR_ARG(text));
    return error_hint(err,
                      "write --time 1.5..3 (seconds from the start), 10%%..50%%, or one end: 2..");
}

static bool parse_numbers(const StrVec *lists, const char *option, Arena *arena, const U32Vec **ret,
                          Error *err)
{
    if (lists->len == 0)
        return true;
    U32Vec *numbers = arena_new(arena, U32Vec);
    for (size_t i = 0; i < lists->len; i++) {
        Str rest = lists->at[i], part;
        while (str_next_part(&rest, ',', &part)) {
            uint64_t value;
            if (!str_parse_u64(str_trim(part), 10, &value) || value > UINT32_MAX)
                return error_set(err, ERROR_USAGE, "bad number '%" STR_FMT "' for %s",
                                 STR_ARG(part), option);
            vec_push(arena, numbers, (uint32_t)value);
        }
    }
    *ret = numbers;
    return true;
}

bool selection_from_options(const SelectionOptions *o, const Profile *p, Arena *arena,
                            Selection *ret, Error *err)
{
    Selection s;
    selection_init(&s);
    s.metric = metric_with_samples(p);
    if (o->metric.len && !metric_find(p, o->metric, &s.metric, err))
        return false;
    if (o->time.len && !parse_time_range(o->time, p, &s, err))
        return false;
    if (!parse_numbers(&o->pids, "--pid", arena, &s.pids, err) ||
        !parse_numbers(&o->tids, "--tid", arena, &s.tids, err))
        return false;
    if (o->comms.len) {
        StrVec *names = arena_new(arena, StrVec);
        for (size_t i = 0; i < o->comms.len; i++) {
            Str rest = o->comms.at[i], part;
            while (str_next_part(&rest, ',', &part))
                vec_push(arena, names, part);
        }
        s.comms = names;
    }
    if (o->focus.len)
        s.focus = arena_c_str(arena, o->focus);
    if (o->ignore.len)
        s.ignore = arena_c_str(arena, o->ignore);
    *ret = s;
    return true;
}

bool selection_is_part(const Selection *s)
{
    return s->focus || s->ignore || s->pids || s->tids || s->comms || selection_has_time(s);
}

bool keep_selected(Profile *p, Selection *selection, Error *err)
{
    U32Vec rows = {0};
    if (!selection_samples(p, selection, true, &rows, err))
        return false;
    profile_keep_samples(p, rows.at, rows.len);
    vec_free(&rows);
    Selection all;
    selection_init(&all);
    all.metric = selection->metric;
    *selection = all;
    return true;
}

bool share_selected(const ShareWords *words, Profile *p, Selection *selection, Error *err)
{
    ShareOptions o = {
        .names = words->names ? words->names->length : NAME_FULL,
        .strip_paths = words->strip_paths,
        .anonymise = words->anonymise || words->key.len > 0,
        .key = words->key,
    };
    bool by_name = selection->focus || selection->ignore || selection->comms;
    if ((o.anonymise || o.names != NAME_FULL) && by_name && !keep_selected(p, selection, err))
        return false;
    profile_share(p, &o);
    return true;
}

// The only operand, or DEFAULT_RECORDING. With more than one it prints that, and returns false.
static bool one_recording(const Command *cmd, const StrVec *operands, Str *ret)
{
    if (operands->len <= 1) {
        *ret = operands->len ? operands->at[0] : DEFAULT_RECORDING;
        return true;
    }
    usage_error(cmd, "one recording at a time, not also '%" STR_FMT "'", STR_ARG(operands->at[1]));
    return false;
}

void live_options_settle(const CommandLine *line, LiveOptions *live, SelectionOptions *selection,
                         bool force)
{
    live->force = force;
    if (!live_is_asked(line, live) || selection->metric.len == 0)
        return;
    vec_push(line->arena, &live->events, selection->metric);
    selection->metric = STR("");
}

// Records the command behind "--" and shows that.
static int view_command(const CommandLine *line, void *values, const RecordingView *view)
{
    const StrVec none = {0};
    size_t recordings = line->dashes == SIZE_MAX ? line->operands.len : line->dashes;
    if (recordings)
        return usage_error(line->cmd,
                           "a recording and a command cannot be combined: '%" STR_FMT "'",
                           STR_ARG(line->operands.at[0]));
    if (view->check && !view->check(line->cmd, values, &none))
        return STATUS_USAGE;
    const LiveOptions *live = (const void *)((const char *)values + view->live_at);
    Profile p;
    Error err;
    int child_status = STATUS_OK;
    if (!live_record(line, live, &p, &child_status, &err))
        return err.text[0] ? cli_fail(&err) : child_status;
    Opened opened = {
        .profile = &p, .path = live->recording, .further = &none, .scratch = line->arena};
    int status = view->show(values, &opened);
    profile_deinit(&p);
    return status == STATUS_OK ? child_status : status;
}

int view_recording(const CommandLine *line, void *values, const RecordingView *view)
{
    const Command *cmd = line->cmd;
    const StrVec *operands = &line->operands;
    StrVec first = {operands->at, MIN(operands->len, (size_t)1), 0};
    StrVec further = {0};
    if (operands->len > 1 && operands->len - 1 <= view->further_max)
        further = (StrVec){operands->at + 1, operands->len - 1, 0};
    Opened opened = {.further = &further, .scratch = line->arena};
    const LiveOptions *live = (const void *)((const char *)values + view->live_at);
    if (view->records && live_is_asked(line, live))
        return view_command(line, values, view);
    if (!one_recording(cmd, further.len ? &first : operands, &opened.path) ||
        (view->check && !view->check(cmd, values, &further)))
        return STATUS_USAGE;
    Profile p;
    Error err;
    const RecordingFiles *files = (const void *)((const char *)values + view->files_at);
    if (!load_recording(opened.path, files, false, &p, NULL, &err))
        return cli_fail(&err);
    opened.profile = &p;
    int status = view->show(values, &opened);
    profile_deinit(&p);
    return status;
}
