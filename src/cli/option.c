// SPDX-License-Identifier: Apache-2.0
// Commands and their options as tables: parsing, help, dispatch.

#include "cli/option.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/decoded.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/config.h"

enum { HELP_COLUMN = 30, HELP_WIDTH = 80, NAME_COLUMNS = 12 };

static bool takes_argument(const Option *o)
{
    return o->kind != OPTION_FLAG && o->kind != OPTION_NO_FLAG && o->kind != OPTION_COUNT &&
           o->kind != OPTION_OPTIONAL && o->kind != OPTION_REST;
}

static void add_command_path(const Command *cmd, StrBuf *out)
{
    if (cmd->parent) {
        add_command_path(cmd->parent, out);
        strbuf_add_char(out, ' ');
    }
    strbuf_add(out, str_from_c(cmd->name));
}

static void add_full_name(const Command *cmd, StrBuf *out)
{
    strbuf_add(out, STR("assay "));
    add_command_path(cmd, out);
}

int usage_error(const Command *cmd, const char *fmt, ...)
{
    StrBuf text = {0};
    add_command_path(cmd, &text);
    strbuf_add(&text, STR(": "));
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    Error err;
    error_set(&err, ERROR_USAGE, "%" STR_FMT, STR_ARG(strbuf_str(&text)));
    strbuf_clear(&text);
    add_full_name(cmd, &text);
    error_hint(&err, "see '%" STR_FMT " --help'", STR_ARG(strbuf_str(&text)));
    strbuf_deinit(&text);
    return cli_fail(&err);
}

// ---- Values ----------------------------------------------------------------

typedef struct Unit {
    const char *name;
    double factor;
} Unit;

static bool parse_with_unit(Str text, const Unit *units, size_t unit_count, double no_unit,
                            double *ret)
{
    size_t digits = 0;
    while (digits < text.len && strchr("0123456789.", text.ptr[digits]))
        digits++;
    double value;
    if (!str_parse_double(str_slice(text, 0, digits), &value))
        return false;
    Str unit = str_slice(text, digits, text.len);
    double factor = no_unit;
    bool known = unit.len == 0;
    for (size_t i = 0; i < unit_count; i++) {
        if (str_equal(unit, str_from_c(units[i].name))) {
            factor = units[i].factor;
            known = true;
        }
    }
    *ret = value * factor;
    return known && *ret < 9.2e18;
}

static const Unit time_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9},
};
static const Unit size_units[] = {
    {"b", 1},      {"B", 1},        {"k", 1024.0}, {"K", 1024.0}, {"KiB", 1024.0}, {"m", 0x1p20},
    {"M", 0x1p20}, {"MiB", 0x1p20}, {"g", 0x1p30}, {"G", 0x1p30}, {"GiB", 0x1p30},
};

// Walks the words of an option, or of a table: begin with {.option = o} or {.table = t}.
typedef struct ChoiceWalk {
    const Choices *table;
    size_t at;
    Str rest; // of a list that stands in the option itself
    Str name, help;
    const void *row; // NULL: the words stand in the option itself
} ChoiceWalk;

static ChoiceWalk choices_of(const Option *o)
{
    return (ChoiceWalk){.table = o->table, .rest = str_from_c(o->choices)};
}

static bool choice_next(ChoiceWalk *w)
{
    const Choices *t = w->table;
    if (!t)
        return str_next_part(&w->rest, '|', &w->name);
    while (w->at < *t->count) {
        const char *row = (const char *)t->rows + w->at++ * t->row_size;
        if (t->takes && !t->takes(row))
            continue;
        w->row = row;
        w->name = str_from_c(*(const char *const *)(row + t->name_at));
        w->help = (Str){0};
        if (t->help_at != CHOICES_NO_HELP)
            w->help = str_from_c(*(const char *const *)(row + t->help_at));
        return true;
    }
    return false;
}

// Moves the walk to the word. False: the option does not take it.
static bool choice_find(ChoiceWalk *w, Str value)
{
    while (choice_next(w))
        if (str_equal(w->name, value))
            return true;
    return false;
}

