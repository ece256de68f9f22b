// SPDX-License-Identifier: Apache-2.0
// Leaves SQLite's full-text search and R-trees out of the executable.
//
// SQLite's opening code calls one function for each extension that the archive
// was built with. Defining those functions here, as "nothing to register", keeps
// the linker from taking the extensions out of the archive: a tenth of the
// executable, for statements that no file of ours contains (decision 71). Linked
// into the executable only, and only where the archive has them apart.

struct sqlite3;

int sqlite3Fts3Init(struct sqlite3 *db);
int sqlite3Fts5Init(struct sqlite3 *db);
int sqlite3RtreeInit(struct sqlite3 *db);

int sqlite3Fts3Init(struct sqlite3 *db)
{
    (void)db;
    return 0; // SQLITE_OK
}

int sqlite3Fts5Init(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

int sqlite3RtreeInit(struct sqlite3 *db)
{
    (void)db;
    return 0;
}
