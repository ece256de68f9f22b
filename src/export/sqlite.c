// SPDX-License-Identifier: Apache-2.0
// A recording as a SQLite database, to be asked in SQL.
// Schema: docs/formats/sqlite.md.

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyse/calls/call_summary.h"
#include "export/export_internal.h"
#include "export/stack_sums_internal.h"

// Tables hold what was measured, views answer the common questions.
static const char schema[] =
    "CREATE TABLE info(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE notes(id INTEGER PRIMARY KEY, level TEXT NOT NULL, key TEXT NOT NULL,"
    " text TEXT NOT NULL);"
    "CREATE TABLE metrics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,"
    " event TEXT NOT NULL, kind TEXT NOT NULL, total INTEGER NOT NULL);"
    "CREATE TABLE modules(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT NOT NULL);"
    "CREATE TABLE processes(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent_pid INTEGER,"
    " name TEXT NOT NULL, start_ns INTEGER, end_ns INTEGER);"
    "CREATE TABLE threads(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes,"
    " tid INTEGER NOT NULL, name TEXT NOT NULL, start_ns INTEGER, end_ns INTEGER);"
    "CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
    " linkage_name TEXT NOT NULL, file TEXT, line INTEGER);"
    "CREATE TABLE frames(id INTEGER PRIMARY KEY, function_id INTEGER NOT NULL REFERENCES functions,"
    " module_id INTEGER REFERENCES modules, address INTEGER, file TEXT, line INTEGER,"
    " kernel INTEGER NOT NULL, inlined INTEGER NOT NULL, cut INTEGER NOT NULL);"
    "CREATE TABLE stacks(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES stacks,"
    " frame_id INTEGER NOT NULL REFERENCES frames, depth INTEGER NOT NULL,"
    " repeats INTEGER NOT NULL);"
    "CREATE TABLE samples(id INTEGER PRIMARY KEY, time_ns INTEGER, thread_id INTEGER NOT NULL"
    " REFERENCES threads, stack_id INTEGER REFERENCES stacks, cpu INTEGER);"
    "CREATE TABLE sample_values(sample_id INTEGER NOT NULL REFERENCES samples,"
    " metric_id INTEGER NOT NULL REFERENCES metrics, value INTEGER NOT NULL,"
    " PRIMARY KEY(sample_id, metric_id)) WITHOUT ROWID;"
    "CREATE TABLE sample_texts(sample_id INTEGER NOT NULL REFERENCES samples,"
    " metric_id INTEGER NOT NULL REFERENCES metrics, text TEXT NOT NULL,"
    " PRIMARY KEY(sample_id, metric_id)) WITHOUT ROWID;"
    "CREATE TABLE stack_values(stack_id INTEGER NOT NULL REFERENCES stacks,"
    " metric_id INTEGER NOT NULL REFERENCES metrics, self INTEGER NOT NULL,"
    " total INTEGER NOT NULL, self_samples INTEGER NOT NULL, PRIMARY KEY(stack_id, metric_id))"
    " WITHOUT ROWID;"
    "CREATE TABLE source_lines(file TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(file, line)) WITHOUT ROWID;"
    "CREATE TABLE line_counts(file TEXT NOT NULL, line INTEGER NOT NULL, count INTEGER NOT NULL);"
    "CREATE TABLE function_counts(name TEXT NOT NULL, file TEXT, line INTEGER,"
    " count INTEGER NOT NULL);"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, name TEXT NOT NULL, command TEXT NOT NULL,"
    " revision TEXT, conditions TEXT, start_ns INTEGER, wall_ns INTEGER, user_ns INTEGER,"
    " system_ns INTEGER, status INTEGER, round INTEGER NOT NULL, position INTEGER NOT NULL,"
    " warmup INTEGER NOT NULL);"
    "CREATE TABLE run_values(run_id INTEGER NOT NULL REFERENCES runs, metric_id INTEGER NOT NULL"
    " REFERENCES metrics, part TEXT, value REAL, enabled_ns INTEGER NOT NULL,"
    " running_ns INTEGER NOT NULL);"
    "CREATE TABLE series(metric_id INTEGER NOT NULL REFERENCES metrics, time_ns INTEGER,"
    " part TEXT, value REAL, enabled_ns INTEGER NOT NULL, running_ns INTEGER NOT NULL);"
    "CREATE TABLE intervals(thread_id INTEGER NOT NULL REFERENCES threads, start_ns INTEGER,"
    " end_ns INTEGER, name TEXT NOT NULL, detail TEXT);"
    "CREATE TABLE recorded_calls(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL"
    " REFERENCES threads, function TEXT NOT NULL, begin_ns INTEGER, end_ns INTEGER,"
    " duration_ns INTEGER, depth INTEGER NOT NULL, is_open INTEGER NOT NULL,"
    " is_late INTEGER NOT NULL, is_work INTEGER NOT NULL);"
    "CREATE TABLE recorded_call_values(call_id INTEGER NOT NULL REFERENCES recorded_calls,"
    " name TEXT NOT NULL, value INTEGER NOT NULL);"
    "CREATE TABLE waits(thread_id INTEGER NOT NULL REFERENCES threads, stack_id INTEGER,"
    " class TEXT NOT NULL, object TEXT, count INTEGER NOT NULL, blocked_ns INTEGER NOT NULL,"
    " runnable_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL);"
    "CREATE TABLE single_waits(thread_id INTEGER NOT NULL REFERENCES threads, stack_id INTEGER,"
    " class TEXT NOT NULL, object TEXT, start_ns INTEGER, woken_ns INTEGER, end_ns INTEGER);"

    "CREATE VIEW counts AS"
    " SELECT r.name AS run, v.part AS part, m.name AS event, count(v.value) AS runs,"
    " avg(v.value) AS mean, min(v.value) AS least, max(v.value) AS most,"
    " round(100.0 * sum(v.running_ns) / nullif(sum(v.enabled_ns), 0), 2) AS counted_percent"
    " FROM run_values v JOIN runs r ON r.id = v.run_id JOIN metrics m ON m.id = v.metric_id"
    " WHERE NOT r.warmup GROUP BY r.name, v.part, v.metric_id"
    " ORDER BY min(r.id), v.part, v.metric_id;"

    "CREATE VIEW hottest_functions AS"
    " SELECT m.name AS metric, f.name AS function, sum(v.self) AS self,"
    " round(100.0 * sum(v.self) / nullif(m.total, 0), 2) AS self_percent,"
    " sum(CASE WHEN s.repeats THEN 0 ELSE v.total END) AS total,"
    " round(100.0 * sum(CASE WHEN s.repeats THEN 0 ELSE v.total END) / nullif(m.total, 0), 2)"
    " AS total_percent, sum(v.self_samples) AS self_samples, f.file AS file, f.line AS line"
    " FROM stack_values v JOIN stacks s ON s.id = v.stack_id"
    " JOIN frames r ON r.id = s.frame_id JOIN functions f ON f.id = r.function_id"
    " JOIN metrics m ON m.id = v.metric_id WHERE NOT r.cut"
    " GROUP BY v.metric_id, f.id ORDER BY v.metric_id, sum(v.self) DESC, f.id;"

    "CREATE VIEW hottest_lines AS"
    " SELECT m.name AS metric, r.file AS file, r.line AS line, sum(v.self) AS self,"
    " round(100.0 * sum(v.self) / nullif(m.total, 0), 2) AS self_percent, t.text AS text"
    " FROM stack_values v JOIN stacks s ON s.id = v.stack_id"
    " JOIN frames r ON r.id = s.frame_id JOIN metrics m ON m.id = v.metric_id"
    " LEFT JOIN source_lines t ON t.file = r.file AND t.line = r.line"
    " WHERE r.file IS NOT NULL AND r.line IS NOT NULL AND v.self > 0"
    " GROUP BY v.metric_id, r.file, r.line ORDER BY v.metric_id, sum(v.self) DESC, r.file, r.line;"

    "CREATE VIEW calls AS"
    " SELECT m.name AS metric, c.name AS caller, f.name AS callee, sum(v.total) AS total"
    " FROM stack_values v JOIN stacks s ON s.id = v.stack_id"
    " JOIN frames r ON r.id = s.frame_id JOIN functions f ON f.id = r.function_id"
    " JOIN stacks above ON above.id = s.parent_id JOIN frames q ON q.id = above.frame_id"
    " JOIN functions c ON c.id = q.function_id JOIN metrics m ON m.id = v.metric_id"
    " WHERE NOT s.repeats AND NOT r.cut AND NOT q.cut"
    " GROUP BY v.metric_id, c.id, f.id ORDER BY v.metric_id, sum(v.total) DESC, c.id, f.id;"

    "CREATE VIEW frequent_texts AS"
    " SELECT m.name AS metric, t.text AS text, count(*) AS samples"
    " FROM sample_texts t JOIN metrics m ON m.id = t.metric_id"
    " GROUP BY t.metric_id, t.text ORDER BY t.metric_id, count(*) DESC, t.text;"

    "CREATE VIEW by_thread AS"
    " SELECT m.name AS metric, p.pid AS pid, t.tid AS tid, t.name AS thread,"
    " sum(v.value) AS value, round(100.0 * sum(v.value) / nullif(m.total, 0), 2) AS percent,"
    " count(*) AS samples"
    " FROM sample_values v JOIN samples s ON s.id = v.sample_id JOIN threads t ON"
    " t.id = s.thread_id JOIN processes p ON p.id = t.process_id"
    " JOIN metrics m ON m.id = v.metric_id"
    " GROUP BY v.metric_id, t.id ORDER BY v.metric_id, sum(v.value) DESC, t.id;"

    "CREATE VIEW thread_functions AS"
    " SELECT m.name AS metric, p.pid AS pid, t.tid AS tid, t.name AS thread,"
    " f.name AS function, sum(v.value) AS self"
    " FROM sample_values v JOIN samples s ON s.id = v.sample_id JOIN stacks k ON k.id = s.stack_id"
    " JOIN frames r ON r.id = k.frame_id JOIN functions f ON f.id = r.function_id"
    " JOIN threads t ON t.id = s.thread_id JOIN processes p ON p.id = t.process_id"
    " JOIN metrics m ON m.id = v.metric_id GROUP BY v.metric_id, t.id, f.id"
    " ORDER BY v.metric_id, t.id, sum(v.value) DESC, f.id;"

    "CREATE VIEW over_time AS"
    " SELECT m.name AS metric, s.time_ns / 100000000 / 10.0 AS second, sum(v.value) AS value,"
    " count(*) AS samples FROM sample_values v JOIN samples s ON s.id = v.sample_id"
    " JOIN metrics m ON m.id = v.metric_id WHERE s.time_ns IS NOT NULL"
    " GROUP BY v.metric_id, s.time_ns / 100000000 ORDER BY v.metric_id, s.time_ns / 100000000;"

    "CREATE VIEW functions_over_time AS"
    " SELECT m.name AS metric, s.time_ns / 100000000 / 10.0 AS second, f.name AS function,"
    " sum(v.value) AS self FROM sample_values v JOIN samples s ON s.id = v.sample_id"
    " JOIN stacks k ON k.id = s.stack_id JOIN frames r ON r.id = k.frame_id"
    " JOIN functions f ON f.id = r.function_id JOIN metrics m ON m.id = v.metric_id"
    " WHERE s.time_ns IS NOT NULL GROUP BY v.metric_id, s.time_ns / 100000000, f.id"
    " ORDER BY v.metric_id, s.time_ns / 100000000, sum(v.value) DESC, f.id;"

    "CREATE VIEW stack_paths AS"
    " WITH RECURSIVE up(stack_id, at, path) AS"
    " (SELECT s.id, s.parent_id, f.name FROM stacks s JOIN frames r ON r.id = s.frame_id"
    " JOIN functions f ON f.id = r.function_id"
    " UNION ALL SELECT up.stack_id, s.parent_id, f.name || ';' || up.path FROM up"
    " JOIN stacks s ON s.id = up.at JOIN frames r ON r.id = s.frame_id"
    " JOIN functions f ON f.id = r.function_id)"
    " SELECT stack_id, path FROM up WHERE at IS NULL;";