static bool has_choices(const Option *o)
{
    return o->choices || o->table;
}

// "auto|always|never"
static void add_choices(const Option *o, Str between, StrBuf *out)
{
    ChoiceWalk w = choices_of(o);
    for (bool first = true; choice_next(&w); first = false) {
        if (!first)
            strbuf_add(out, between);
        strbuf_add(out, w.name);
    }
}

// " (auto|always|never)"; a list that is longer than a line of the help gets spaces to break it at.
static void add_choices_help(const Option *o, StrBuf *out)
{
    strbuf_add(out, STR(" ("));
    size_t start = out->len;
    add_choices(o, STR("|"), out);
    if (out->len - start > HELP_WIDTH - HELP_COLUMN) {
        out->len = start;
        add_choices(o, STR(", "), out);
    }
    strbuf_add_char(out, ')');
}

static bool store_choice(const Option *o, void *field, Str value)
{
    ChoiceWalk w = choices_of(o);
    if (has_choices(o) && !choice_find(&w, value))
        return false;
    if (o->kind == OPTION_ROW)
        memcpy(field, &w.row, sizeof(w.row));
    else
        *(Str *)field = value;
    return true;
}

// Writes one value into its field. False: `value` is not what the kind takes.
static bool store_value(const Option *o, void *into, Str value, Arena *arena)
{
    void *field = (char *)into + o->offset;
    double number;
    switch (o->kind) {
    case OPTION_FLAG:
    case OPTION_NO_FLAG:
        *(bool *)field = o->kind == OPTION_FLAG;
        return true;
    case OPTION_COUNT:
        ++*(unsigned *)field;
        return true;
    case OPTION_CHOICE:
    case OPTION_OPTIONAL:
    case OPTION_ROW:
        return store_choice(o, field, value);
    case OPTION_TEXT:
    case OPTION_WORD:
        *(Str *)field = value;
        return true;
    case OPTION_LIST:
    case OPTION_FILES:
        vec_push(arena, (StrVec *)field, value);
        return true;
    case OPTION_REST:
        vec_push(arena, &((RestWords *)field)->words, value);
        return true;
    case OPTION_U64:
        return str_parse_u64(value, 0, field);
    case OPTION_I64:
        return str_parse_i64(value, field);
    case OPTION_DOUBLE:
        return str_parse_double(value, field) && isfinite(*(double *)field);
    case OPTION_PERCENT:
        if (str_ends_with(value, STR("%")))
            value.len--;
        return str_parse_double(value, field) && isfinite(*(double *)field);
    case OPTION_DURATION:
    case OPTION_MILLIS:
        if (!parse_with_unit(value, time_units, ARRAY_LEN(time_units),
                             o->kind == OPTION_MILLIS ? 1e6 : 1e9, &number))
            return false;
        *(int64_t *)field = (int64_t)llround(number);
        return true;
    case OPTION_SIZE:
        if (!parse_with_unit(value, size_units, ARRAY_LEN(size_units), 1, &number))
            return false;
        *(uint64_t *)field = (uint64_t)number;
        return true;
    }
    return false;
}

static const char *kind_description(OptionKind kind)
{
    switch (kind) {
    case OPTION_U64:
        return "a whole number from 0";
    case OPTION_I64:
        return "a whole number";
    case OPTION_DOUBLE:
        return "a number";
    case OPTION_PERCENT:
        return "a percentage such as 5 or 5%";
    case OPTION_DURATION:
        return "a time such as 2, 1.5s, 200ms or 3m";
    case OPTION_MILLIS:
        return "a time such as 200 (milliseconds), 1.5s or 3m";
    case OPTION_SIZE:
        return "a size such as 4096, 64k or 2M";
    default:
        return "another value";
    }
}

// ---- Parsing ---------------------------------------------------------------

typedef struct Parse {
    const Command *cmd;
    int argc;
    char **argv;
    int at;
    void *into;
    Arena *arena;
    StrVec *operands;
} Parse;

