// SPDX-License-Identifier: Apache-2.0
// Every text of the profile is passed through a rule for its column into a fresh
// string table. A column without a rule is emptied: a new fact is not sent by oversight.

#include "model/share.h"

#include "model/facts.h"
#include "model/schema.h"

typedef enum Rule {
    RULE_DROP,
    RULE_KEEP,
    RULE_FUNCTION,
    RULE_LINKAGE,
    RULE_MODULE,
    RULE_FILE,
    RULE_PROCESS,
    RULE_THREAD,
    RULE_INTERVAL,
    RULE_WORDS,
    RULE_BUILD_ID,
    RULE_SOURCE
} Rule;

static Rule rule_of(TableId table, const char *column)
{
    static const struct {
        TableId table;
        const char *column;
        Rule rule;
    } rules[] = {
        {TABLE_MODULES, "path", RULE_MODULE},      {TABLE_MODULES, "build_id", RULE_BUILD_ID},
        {TABLE_FUNCTIONS, "name", RULE_FUNCTION},  {TABLE_FUNCTIONS, "linkage_name", RULE_LINKAGE},
        {TABLE_FUNCTIONS, "file", RULE_FILE},      {TABLE_FRAME_PLACES, "file", RULE_FILE},
        {TABLE_PROCESSES, "name", RULE_PROCESS},   {TABLE_PROCESSES, "command", RULE_WORDS},
        {TABLE_THREADS, "name", RULE_THREAD},      {TABLE_METRICS, "name", RULE_KEEP},
        {TABLE_METRICS, "unit", RULE_KEEP},        {TABLE_METRICS, "event", RULE_KEEP},
        {TABLE_INTERVALS, "name", RULE_INTERVAL},  {TABLE_INTERVALS, "detail", RULE_WORDS},
        {TABLE_LINE_COUNTS, "file", RULE_FILE},    {TABLE_BRANCH_COUNTS, "file", RULE_FILE},
        {TABLE_REGION_COUNTS, "file", RULE_FILE},  {TABLE_SOURCE_LINES, "file", RULE_FILE},
        {TABLE_SOURCE_LINES, "text", RULE_SOURCE}, {TABLE_NOTES, "key", RULE_KEEP},
        {TABLE_NOTES, "text", RULE_WORDS},         {TABLE_FACTS, "key", RULE_KEEP},
        {TABLE_FACTS, "value", RULE_WORDS},        {TABLE_RUNS, "name", RULE_WORDS},
        {TABLE_RUNS, "command", RULE_WORDS},       {TABLE_RUNS, "conditions", RULE_WORDS},
        {TABLE_COVER_TOTALS, "file", RULE_FILE},   {TABLE_BRANCH_SITES, "file", RULE_FILE},
        {TABLE_SEGMENTS, "file", RULE_FILE},       {TABLE_EXCERPTS, "file", RULE_FILE},
        {TABLE_EXCERPTS, "text", RULE_FILE},       {TABLE_DECISIONS, "file", RULE_FILE},
        {TABLE_DECISIONS, "vectors", RULE_KEEP},   {TABLE_RUN_VALUES, "part", RULE_THREAD},
        {TABLE_SERIES, "part", RULE_THREAD},       {TABLE_WAITS, "object", RULE_WORDS},
        {TABLE_STATES, "object", RULE_WORDS},      {TABLE_CALL_VALUES, "name", RULE_WORDS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (rules[i].table == table && strcmp(rules[i].column, column) == 0)
            return rules[i].rule;
    return RULE_DROP;
}

typedef struct Sharing {
    const ShareOptions *options;
    uint64_t seed;
    StrBuf out;
} Sharing;

static void add_pseudonym(Sharing *s, const char *kind, Str text)
{
    uint64_t hash = bytes_hash_seeded(bytes_from_str(text), s->seed);
    strbuf_printf(&s->out, "%s_%012llx", kind, (unsigned long long)(hash >> 16));
}

// The suffix says which language a file is in: kept when it is short and plain.
static void add_file_pseudonym(Sharing *s, Str path)
{
    Str base = str_base_name(path);
    size_t dot = str_find_last_char(base, '.');
    add_pseudonym(s, "file", path);
    if (dot == SIZE_MAX || base.len - dot > 5)
        return;
    for (size_t i = dot + 1; i < base.len; i++)
        if ((base.ptr[i] | 32) < 'a' || (base.ptr[i] | 32) > 'z')
            return;
    strbuf_add(&s->out, str_slice(base, dot, base.len));
}

static bool is_special_module(Str path)
{
    return path.len == 0 || path.ptr[0] == '[' || str_starts_with(path, STR("//anon"));
}

// The names that assay gives itself say nothing about the program.
static bool is_own_interval(Str name)
{
    return str_equal(name, STR(INTERVAL_THREAD)) || str_equal(name, STR(INTERVAL_FORK)) ||
           str_equal(name, STR(INTERVAL_EXEC));
}

static void anonymise(Sharing *s, Rule rule, Str text)
{
    switch (rule) {
    case RULE_KEEP:
        strbuf_add(&s->out, text);
        break;
    case RULE_FUNCTION:
    case RULE_LINKAGE:
        add_pseudonym(s, "function", text);
        break;
    case RULE_MODULE:
        if (is_special_module(text))
            strbuf_add(&s->out, text);
        else
            add_pseudonym(s, "module", text);
        break;
    case RULE_FILE:
        add_file_pseudonym(s, text);
        break;
    case RULE_PROCESS:
        add_pseudonym(s, "process", text);
        break;
    case RULE_THREAD:
        add_pseudonym(s, "thread", text);
        break;
    case RULE_INTERVAL:
        if (is_own_interval(text))
            strbuf_add(&s->out, text);
        else
            add_pseudonym(s, "interval", text);
        break;
    case RULE_DROP:
    case RULE_WORDS:
    case RULE_BUILD_ID:
    case RULE_SOURCE:
        break;
    }
}

// Of each word that is a path the last component; quotes stay where they stand.
static void add_words_without_paths(Sharing *s, Str text)
{
    for (size_t i = 0; i < text.len;) {
        size_t end = i;
        while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != '\0')
            end++;
        Str word = str_slice(text, i, end);
        size_t quotes = 0;
        while (quotes < word.len && (word.ptr[quotes] == '\'' || word.ptr[quotes] == '"'))
            quotes++;
        strbuf_add(&s->out, str_slice(word, 0, quotes));
        strbuf_add(&s->out, str_base_name(str_slice(word, quotes, word.len)));
        if (end < text.len)
            strbuf_add_char(&s->out, text.ptr[end]);
        i = end + 1;
    }
}

static void strip(Sharing *s, Rule rule, Str text)
{
    bool is_path = rule == RULE_FILE || (rule == RULE_MODULE && !is_special_module(text));
    // A linkage name is the whole name: shorten_linkage_names puts the short one there.
    bool is_whole_name = rule == RULE_LINKAGE && s->options->names != NAME_FULL;
    if (rule == RULE_DROP || is_whole_name)
        return;
    if (s->options->strip_paths && is_path)
        strbuf_add(&s->out, str_base_name(text));
    else if (s->options->strip_paths && rule == RULE_WORDS)
        add_words_without_paths(s, text);
    else if (s->options->names != NAME_FULL && rule == RULE_FUNCTION)
        name_shorten(text, s->options->names, &s->out);
    else
        strbuf_add(&s->out, text);
}

// ---- Rows -----------------------------------------------------------------------------

static void pass_column(Profile *p, Sharing *s, Intern *fresh, Rule rule, const Column *c)
{
    RawVec *v = column_vec(p, c);
    uint32_t *ids = v->at;
    for (size_t i = 0; i < v->len; i++) {
        if (ids[i] == 0)
            continue;
        Str text = profile_text(p, (StrId){ids[i]});
        strbuf_clear(&s->out);
        if (s->options->anonymise)
            anonymise(s, rule, text);
        else
            strip(s, rule, text);
        ids[i] = intern_add(fresh, strbuf_str(&s->out));
    }
}

// Values that are texts, as a program had them in its memory: gone with all other texts, or kept.
static void pass_text_values(Profile *p, Sharing *s, Intern *fresh)
{
    for (uint32_t m = 0; m < p->samples.value_columns; m++) {
        I64Vec *v = &p->samples.values[m];
        for (size_t i = 0; metric_is_text(p, (MetricId){m}) && i < v->len; i++) {
            strbuf_clear(&s->out);
            bool is_text = v->at[i] > 0 && (uint64_t)v->at[i] < p->strings.texts.len;
            if (is_text && !s->options->anonymise)
                strip(s, RULE_WORDS, profile_text(p, (StrId){(uint32_t)v->at[i]}));
            v->at[i] = intern_add(fresh, strbuf_str(&s->out));
        }
    }
}

static void shorten_linkage_names(Profile *p)
{
    for (size_t i = 0; i < p->functions.name.len; i++)
        p->functions.linkage_name.at[i] = p->functions.name.at[i];
}

// Facts that reveal neither the program nor the machine.
static bool is_harmless(Str key)
{
    static const char *const keys[] = {
        FACT_COLLECTOR,       FACT_TOOL_VERSION,  FACT_WALL_NS,     FACT_USER_NS,
        FACT_SYSTEM_NS,       FACT_MAX_RSS_BYTES, FACT_EXIT_STATUS, FACT_ARCH,
        FACT_CPU_COUNT,       FACT_EVENT,         FACT_RATE_ASKED,  FACT_RATE_OBTAINED,
        FACT_SAMPLES_LOST,    FACT_THROTTLED,     FACT_STACK_MODE,  FACT_COUNTED_CPUS,
        FACT_COUNTED_THREADS, FACT_CLOCK,         FACT_INTERVAL,
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (str_equal(key, str_from_c(keys[i])))
            return true;
    return false;
}

static void keep_harmless(Profile *p, Intern *fresh, const Facts *facts)
{
    Facts kept = {0};
    for (size_t i = 0; i < facts->key.len; i++) {
        Str key = profile_text(p, facts->key.at[i]);
        if (!is_harmless(key))
            continue;
        vec_push(&p->arena, &kept.key, (StrId){intern_add(fresh, key)});
        vec_push(&p->arena, &kept.value,
                 (StrId){intern_add(fresh, profile_text(p, facts->value.at[i]))});
    }
    p->facts = kept;
}

// Addresses would tell which build of a known library a function is of.
static void number_addresses(Profile *p)
{
    for (size_t i = 1; i < p->frames.address.len; i++)
        if (!(p->frames.flags.at[i] & FRAME_CUT))
            p->frames.address.at[i] = i;
    p->source_lines = (SourceLines){0};
    p->notes = (Notes){0}; // their texts name files and machines
}

void profile_share(Profile *p, const ShareOptions *options)
{
    if (!options->anonymise && !options->strip_paths && options->names == NAME_FULL)
        return;
    Sharing s = {.options = options, .seed = str_hash(options->key)};
    Intern fresh;
    intern_init(&fresh, &p->arena);
    Facts facts = p->facts;
    pass_text_values(p, &s, &fresh);
    if (options->anonymise) {
        number_addresses(p);
        keep_harmless(p, &fresh, &facts);
    }
    for (size_t t = 0; t < profile_schema_count; t++) {
        const TableSchema *table = &profile_schema[t];
        if (options->anonymise && table->id == TABLE_FACTS)
            continue;
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].refers_to == TABLE_STRINGS)
                pass_column(p, &s, &fresh, rule_of(table->id, table->columns[c].name),
                            &table->columns[c]);
    }
    intern_deinit(&p->strings);
    p->strings = fresh;
    if (options->names != NAME_FULL && !options->anonymise)
        shorten_linkage_names(p);
    // Equal rows were told apart by texts that are equal now: the indexes are made anew.
    Table *const indexes[] = {&p->module_index, &p->function_index, &p->frame_index,
                              &p->stack_index, &p->source_index};
    for (size_t i = 0; i < ARRAY_LEN(indexes); i++)
        table_deinit(indexes[i]);
    p->unindexed_stacks = 0;
    strbuf_deinit(&s.out);
}

void profile_keep_samples(Profile *p, const uint32_t *rows, size_t count)
{
    Samples *s = &p->samples;
    for (size_t i = 0; i < count; i++) {
        s->time_ns.at[i] = s->time_ns.at[rows[i]];
        s->thread.at[i] = s->thread.at[rows[i]];
        s->stack.at[i] = s->stack.at[rows[i]];
        s->cpu.at[i] = s->cpu.at[rows[i]];
        for (size_t m = 0; m < s->value_columns; m++)
            s->values[m].at[i] = s->values[m].at[rows[i]];
    }
    s->time_ns.len = s->thread.len = s->stack.len = s->cpu.len = count;
    for (size_t m = 0; m < s->value_columns; m++)
        s->values[m].len = count;
}
