// SPDX-License-Identifier: Apache-2.0
// Saved benches in SQLite.

#include "collect/bench/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "os/file.h"

// "assy" as application_id, and the version of the tables.
enum { APPLICATION_ID = 0x61737379, SCHEMA_VERSION = 1, BUSY_MS = 30000 };

struct BaselineDb {
    sqlite3 *sql;
    Arena arena;
    Str path, folder;
};

static const char schema[] =
    "CREATE TABLE session(id INTEGER PRIMARY KEY, name TEXT NOT NULL, created_s INTEGER NOT NULL,"
    " version TEXT, command_line TEXT, hostname TEXT, kernel TEXT, cpu_model TEXT, cpus INTEGER,"
    " governor TEXT, load REAL, clock TEXT, interleaved INTEGER, seed INTEGER);"
    "CREATE INDEX session_name ON session(name, id);"
    "CREATE TABLE command(id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session(id),"
    " position INTEGER NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, parameters TEXT,"
    " program TEXT, program_hash TEXT, shell_time REAL);"
    "CREATE INDEX command_session ON command(session, position);"
    "CREATE TABLE run(command INTEGER NOT NULL REFERENCES command(id), number INTEGER NOT NULL,"
    " round INTEGER, position INTEGER, time REAL NOT NULL, wall_ns INTEGER, waited_ns INTEGER,"
    " user_ns INTEGER, system_ns INTEGER, run_delay_ns INTEGER, max_rss_bytes INTEGER,"
    " minor_faults INTEGER, major_faults INTEGER, status INTEGER,"
    " PRIMARY KEY(command, number)) WITHOUT ROWID;";

static bool fail(BaselineDb *db, const char *what, Error *err)
{
    int code = sqlite3_errcode(db->sql);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
        error_set(err, ERROR_FORMAT, "cannot %s '%" STR_FMT "': %s", what, STR_ARG(db->path),
                  sqlite3_errmsg(db->sql));
        return error_hint(err, "the file is not changed; move it away to start a new one");
    }
    return error_set(err, ERROR_OS, "cannot %s '%" STR_FMT "': %s", what, STR_ARG(db->path),
                     sqlite3_errmsg(db->sql));
}

static bool execute(BaselineDb *db, const char *sql, const char *what, Error *err)
{
    return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK || fail(db, what, err);
}

static bool pragma(BaselineDb *db, const char *sql, int64_t *ret, Error *err)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) != SQLITE_OK)
        return fail(db, "read", err);
    bool ok = sqlite3_step(s) == SQLITE_ROW;
    *ret = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return ok || fail(db, "read", err);
}

// Makes the tables in an empty file. Fails on a database of another program.
static bool check_schema(BaselineDb *db, bool create, Error *err)
{
    int64_t application = 0, version = 0, tables = 0;
    if (!pragma(db, "SELECT count(*) FROM sqlite_schema", &tables, err) ||
        !pragma(db, "PRAGMA application_id", &application, err) ||
        !pragma(db, "PRAGMA user_version", &version, err))
        return false;
    if (tables > 0 && application != APPLICATION_ID)
        return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is a database of something else",
                         STR_ARG(db->path));
    if (version > SCHEMA_VERSION)
        return error_set(err, ERROR_UNSUPPORTED,
                         "'%" STR_FMT "' has version %" PRId64 ", this assay knows %d",
                         STR_ARG(db->path), version, SCHEMA_VERSION);
    if (tables > 0)
        return true;
    if (!create)
        return error_set(err, ERROR_NOT_FOUND, "nothing is saved in '%" STR_FMT "'",
                         STR_ARG(db->path));
    char set[128];
    snprintf(set, sizeof(set), "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION_ID,
             SCHEMA_VERSION);
    return execute(db, schema, "set up", err) && execute(db, set, "set up", err);
}