static ParseResult bad_value(const Parse *p, const Option *o, Str value)
{
    char name[64];
    if (o->name)
        snprintf(name, sizeof(name), "--%s", o->name);
    else
        snprintf(name, sizeof(name), "-%c", o->letter);
    StrBuf taken = {0};
    if (has_choices(o)) {
        strbuf_add(&taken, STR("one of "));
        add_choices(o, STR("|"), &taken);
    } else {
        strbuf_add(&taken, str_from_c(kind_description(o->kind)));
    }
    usage_error(p->cmd, "%s takes %" STR_FMT ", not '%" STR_FMT "'", name,
                STR_ARG(strbuf_str(&taken)), STR_ARG(value));
    strbuf_deinit(&taken);
    return PARSE_BAD;
}

static ParseResult apply(const Parse *p, const Option *o, Str value)
{
    return store_value(o, p->into, value, p->arena) ? PARSE_OK : bad_value(p, o, value);
}

static ParseResult apply_from_next(Parse *p, const Option *o, const char *shown)
{
    if (p->at + 1 >= p->argc) {
        usage_error(p->cmd, "%s needs its %s", shown, o->arg);
        return PARSE_BAD;
    }
    return apply(p, o, str_from_c(p->argv[++p->at]));
}

static Str optional_default(const Option *o)
{
    Str choices = str_from_c(o->choices);
    Str first = choices;
    str_next_part(&choices, '|', &first);
    return first;
}

static ParseResult show_help(const Command *cmd)
{
    StrBuf out = {0};
    command_help(cmd, &out);
    bool written = cli_print_text(strbuf_str(&out));
    strbuf_deinit(&out);
    return written ? PARSE_DONE : PARSE_BAD;
}

// An option of every command, which stands in no command's own table.
static const Option max_decoded_option = {
    .name = "max-decoded",
    .kind = OPTION_SIZE,
    .arg = "SIZE",
    .help = "how many bytes a small or compressed input may unpack to (default 64 times its size)"};

static const ForeignOption *find_foreign(const Command *cmd, char letter, Str name)
{
    for (size_t i = 0; i < cmd->foreign_count; i++) {
        const ForeignOption *f = &cmd->foreign[i];
        if (letter ? f->letter == letter : f->name && str_equal(name, str_from_c(f->name)))
            return f;
    }
    return NULL;
}

// The option of that name, or the only one whose name begins so. Sets `*ambiguous` when several do.
static const Option *find_long(const Command *cmd, Str name, bool *ambiguous)
{
    const Option *hit = NULL;
    *ambiguous = false;
    for (size_t i = 0; i < cmd->option_count; i++) {
        const Option *o = &cmd->options[i];
        if (!o->name || !str_starts_with(str_from_c(o->name), name))
            continue;
        if (str_equal(str_from_c(o->name), name)) {
            *ambiguous = false;
            return o;
        }
        *ambiguous = hit != NULL;
        hit = o;
    }
    if (find_foreign(cmd, 0, name)) {
        *ambiguous = false;
        return NULL; // "--out" of another tool is not short for "--output"
    }
    return *ambiguous ? NULL : hit;
}

// Edit distance of short words, to find the option that a typing mistake meant.
static size_t distance(Str a, Str b)
{
    enum { LIMIT = 32 };
    if (a.len > LIMIT || b.len > LIMIT)
        return LIMIT;
    size_t row[LIMIT + 1];
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            diagonal = row[j];
            size_t skip = MIN(row[j], row[j - 1]) + 1;
            row[j] = MIN(change, skip);
        }
    }
    return row[b.len];
}

static void consider(Str wanted, const char *candidate, const char **best, size_t *best_distance)
{
    size_t d = distance(wanted, str_from_c(candidate));
    // Two changes make another word of a short one, unless both begin with the same letter.
    if (d == 2 && wanted.len == 3 && wanted.ptr[0] != candidate[0])
        return;
    if (d < *best_distance && d <= 2 && d < wanted.len) {
        *best = candidate;
        *best_distance = d;
    }
}