typedef struct Database {
    sqlite3 *sql;
    sqlite3_stmt *insert; // of the table under way
    bool failed;
    char why[256]; // the first failure
} Database;

static void note_failure(Database *db)
{
    if (!db->failed)
        snprintf(db->why, sizeof(db->why), "%s", sqlite3_errmsg(db->sql));
    db->failed = true;
}

static void execute(Database *db, const char *sql)
{
    if (!db->failed && sqlite3_exec(db->sql, sql, NULL, NULL, NULL) != SQLITE_OK)
        note_failure(db);
}

// The statement that the rows up to end_table go through.
static void begin_table(Database *db, const char *insert)
{
    if (!db->failed && sqlite3_prepare_v2(db->sql, insert, -1, &db->insert, NULL) != SQLITE_OK)
        note_failure(db);
}

static void end_table(Database *db)
{
    sqlite3_finalize(db->insert);
    db->insert = NULL;
}

// SQLite's text ends at a NUL and is UTF-8: what is neither becomes U+FFFD.
static void bind_text(Database *db, int at, Str s)
{
    StrBuf clean = {0};
    for (size_t i = 0; i < s.len;) {
        size_t from = i;
        uint32_t code = utf8_next(s, &i);
        strbuf_add(&clean,
                   code == 0xfffd || code == 0 ? STR("\xef\xbf\xbd") : str_slice(s, from, i));
    }
    Str text = strbuf_str(&clean);
    sqlite3_bind_text64(db->insert, at, text.len ? text.ptr : "", text.len, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    strbuf_deinit(&clean);
}

// One row: a letter for each column. i int64_t; n the same, TIME_NONE and
// negative are NULL; d double, NaN is NULL; t Str; o Str, "" is NULL.
static void add_row(Database *db, const char *types, ...)
{
    if (db->failed)
        return;
    va_list args;
    va_start(args, types);
    for (int at = 1; types[at - 1]; at++) {
        char type = types[at - 1];
        if (type == 'i' || type == 'n') {
            int64_t value = va_arg(args, int64_t);
            if (type == 'n' && value < 0)
                sqlite3_bind_null(db->insert, at);
            else
                sqlite3_bind_int64(db->insert, at, value);
        } else if (type == 'd') {
            sqlite3_bind_double(db->insert, at, va_arg(args, double));
        } else {
            Str text = va_arg(args, Str);
            if (type == 'o' && text.len == 0)
                sqlite3_bind_null(db->insert, at);
            else
                bind_text(db, at, text);
        }
    }
    va_end(args);
    if (sqlite3_step(db->insert) != SQLITE_DONE)
        note_failure(db);
    sqlite3_reset(db->insert);
}

// ---- Measured values ------------------------------------------------------------

typedef struct Writer {
    ExportSet set;
    const Profile *p;
    Database db;
    ExportShape shape;
    StrBuf name;
} Writer;

static void add_info(Writer *w)
{
    const Profile *p = w->p;
    begin_table(&w->db, "INSERT OR REPLACE INTO info VALUES(?,?)");
    for (size_t i = 0; i < p->facts.key.len; i++)
        add_row(&w->db, "tt", profile_text(p, p->facts.key.at[i]),
                profile_text(p, p->facts.value.at[i]));
    add_row(&w->db, "tt", STR("schema-version"), STR("1"));
    add_row(&w->db, "tt", STR("exported-by"), w->set.request->tool_version);
    end_table(&w->db);
    begin_table(&w->db, "INSERT INTO notes VALUES(?,?,?,?)");
    for (size_t i = 0; i < p->notes.key.len; i++)
        add_row(&w->db, "ittt", (int64_t)i + 1,
                p->notes.level.at[i] == NOTE_WARNING ? STR("warning") : STR("info"),
                profile_text(p, p->notes.key.at[i]), profile_text(p, p->notes.text.at[i]));
    end_table(&w->db);
}

static void add_modules(Writer *w)
{
    const Profile *p = w->p;
    uint8_t *used = heap_alloc(p->modules.path.len + 1);
    for (size_t i = 0; i < w->set.frames.len; i++)
        used[p->frames.module.at[w->set.frames.at[i]].v] = 1;
    begin_table(&w->db, "INSERT INTO modules VALUES(?,?,?)");
    for (size_t m = 1; m < p->modules.path.len; m++)
        if (used[m])
            add_row(&w->db, "itt", (int64_t)m, profile_text(p, p->modules.path.at[m]),
                    profile_text(p, p->modules.build_id.at[m]));
    end_table(&w->db);
    heap_free(used);
}

static void add_threads(Writer *w)
{
    const Profile *p = w->p;
    uint8_t *used = heap_alloc(p->processes.pid.len + 1);
    begin_table(&w->db, "INSERT INTO threads VALUES(?,?,?,?,?,?)");
    for (size_t i = 0; i < w->set.threads.len; i++) {
        uint32_t t = w->set.threads.at[i], process = p->threads.process.at[t].v;
        used[process] = 1;
        add_row(&w->db, "iiitnn", (int64_t)i + 1, (int64_t)process + 1,
                (int64_t)p->threads.tid.at[t], profile_text(p, p->threads.name.at[t]),
                p->threads.start_ns.at[t], p->threads.end_ns.at[t]);
    }
    end_table(&w->db);
    begin_table(&w->db, "INSERT INTO processes VALUES(?,?,?,?,?,?)");
    for (size_t i = 0; i < p->processes.pid.len; i++)
        if (used[i])
            add_row(&w->db, "iiitnn", (int64_t)i + 1, (int64_t)p->processes.pid.at[i],
                    (int64_t)p->processes.parent_pid.at[i],
                    profile_text(p, p->processes.name.at[i]), p->processes.start_ns.at[i],
                    p->processes.end_ns.at[i]);
    end_table(&w->db);
    heap_free(used);
}

static int64_t line_or_null(uint32_t line)
{
    return line ? (int64_t)line : -1;
}

static void add_functions(Writer *w)
{
    const Profile *p = w->p;
    begin_table(&w->db, "INSERT INTO functions VALUES(?,?,?,?,?)");
    for (size_t i = 0; i < w->set.functions.len; i++) {
        uint32_t key = w->set.functions.at[i];
        uint32_t function = p->frames.function.at[w->set.keys.first.at[key].v].v;
        strbuf_clear(&w->name);
        export_add_name(&w->set, key, &w->name);
        add_row(&w->db, "itton", (int64_t)i + 1, strbuf_str(&w->name),
                profile_text(p, p->functions.linkage_name.at[function]),
                profile_text(p, p->functions.file.at[function]),
                line_or_null(p->functions.line.at[function]));
    }
    end_table(&w->db);
}

static void add_frames(Writer *w)
{
    const Profile *p = w->p;
    begin_table(&w->db, "INSERT INTO frames VALUES(?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < w->set.frames.len; i++) {
        uint32_t f = w->set.frames.at[i], module = p->frames.module.at[f].v;
        uint8_t flags = p->frames.flags.at[f];
        bool is_cut = flags & FRAME_CUT;
        add_row(
            &w->db, "iinioniii", (int64_t)i + 1,
            (int64_t)w->set.row_of_key[w->set.keys.of_frame[f]] + 1, module ? (int64_t)module : -1,
            // Kernel addresses are over 2^63: SQLite has them as negative numbers.
            is_cut ? 0 : (int64_t)p->frames.address.at[f], profile_text(p, p->frames.file.at[f]),
            line_or_null(p->frames.line.at[f]), (int64_t)((flags & FRAME_KERNEL) != 0),
            (int64_t)((flags & FRAME_INLINED) || p->frames.inlined_in.at[f].v), (int64_t)is_cut);
    }
    end_table(&w->db);
}

static void add_stacks(Writer *w)
{
    w->shape = export_shape(&w->set);
    begin_table(&w->db, "INSERT INTO stacks VALUES(?,?,?,?,?)");
    for (size_t i = 0; i < w->set.stacks.len; i++) {
        const ExportStack *s = &w->set.stacks.at[i];
        add_row(&w->db, "iniii", (int64_t)i + 1,
                s->parent == EXPORT_NONE ? -1 : (int64_t)s->parent + 1,
                (int64_t)w->set.row_of_frame[s->frame] + 1, (int64_t)w->shape.depth[i],
                (int64_t)w->shape.repeats[i]);
    }
    end_table(&w->db);
}

static void add_samples(Writer *w)
{
    const Samples *s = &w->p->samples;
    begin_table(&w->db, "INSERT INTO samples VALUES(?,?,?,?,?)");
    for (size_t i = 0; i < w->set.samples.len; i++) {
        uint32_t at = w->set.samples.at[i];
        add_row(&w->db, "ininn", (int64_t)i + 1, s->time_ns.at[at],
                (int64_t)w->set.row_of_thread[s->thread.at[at].v] + 1,
                export_stack_number(&w->set, s->stack.at[at].v),
                s->cpu.at[at] == SAMPLE_CPU_NONE ? -1 : (int64_t)s->cpu.at[at]);
    }
    end_table(&w->db);
    begin_table(&w->db, "INSERT INTO sample_values VALUES(?,?,?)");
    for (size_t i = 0; i < w->set.samples.len; i++)
        for (size_t m = 0; m < w->p->metrics.name.len; m++) {
            int64_t value = s->values[m].at[w->set.samples.at[i]];
            if (export_wants_metric(&w->set, m) && value > 0 &&
                !metric_is_text(w->p, (MetricId){(uint32_t)m}))
                add_row(&w->db, "iii", (int64_t)i + 1, (int64_t)m + 1, value);
        }
    end_table(&w->db);
}

static void add_texts(Writer *w)
{
    Str text;
    begin_table(&w->db, "INSERT INTO sample_texts VALUES(?,?,?)");
    for (size_t i = 0; i < w->set.samples.len; i++)
        for (size_t m = 0; m < w->p->metrics.name.len; m++)
            if (export_wants_metric(&w->set, m) &&
                export_text_of(&w->set, m, w->set.samples.at[i], &text))
                add_row(&w->db, "iit", (int64_t)i + 1, (int64_t)m + 1, text);
    end_table(&w->db);
}

static void add_metrics(Writer *w)
{
    const Profile *p = w->p;
    ExportTotals *rows = heap_alloc((w->set.stacks.len + 1) * sizeof(ExportTotals));
    for (size_t m = 0; m < p->metrics.name.len; m++) {
        if (!export_wants_metric(&w->set, m))
            continue;
        bool is_text = metric_is_text(p, (MetricId){(uint32_t)m});
        uint64_t sum = is_text ? export_count_texts(&w->set, m) : export_add_up(&w->set, m, rows);
        begin_table(&w->db, "INSERT INTO metrics VALUES(?,?,?,?,?,?)");
        add_row(&w->db, "itttti", (int64_t)m + 1, profile_text(p, p->metrics.name.at[m]),
                profile_text(p, p->metrics.unit.at[m]), profile_text(p, p->metrics.event.at[m]),
                export_metric_kind(p, m), (int64_t)sum);
        end_table(&w->db);
        begin_table(&w->db, "INSERT INTO stack_values VALUES(?,?,?,?,?)");
        for (size_t i = 0; i < w->set.stacks.len && !is_text; i++)
            if (rows[i].total)
                add_row(&w->db, "iiiii", (int64_t)i + 1, (int64_t)m + 1, (int64_t)rows[i].self,
                        (int64_t)rows[i].total, (int64_t)rows[i].samples);
        end_table(&w->db);
    }
    heap_free(rows);
}

// Text of source lines, only of the files that used frames are in.
static void add_sources(Writer *w)
{
    const Profile *p = w->p;
    uint8_t *used = heap_alloc(p->strings.texts.len + 1);
    for (size_t i = 0; i < w->set.frames.len; i++)
        used[p->frames.file.at[w->set.frames.at[i]].v] = 1;
    begin_table(&w->db, "INSERT OR IGNORE INTO source_lines VALUES(?,?,?)");
    for (size_t i = 0; i < p->source_lines.line.len; i++)
        if (used[p->source_lines.file.at[i].v])
            add_row(&w->db, "tit", profile_text(p, p->source_lines.file.at[i]),
                    (int64_t)p->source_lines.line.at[i],
                    profile_text(p, p->source_lines.text.at[i]));
    end_table(&w->db);
    heap_free(used);
}

static int64_t capped(uint64_t count)
{
    return (int64_t)MIN(count, (uint64_t)INT64_MAX);
}

static void add_counts(Writer *w)
{
    const Profile *p = w->p;
    begin_table(&w->db, "INSERT INTO line_counts VALUES(?,?,?)");
    for (size_t i = 0; i < p->line_counts.line.len; i++)
        add_row(&w->db, "tii", profile_text(p, p->line_counts.file.at[i]),
                (int64_t)p->line_counts.line.at[i], capped(p->line_counts.count.at[i]));
    end_table(&w->db);
    begin_table(&w->db, "INSERT INTO function_counts VALUES(?,?,?,?)");
    for (size_t i = 0; i < p->function_counts.count.len; i++) {
        uint32_t f = p->function_counts.function.at[i].v;
        add_row(&w->db, "toni", profile_text(p, p->functions.name.at[f]),
                profile_text(p, p->functions.file.at[f]), line_or_null(p->functions.line.at[f]),
                capped(p->function_counts.count.at[i]));
    }
    end_table(&w->db);
}

static void add_runs(Writer *w)
{
    const Profile *p = w->p;
    const RunValues *v = &p->run_values;
    begin_table(&w->db, "INSERT INTO runs VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < p->runs.name.len; i++) {
        RunRow run = profile_run(p, (RunId){i});
        add_row(&w->db, "ittoonnnnniii", (int64_t)i + 1, profile_text(p, run.name),
                profile_text(p, run.command), profile_text(p, run.revision),
                profile_text(p, run.conditions), run.start_ns, run.wall_ns, run.user_ns,
                run.system_ns, run.status == RUN_STATUS_NONE ? (int64_t)-1 : (int64_t)run.status,
                (int64_t)run.round, (int64_t)run.position,
                (int64_t)((run.flags & RUN_NO_STATISTIC) != 0));
    }
    end_table(&w->db);
    begin_table(&w->db, "INSERT INTO run_values VALUES(?,?,?,?,?,?)");
    for (size_t i = 0; i < v->run.len; i++)
        if (export_wants_metric(&w->set, v->metric.at[i].v))
            add_row(&w->db, "iiodii", (int64_t)v->run.at[i].v + 1, (int64_t)v->metric.at[i].v + 1,
                    profile_text(p, v->part.at[i]), v->value.at[i], capped(v->enabled_ns.at[i]),
                    capped(v->running_ns.at[i]));
    end_table(&w->db);
}

static void add_series(Writer *w)
{
    const Profile *p = w->p;
    const Series *s = &p->series;
    begin_table(&w->db, "INSERT INTO series VALUES(?,?,?,?,?,?)");
    for (size_t i = 0; i < s->metric.len; i++)
        if (export_wants_metric(&w->set, s->metric.at[i].v))
            add_row(&w->db, "inodii", (int64_t)s->metric.at[i].v + 1, s->time_ns.at[i],
                    profile_text(p, s->part.at[i]), s->value.at[i], capped(s->enabled_ns.at[i]),
                    capped(s->running_ns.at[i]));
    end_table(&w->db);
}

static void add_intervals(Writer *w)
{
    ExportIntervals all = export_intervals(&w->set, false, false);
    begin_table(&w->db, "INSERT INTO intervals VALUES(?,?,?,?,?)");
    for (size_t i = 0; i < all.starts[w->set.threads.len]; i++) {
        const ExportInterval *in = &all.at[i];
        add_row(&w->db, "iiito", (int64_t)in->thread + 1, in->start_ns, in->end_ns, in->name,
                in->detail);
    }
    end_table(&w->db);
    export_intervals_deinit(&all);
}

static void add_calls(Writer *w)
{
    const Profile *p = w->p;
    const Calls *c = &p->calls;
    Arena scratch = {0};
    begin_table(&w->db, "INSERT INTO recorded_calls VALUES(?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < c->thread.len; i++) {
        if (!export_has_call(&w->set, i))
            continue;
        bool is_open = c->flags.at[i] & CALL_IS_OPEN;
        arena_clear(&scratch);
        add_row(&w->db, "iitiiniiii", (int64_t)i + 1,
                (int64_t)w->set.row_of_thread[c->thread.at[i].v] + 1,
                export_call_name(&scratch, &w->set, i), c->begin_ns.at[i], c->end_ns.at[i],
                is_open ? (int64_t)-1 : call_duration_ns(p, (uint32_t)i), (int64_t)c->depth.at[i],
                (int64_t)is_open, (int64_t)((c->flags.at[i] & CALL_ENDS_LATE) != 0),
                (int64_t)((c->flags.at[i] & CALL_IS_WORK) != 0));
    }
    end_table(&w->db);
    arena_deinit(&scratch);
    begin_table(&w->db, "INSERT INTO recorded_call_values VALUES(?,?,?)");
    for (size_t i = 0; i < p->call_values.call.len; i++)
        if (export_has_call(&w->set, p->call_values.call.at[i]))
            add_row(&w->db, "iti", (int64_t)p->call_values.call.at[i] + 1,
                    profile_text(p, p->call_values.name.at[i]), p->call_values.value.at[i]);
    end_table(&w->db);
}

static int64_t stack_or_null(const ExportSet *s, StackId stack)
{
    uint32_t row = stack.v ? s->row_of_stack[stack.v] : EXPORT_NONE;
    return row == EXPORT_NONE ? -1 : (int64_t)row + 1;
}

static void add_waits(Writer *w)
{
    const Profile *p = w->p;
    const Waits *t = &p->waits;
    begin_table(&w->db, "INSERT INTO waits VALUES(?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < t->thread.len; i++)
        if (export_has_wait(&w->set, i))
            add_row(&w->db, "intoiiii", (int64_t)w->set.row_of_thread[t->thread.at[i].v] + 1,
                    stack_or_null(&w->set, t->stack.at[i]),
                    str_from_c(wait_class_name((WaitClass)t->state.at[i])),
                    profile_text(p, t->object.at[i]), capped(t->count.at[i]),
                    capped(t->blocked_ns.at[i]), capped(t->runnable_ns.at[i]),
                    capped(t->longest_ns.at[i]));
    end_table(&w->db);
    ExportIntervals all = export_intervals(&w->set, false, true);
    begin_table(&w->db, "INSERT INTO single_waits VALUES(?,?,?,?,?,?,?)");
    for (size_t i = 0; i < all.starts[w->set.threads.len]; i++) {
        const ExportInterval *in = &all.at[i];
        if (in->kind == EXPORT_WAIT)
            add_row(&w->db, "intoini", (int64_t)in->thread + 1,
                    stack_or_null(&w->set, p->states.stack.at[in->row]), in->name, in->detail,
                    p->states.start_ns.at[in->row], p->states.woken_ns.at[in->row],
                    p->states.end_ns.at[in->row]);
    }
    end_table(&w->db);
    export_intervals_deinit(&all);
}

static bool hand_on(Database *db, const ExportSink *sink, Error *err)
{
    sqlite3_int64 size = 0;
    unsigned char *bytes = db->failed ? NULL : sqlite3_serialize(db->sql, "main", &size, 0);
    if (!bytes)
        return error_set(err, ERROR_LIMIT, "cannot build the database: %s",
                         db->failed ? db->why : "out of memory");
    bool ok = sink->write(sink->ctx, str_over((const char *)bytes, (size_t)size));
    sqlite3_free(bytes);
    if (!ok && err)
        *err = (Error){0};
    return ok;
}

static void fill(Writer *w)
{
    execute(&w->db, schema);
    execute(&w->db, "BEGIN");
    add_info(w);
    add_modules(w);
    add_threads(w);
    add_functions(w);
    add_frames(w);
    add_stacks(w);
    add_samples(w);
    add_texts(w);
    add_metrics(w);
    add_sources(w);
    add_counts(w);
    add_runs(w);
    add_series(w);
    add_intervals(w);
    add_calls(w);
    add_waits(w);
    execute(&w->db, "COMMIT");
    execute(&w->db, "PRAGMA user_version=1");
}

bool export_sqlite(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                   Error *err)
{
    Writer w = {.p = p};
    if (!export_set_init(&w.set, p, request, request->all_metrics, err))
        return false;
    export_set_add_events(&w.set);
    bool ok = sqlite3_open(":memory:", &w.db.sql) == SQLITE_OK;
    if (!ok)
        note_failure(&w.db);
    fill(&w);
    ok = hand_on(&w.db, sink, err);
    sqlite3_close(w.db.sql);
    strbuf_deinit(&w.name);
    export_shape_deinit(&w.shape);
    export_set_deinit(&w.set);
    return ok;
}