// SQLite follows no link at the path then. Only one of our own is followed (baseline_open).
static int open_sql(BaselineDb *db, int flags)
{
    const char *path = arena_c_str(&db->arena, db->path);
    const char *folder = db->folder.len ? arena_c_str(&db->arena, db->folder) : ".";
    struct stat st;
    char real[PATH_MAX];
    if ((lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) || !realpath(folder, real))
        return sqlite3_open_v2(path, &db->sql, flags, NULL);
    Str at = arena_printf(&db->arena, "%s/%" STR_FMT, real, STR_ARG(str_base_name(db->path)));
    return sqlite3_open_v2(arena_c_str(&db->arena, at), &db->sql, flags | SQLITE_OPEN_NOFOLLOW,
                           NULL);
}

bool baseline_open(Str path, bool create, BaselineDb **ret, Error *err)
{
    BaselineDb *db = heap_alloc(sizeof(*db));
    db->path = arena_str(&db->arena, path);
    db->folder = str_dir_name(db->path);
    // Programs that were saved are run again.
    bool ok = os_check_way_not_planted(db->path, err);
    if (ok && !create && !os_file_exists(db->path)) {
        ok = error_set(err, ERROR_NOT_FOUND, "nothing is saved here: there is no '%" STR_FMT "'",
                       STR_ARG(path));
        error_hint(err, "save a bench with --save NAME");
    }
    ok = ok && (!create || db->folder.len == 0 || os_make_folders(db->folder, err));
    if (ok && open_sql(db, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0)) != SQLITE_OK)
        ok = fail(db, "open", err);
    // Set up under the write lock: two first benches at once make it once.
    if (ok) {
        sqlite3_busy_timeout(db->sql, BUSY_MS);
        ok = execute(db, create ? "BEGIN IMMEDIATE" : "BEGIN", "open", err) &&
             check_schema(db, create, err);
        sqlite3_exec(db->sql, ok ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    }
    if (!ok) {
        baseline_close(db);
        return false;
    }
    *ret = db;
    return true;
}

void baseline_close(BaselineDb *db)
{
    if (!db)
        return;
    sqlite3_close(db->sql);
    arena_deinit(&db->arena);
    heap_free(db);
}

// ---- Statements ------------------------------------------------------------

static sqlite3_stmt *statement(BaselineDb *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);
    return s; // every call below fails on NULL, and reports it
}

static void put_text(sqlite3_stmt *s, int at, Str text)
{
    sqlite3_bind_text(s, at, text.ptr ? text.ptr : "", (int)text.len, SQLITE_TRANSIENT);
}

static bool finish(BaselineDb *db, sqlite3_stmt *s, Error *err)
{
    bool ok = s && sqlite3_step(s) == SQLITE_DONE;
    if (!ok)
        fail(db, "write", err);
    sqlite3_finalize(s);
    return ok;
}

static Str get_text(Arena *arena, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    int len = sqlite3_column_bytes(s, column);
    return arena_str(arena, str_over(text ? text : "", text ? (size_t)len : 0));
}

// ---- Programs --------------------------------------------------------------

static Str copy_path(Arena *arena, const BaselineDb *db, Str hash)
{
    return arena_printf(arena, "%" STR_FMT "%sprograms/%" STR_FMT, STR_ARG(db->folder),
                        db->folder.len ? "/" : "", STR_ARG(hash));
}

// Gives the hash of a program, and copies the program unless there is a copy.
static bool keep_program(BaselineDb *db, Arena *arena, const BenchCommand *c, Str *hash, Error *err)
{
    MappedFile file;
    *hash = STR("");
    if (c->via_shell || !os_map_file(str_from_c(c->path), &file, err))
        return c->via_shell;
    *hash = arena_printf(arena, "%016" PRIx64, bytes_hash(file.bytes));
    Str path = copy_path(arena, db, *hash);
    bool ok = true;
    if (file.bytes.len <= BASELINE_PROGRAM_MAX && !os_file_exists(path)) {
        OutputFile out;
        ok = os_make_folders(str_dir_name(path), err) &&
             os_output_open(path, OUTPUT_REPLACE, &out, err);
        if (ok) {
            fwrite(file.bytes.ptr, 1, file.bytes.len, out.stream);
            ok = fchmod(fileno(out.stream), 0755) == 0 || error_os(err, "cannot keep the program");
            if (ok)
                ok = os_output_commit(&out, err);
            else
                os_output_abort(&out);
        }
    }
    os_unmap_file(&file);
    return ok;
}