// Takes an option of another tool. `value` is that behind "=" or the letter, empty: none.
static ParseResult take_foreign(Parse *p, const ForeignOption *f, const char *shown, Str value)
{
    Error err;
    switch (f->what) {
    case FOREIGN_IGNORED:
        return PARSE_OK;
    case FOREIGN_OPERAND:
        if (value.len == 0 && p->at + 1 >= p->argc) {
            usage_error(p->cmd, "%s needs its argument", shown);
            return PARSE_BAD;
        }
        vec_push(p->arena, p->operands, value.len ? value : str_from_c(p->argv[++p->at]));
        return PARSE_OK;
    case FOREIGN_REFUSED:
        break;
    }
    error_set(&err, ERROR_USAGE, "%s: no option '%s'", p->cmd->name, shown);
    error_hint(&err, "%s", f->instead);
    cli_fail(&err);
    return PARSE_BAD;
}

static ParseResult unknown_long(Parse *p, Str name, Str value)
{
    const ForeignOption *f = find_foreign(p->cmd, 0, name);
    char shown[64];
    snprintf(shown, sizeof(shown), "--%.*s", (int)MIN(name.len, (size_t)40), name.ptr);
    if (f)
        return take_foreign(p, f, shown, value);
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    for (size_t i = 0; i < p->cmd->option_count; i++)
        if (p->cmd->options[i].name)
            consider(name, p->cmd->options[i].name, &best, &best_distance);
    if (best)
        usage_error(p->cmd, "no option '--%" STR_FMT "'; did you mean '--%s'?", STR_ARG(name),
                    best);
    else
        usage_error(p->cmd, "no option '--%" STR_FMT "'", STR_ARG(name));
    return PARSE_BAD;
}

// Takes the words up to "--", or to the end.
static ParseResult take_rest(Parse *p, const Option *o)
{
    RestWords *rest = (void *)((char *)p->into + o->offset);
    rest->given = true;
    while (p->at + 1 < p->argc && !str_equal(str_from_c(p->argv[p->at + 1]), STR("--")))
        if (apply(p, o, str_from_c(p->argv[++p->at])) != PARSE_OK)
            return PARSE_BAD;
    return PARSE_OK;
}

// The first word is the option's argument; those behind it follow.
static ParseResult take_files(Parse *p, const Option *o, const char *shown)
{
    ParseResult result = apply_from_next(p, o, shown);
    while (result == PARSE_OK && p->at + 1 < p->argc && p->argv[p->at + 1][0] != '-')
        result = apply(p, o, str_from_c(p->argv[++p->at]));
    return result;
}

static ParseResult parse_long(Parse *p, Str text)
{
    Str name = text;
    Str value = {0};
    bool has_value = str_split(text, '=', &name, &value);
    bool ambiguous;
    const Option *o = find_long(p->cmd, name, &ambiguous);
    if (!o && !has_value && str_equal(name, STR("help")))
        return show_help(p->cmd);
    if (!o && str_equal(name, str_from_c(max_decoded_option.name))) {
        Parse common = *p;
        uint64_t max_decoded = 0;
        common.into = &max_decoded;
        ParseResult result = has_value
                                 ? apply(&common, &max_decoded_option, value)
                                 : apply_from_next(&common, &max_decoded_option, "--max-decoded");
        p->at = common.at;
        decoded_limit_set(max_decoded);
        return result;
    }
    if (ambiguous) {
        usage_error(p->cmd, "option '--%" STR_FMT "' is ambiguous", STR_ARG(name));
        return PARSE_BAD;
    }
    if (!o)
        return unknown_long(p, name, value);
    if (o->kind == OPTION_OPTIONAL)
        return apply(p, o, has_value ? value : optional_default(o));
    if (o->kind == OPTION_REST && !has_value)
        return take_rest(p, o);
    if (!takes_argument(o)) {
        if (!has_value)
            return apply(p, o, value);
        usage_error(p->cmd, "--%s takes no value", o->name);
        return PARSE_BAD;
    }
    char shown[64];
    snprintf(shown, sizeof(shown), "--%s", o->name);
    if (o->kind == OPTION_FILES && !has_value)
        return take_files(p, o, shown);
    return has_value ? apply(p, o, value) : apply_from_next(p, o, shown);
}

static const Option *find_short(const Command *cmd, char letter)
{
    for (size_t i = 0; i < cmd->option_count; i++)
        if (cmd->options[i].letter == letter)
            return &cmd->options[i];
    return NULL;
}

// Whether the next word is an argument of an OPTION_WORD, and not the command to run.
static bool next_is_word(const Parse *p, const Option *o)
{
    if (p->at + 1 >= p->argc)
        return false;
    Str next = str_from_c(p->argv[p->at + 1]), word = next, rest;
    (void)str_split(next, ',', &word, &rest);
    ChoiceWalk w = choices_of(o);
    return choice_find(&w, word);
}

static Str first_word(const Option *o)
{
    ChoiceWalk w = choices_of(o);
    return choice_next(&w) ? w.name : (Str){0};
}

static ParseResult parse_short(Parse *p, Str cluster)
{
    for (size_t i = 0; i < cluster.len; i++) {
        const Option *o = find_short(p->cmd, cluster.ptr[i]);
        if (!o && cluster.ptr[i] == 'h')
            return show_help(p->cmd);
        Str rest = str_slice(cluster, i + 1, cluster.len);
        char shown[] = {'-', cluster.ptr[i], '\0'};
        const ForeignOption *f = o ? NULL : find_foreign(p->cmd, cluster.ptr[i], (Str){0});
        if (f) {
            ParseResult taken = take_foreign(p, f, shown, rest);
            if (taken != PARSE_OK || f->what == FOREIGN_OPERAND)
                return taken;
            continue;
        }
        if (!o) {
            usage_error(p->cmd, "no option '-%c'", cluster.ptr[i]);
            return PARSE_BAD;
        }
        if (o->kind == OPTION_WORD && rest.len == 0 && !next_is_word(p, o))
            return apply(p, o, first_word(o));
        if (o->kind == OPTION_FILES && rest.len == 0)
            return take_files(p, o, shown);
        if (takes_argument(o))
            return rest.len ? apply(p, o, rest) : apply_from_next(p, o, shown);
        Str value = o->kind == OPTION_OPTIONAL ? optional_default(o) : (Str){0};
        ParseResult result = apply(p, o, value);
        if (result != PARSE_OK)
            return result;
    }
    return PARSE_OK;
}

// Whether a word behind one dash is the whole name of a long option, as llvm-cov takes it
// ("-format=html"). Its letters could be options, too; nobody means those.
static bool is_long_name(const Command *cmd, Str text)
{
    Str name = text, value;
    (void)str_split(text, '=', &name, &value);
    if (name.len < 3)
        return false;
    for (size_t i = 0; i < cmd->option_count; i++)
        if (cmd->options[i].name && str_equal(name, str_from_c(cmd->options[i].name)))
            return true;
    return find_foreign(cmd, 0, name);
}

static void take_operands(Parse *p)
{
    for (; p->at < p->argc; p->at++)
        vec_push(p->arena, p->operands, str_from_c(p->argv[p->at]));
}

// ---- The user's defaults -----------------------------------------------------

static bool is_yes(Str text)
{
    return str_equal(text, STR("yes")) || str_equal(text, STR("true")) ||
           str_equal(text, STR("on"));
}

static bool is_no(Str text)
{
    return str_equal(text, STR("no")) || str_equal(text, STR("false")) ||
           str_equal(text, STR("off"));
}

// A line of the file as if it were "--name=value" or "--name".
static ParseResult parse_default(Parse *p, const ConfigOption *c)
{
    bool ambiguous;
    const Option *o = find_long(p->cmd, c->name, &ambiguous);
    if (o && c->has_value && !takes_argument(o) && o->kind != OPTION_OPTIONAL) {
        if (is_no(c->value))
            return PARSE_OK;
        return is_yes(c->value) ? parse_long(p, c->name)
                                : (usage_error(p->cmd, "--%s takes yes or no", o->name), PARSE_BAD);
    }
    return parse_long(p, c->has_value ? arena_printf(p->arena, "%" STR_FMT "=%" STR_FMT,
                                                     STR_ARG(c->name), STR_ARG(c->value))
                                      : c->name);
}