// ---- Saving ----------------------------------------------------------------

static bool save_session(BaselineDb *db, Str name, const Bench *b, const RunMachine *m,
                         Str command_line, Error *err)
{
    sqlite3_stmt *s = statement(db, "INSERT INTO session VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    put_text(s, 1, name);
    sqlite3_bind_int64(s, 2, time(NULL));
    put_text(s, 3, STR(ASSAY_VERSION));
    put_text(s, 4, command_line);
    put_text(s, 5, m->hostname);
    put_text(s, 6, m->kernel);
    put_text(s, 7, m->cpu_model);
    sqlite3_bind_int64(s, 8, m->cpus);
    put_text(s, 9, m->governor);
    sqlite3_bind_double(s, 10, m->load);
    put_text(s, 11, bench_clock_name(b));
    sqlite3_bind_int64(s, 12, !b->options.grouped);
    sqlite3_bind_int64(s, 13, (int64_t)b->options.seed);
    return finish(db, s, err);
}

static bool save_command(BaselineDb *db, Arena *arena, int64_t session, uint32_t position,
                         const BenchCommand *c, const MeasuredRunVec *runs, double shell_time_s,
                         Error *err)
{
    Str hash;
    StrBuf parameters = {0};
    if (!keep_program(db, arena, c, &hash, err))
        return false;
    JsonWriter w = json_writer(&parameters, 0);
    json_begin_object(&w, NULL);
    for (size_t i = 0; i < c->parameters.len; i++) {
        json_key(&w, c->parameters.at[i].name);
        json_str(&w, NULL, c->parameters.at[i].value);
    }
    json_end(&w);
    sqlite3_stmt *s = statement(db, "INSERT INTO command VALUES(NULL,?,?,?,?,?,?,?,?)");
    sqlite3_bind_int64(s, 1, session);
    sqlite3_bind_int64(s, 2, position);
    put_text(s, 3, c->name);
    put_text(s, 4, c->text);
    put_text(s, 5, strbuf_str(&parameters));
    put_text(s, 6, str_from_c(c->path));
    put_text(s, 7, hash);
    sqlite3_bind_double(s, 8, shell_time_s);
    strbuf_deinit(&parameters);
    if (!finish(db, s, err))
        return false;

    int64_t id = sqlite3_last_insert_rowid(db->sql);
    s = statement(db, "INSERT INTO run VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < runs->len; i++) {
        const MeasuredRun *run = &runs->at[i];
        const int64_t columns[] = {run->round,
                                   run->position,
                                   0,
                                   run->wall_ns,
                                   run->waited_ns,
                                   run->user_ns,
                                   run->system_ns,
                                   run->run_delay_ns,
                                   (int64_t)run->max_rss_bytes,
                                   (int64_t)run->minor_faults,
                                   (int64_t)run->major_faults,
                                   run->status};
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        for (size_t k = 0; k < ARRAY_LEN(columns); k++)
            sqlite3_bind_int64(s, (int)k + 3, columns[k]);
        sqlite3_bind_double(s, 5, run->time_s);
        ok = sqlite3_step(s) == SQLITE_DONE;
        sqlite3_reset(s);
    }
    if (!ok)
        fail(db, "write", err);
    sqlite3_finalize(s);
    return ok;
}

bool baseline_save(BaselineDb *db, Str name, Bench *b, const RunMachine *machine, Str command_line,
                   Error *err)
{
    if (!execute(db, "BEGIN IMMEDIATE", "write", err))
        return false;
    bool ok = save_session(db, name, b, machine, command_line, err);
    int64_t session = sqlite3_last_insert_rowid(db->sql);
    for (uint32_t i = 0; ok && i < b->commands.len; i++)
        ok = save_command(db, &b->arena, session, i, &b->commands.at[i], &b->set.groups[i].runs,
                          b->results[i].shell_time_s, err);
    if (!ok) {
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    return execute(db, "COMMIT", "write", err);
}

// ---- Loading ---------------------------------------------------------------

static bool load_times(BaselineDb *db, Arena *arena, int64_t command, DoubleVec *ret, Error *err)
{
    sqlite3_stmt *s = statement(db, "SELECT time FROM run WHERE command=? ORDER BY number");
    sqlite3_bind_int64(s, 1, command);
    int code;
    while ((code = s ? sqlite3_step(s) : SQLITE_ERROR) == SQLITE_ROW)
        vec_push(arena, ret, sqlite3_column_double(s, 0));
    bool ok = code == SQLITE_DONE || fail(db, "read", err);
    sqlite3_finalize(s);
    return ok;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool load_commands(BaselineDb *db, Arena *arena, BaselineSession *session, Error *err)
{
    sqlite3_stmt *s = statement(
        db, "SELECT id,name,text,program_hash FROM command WHERE session=? ORDER BY position");
    sqlite3_bind_int64(s, 1, session->id);
    int code;
    bool ok = true;
    while ((code = s ? sqlite3_step(s) : SQLITE_ERROR) == SQLITE_ROW && ok) {
        BaselineCommand c = {.name = get_text(arena, s, 1),
                             .text = get_text(arena, s, 2),
                             .program_hash = get_text(arena, s, 3)};
        // The hash becomes a file name: only hashes as baseline_save writes them are used.
        bool hex = c.program_hash.len == 16;
        for (size_t i = 0; i < c.program_hash.len; i++)
            hex = hex && is_hex(c.program_hash.ptr[i]);
        Str copy = hex ? copy_path(arena, db, c.program_hash) : STR("");
        if (copy.len && os_file_exists(copy))
            c.program_copy = copy;
        ok = load_times(db, arena, sqlite3_column_int64(s, 0), &c.times, err);
        vec_push(arena, &session->commands, c);
    }
    if (ok && code != SQLITE_DONE)
        ok = fail(db, "read", err);
    sqlite3_finalize(s);
    return ok;
}

bool baseline_list(BaselineDb *db, Arena *arena, Str name, BaselineSessionVec *ret, Error *err)
{
    sqlite3_stmt *s =
        statement(db, "SELECT id,name,created_s,hostname,kernel,cpu_model,cpus,governor,load,clock"
                      " FROM session WHERE ?1='' OR name=?1 ORDER BY id");
    put_text(s, 1, name);
    int code;
    bool ok = true;
    while ((code = s ? sqlite3_step(s) : SQLITE_ERROR) == SQLITE_ROW && ok) {
        BaselineSession session = {
            .id = sqlite3_column_int64(s, 0),
            .name = get_text(arena, s, 1),
            .created_s = sqlite3_column_int64(s, 2),
            .machine = {.hostname = get_text(arena, s, 3),
                        .kernel = get_text(arena, s, 4),
                        .cpu_model = get_text(arena, s, 5),
                        .cpus = (uint32_t)sqlite3_column_int64(s, 6),
                        .governor = get_text(arena, s, 7),
                        .load = sqlite3_column_double(s, 8)},
            .clock = get_text(arena, s, 9),
        };
        ok = load_commands(db, arena, &session, err);
        vec_push(arena, ret, session);
    }
    if (ok && code != SQLITE_DONE)
        ok = fail(db, "read", err);
    sqlite3_finalize(s);
    return ok;
}

bool baseline_load(BaselineDb *db, Arena *arena, Str name, BaselineSession *ret, Error *err)
{
    BaselineSessionVec all = {0};
    if (!baseline_list(db, arena, name, &all, err))
        return false;
    if (all.len == 0 || name.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "no bench is saved as '%" STR_FMT "'",
                         STR_ARG(name));
    *ret = vec_last(&all);
    return true;
}