// Help must be shown also when the file is wrong.
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static ParseResult parse_defaults(const Parse *for_command)
{
    // An option that needs an argument has none.
    Parse p = *for_command;
    p.argc = p.at;
    ConfigOptions config;
    StrBuf path = {0};
    Error err;
    add_command_path(p.cmd, &path);
    bool found = config_options(p.arena, arena_str(p.arena, strbuf_str(&path)), &config, &err);
    strbuf_deinit(&path);
    if (!found) {
        cli_fail(&err);
        return PARSE_BAD;
    }
    for (size_t i = 0; i < config.options.len; i++)
        if (parse_default(&p, &config.options.at[i]) != PARSE_OK) {
            StrBuf hint = {0};
            strbuf_printf(&hint, "the option stands in line %u of '%" STR_FMT "'",
                          config.options.at[i].line, STR_ARG(config.path));
            cli_say_hint(strbuf_str(&hint));
            strbuf_deinit(&hint);
            return PARSE_BAD;
        }
    return PARSE_OK;
}

// ---- The words of a command line ----------------------------------------------

ParseResult options_parse(const Command *cmd, int argc, char **argv, void *into, Arena *arena,
                          StrVec *operands, size_t *dashes)
{
    Parse p = {cmd, argc, argv, 1, into, arena, operands};
    if (dashes)
        *dashes = SIZE_MAX;
    if (!asks_for_help(argc, argv) && parse_defaults(&p) != PARSE_OK)
        return PARSE_BAD;
    for (; p.at < argc; p.at++) {
        Str arg = str_from_c(argv[p.at]);
        ParseResult result = PARSE_OK;
        if (str_equal(arg, STR("--"))) {
            if (dashes)
                *dashes = operands->len;
            p.at++;
            take_operands(&p);
        } else if (str_starts_with(arg, STR("--"))) {
            result = parse_long(&p, str_slice(arg, 2, arg.len));
        } else if (is_long_name(cmd, str_slice(arg, 1, arg.len))) {
            result = parse_long(&p, str_slice(arg, 1, arg.len));
        } else if (arg.len > 1 && arg.ptr[0] == '-') {
            result = parse_short(&p, str_slice(arg, 1, arg.len));
        } else if (cmd->operands_end_options) {
            take_operands(&p);
        } else {
            vec_push(arena, operands, arg);
        }
        if (result != PARSE_OK)
            return result;
    }
    return PARSE_OK;
}

int command_run_parsed(const Command *cmd, int argc, char **argv, void *values, CommandBody *body)
{
    Arena scratch = {0};
    CommandLine line = {.cmd = cmd, .arena = &scratch};
    int status = STATUS_USAGE;
    switch (options_parse(cmd, argc, argv, values, &scratch, &line.operands, &line.dashes)) {
    case PARSE_DONE:
        status = STATUS_OK;
        break;
    case PARSE_BAD:
        break;
    case PARSE_OK:
        line.words = argv + (argc - (int)line.operands.len);
        status = body(&line, values);
        break;
    }
    arena_deinit(&scratch);
    return status;
}

// ---- Help ------------------------------------------------------------------

static void add_option_name(const Option *o, StrBuf *out)
{
    if (o->letter)
        strbuf_printf(out, "-%c", o->letter);
    if (o->letter && o->name)
        strbuf_add(out, STR(", "));
    if (o->name)
        strbuf_printf(out, "%s--%s", o->letter ? "" : "    ", o->name);
    if (o->arg && o->kind == OPTION_OPTIONAL)
        strbuf_printf(out, "[=%s]", o->arg);
    else if (o->arg)
        strbuf_printf(out, " %s", o->arg);
}

// Appends the words of `text` in lines that begin at HELP_COLUMN; the current line has `column`
// columns already.
static void add_wrapped(StrBuf *out, size_t column, Str text)
{
    if (column + 2 > HELP_COLUMN) {
        strbuf_add_char(out, '\n');
        column = 0;
    }
    strbuf_add_repeated(out, ' ', HELP_COLUMN - column);
    column = HELP_COLUMN;
    Str word;
    for (bool first = true; str_next_part(&text, ' ', &word); first = false) {
        size_t width = str_columns(word);
        if (!first && column + 1 + width > HELP_WIDTH) {
            strbuf_add_char(out, '\n');
            strbuf_add_repeated(out, ' ', HELP_COLUMN);
            column = HELP_COLUMN;
        } else if (!first) {
            strbuf_add_char(out, ' ');
            column++;
        }
        strbuf_add(out, word);
        column += width;
    }
    strbuf_add_char(out, '\n');
}

static void add_option_help(const Command *cmd, const Option *o, StrBuf *out)
{
    size_t start = out->len;
    strbuf_add(out, STR("  "));
    add_option_name(o, out);
    size_t column = str_columns(str_over(out->ptr + start, out->len - start));
    StrBuf text = {0};
    strbuf_add(&text, str_from_c(o->help));
    bool is_listed = o->table && o->table == cmd->list; // below the options
    if (has_choices(o) && !is_listed)
        add_choices_help(o, &text);
    add_wrapped(out, column, strbuf_str(&text));
    strbuf_deinit(&text);
}

void commands_add_list(const Command *const *table, size_t count, int columns, StrBuf *out)
{
    const char *group = "";
    for (size_t i = 0; i < count; i++) {
        const Command *c = table[i];
        if (c->group && strcmp(group, c->group) != 0) {
            group = c->group;
            strbuf_printf(out, "\n%s\n", group);
        }
        strbuf_printf(out, "  %-*s %s\n", columns, c->name, c->summary);
    }
}

// The words of a command's table, each with what it means.
static void add_list(const Command *cmd, StrBuf *out)
{
    strbuf_printf(out, "\n%s\n", cmd->list_heading);
    int columns = NAME_COLUMNS;
    for (ChoiceWalk w = {.table = cmd->list}; choice_next(&w);)
        columns = MAX(columns, (int)str_columns(w.name));
    for (ChoiceWalk w = {.table = cmd->list}; choice_next(&w);)
        strbuf_printf(out, "  %-*" STR_FMT " %" STR_FMT "\n", columns, STR_ARG(w.name),
                      STR_ARG(w.help));
}

void command_help(const Command *cmd, StrBuf *out)
{
    Str usage = str_from_c(cmd->usage);
    Str line;
    for (bool first = true; str_next_line(&usage, &line); first = false) {
        strbuf_add(out, first ? STR("usage: ") : STR("       "));
        add_full_name(cmd, out);
        strbuf_printf(out, " %" STR_FMT "\n", STR_ARG(line));
    }
    strbuf_printf(out, "\n%s.\n", cmd->summary);
    if (cmd->first)
        strbuf_printf(out, "\nstart with\n%s", cmd->first);
    if (cmd->sub)
        commands_add_list(cmd->sub, cmd->sub_count, NAME_COLUMNS, out);
    if (cmd->option_count)
        strbuf_add(out, STR("\noptions\n"));
    for (size_t i = 0; i < cmd->option_count; i++)
        add_option_help(cmd, &cmd->options[i], out);
    if (cmd->option_count)
        add_option_help(cmd, &max_decoded_option, out);
    if (cmd->list)
        add_list(cmd, out);
    if (cmd->details)
        strbuf_printf(out, "\n%s", cmd->details);
}

// ---- Dispatch --------------------------------------------------------------

static int unknown_command(const Command *parent, const Command *const *table, size_t count,
                           Str name)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        consider(name, table[i]->name, &best, &best_distance);
    StrBuf prefix = {0};
    strbuf_add(&prefix, STR("assay"));
    if (parent) {
        strbuf_add_char(&prefix, ' ');
        add_command_path(parent, &prefix);
    }
    Error err;
    bool is_option = str_starts_with(name, STR("-"));
    error_set(&err, ERROR_USAGE,
              is_option ? "'%" STR_FMT "' has no option '%" STR_FMT "'"
                        : "no command '%" STR_FMT " %" STR_FMT "'",
              STR_ARG(strbuf_str(&prefix)), STR_ARG(name));
    if (best)
        error_hint(&err, "did you mean '%" STR_FMT " %s'?", STR_ARG(strbuf_str(&prefix)), best);
    else
        error_hint(&err, "see '%" STR_FMT " --help'", STR_ARG(strbuf_str(&prefix)));
    strbuf_deinit(&prefix);
    return cli_fail(&err);
}

int commands_run(const Command *parent, const Command *const *table, size_t count, int argc,
                 char **argv)
{
    Str name = str_from_c(argc > 1 ? argv[1] : NULL);
    bool help = str_equal(name, STR("--help")) || str_equal(name, STR("-h"));
    if (parent && (help || name.len == 0)) {
        ParseResult shown = show_help(parent);
        return help && shown == PARSE_DONE ? STATUS_OK : STATUS_USAGE;
    }
    bool is_option = parent && parent->sub_of_options && str_starts_with(name, STR("-"));
    const char *taken = is_option ? parent->sub_of_options(argc, argv) : NULL;
    if (taken)
        name = str_from_c(taken);
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(name, str_from_c(table[i]->name)))
            continue;
        Command cmd = *table[i];
        cmd.parent = parent;
        if (cmd.sub)
            return commands_run(&cmd, cmd.sub, cmd.sub_count, argc - 1, argv + 1);
        return taken ? cmd.run(&cmd, argc, argv) : cmd.run(&cmd, argc - 1, argv + 1);
    }
    return unknown_command(parent, table, count, name);
}

static void dump_choices(ChoiceWalk w, JsonWriter *json)
{
    json_begin_array(json, "choices");
    while (choice_next(&w)) {
        json_begin_object(json, NULL);
        json_str(json, "name", w.name);
        json_str(json, "help", w.help);
        json_end(json);
    }
    json_end(json);
}

static void dump_option(const Option *o, JsonWriter *w)
{
    char letter[2] = {o->letter, '\0'};
    json_begin_object(w, NULL);
    json_str(w, "letter", str_from_c(letter));
    json_str(w, "name", str_from_c(o->name));
    json_str(w, "arg", str_from_c(o->arg));
    json_bool(w, "takes_argument", takes_argument(o));
    dump_choices(choices_of(o), w);
    json_str(w, "help", str_from_c(o->help));
    json_end(w);
}

static void dump_command(const Command *cmd, JsonWriter *w)
{
    json_begin_object(w, NULL);
    json_str(w, "name", str_from_c(cmd->name));
    json_str(w, "summary", str_from_c(cmd->summary));
    json_str(w, "usage", str_from_c(cmd->usage));
    json_bool(w, "wrapper", cmd->operands_end_options);
    json_begin_array(w, "options");
    for (size_t i = 0; i < cmd->option_count; i++)
        dump_option(&cmd->options[i], w);
    if (cmd->option_count)
        dump_option(&max_decoded_option, w);
    json_end(w);
    if (cmd->list) {
        json_begin_object(w, "list");
        json_str(w, "heading", str_from_c(cmd->list_heading));
        dump_choices((ChoiceWalk){.table = cmd->list}, w);
        json_end(w);
    }
    json_begin_array(w, "commands");
    for (size_t i = 0; i < cmd->sub_count; i++)
        dump_command(cmd->sub[i], w);
    json_end(w);
    json_end(w);
}

void commands_dump_json(const Command *const *table, size_t count, StrBuf *out)
{
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-options"));
    json_u64(&w, "version", 1);
    json_begin_array(&w, "commands");
    for (size_t i = 0; i < count; i++)
        dump_command(table[i], &w);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}
