// SPDX-License-Identifier: Apache-2.0
// The journal is a sequence of rows; a row of a module is followed by its sites. A writer that is
// killed leaves at most the last row incomplete.

#include "collect/breakpoints/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/breakpoints/code.h"
#include "os/proc.h"

enum { JOURNAL_CHUNK = 1 << 16 };

typedef enum RowKind {
    ROW_MODULE = 1,
    ROW_MAPPING,
    ROW_BYTE,
    ROW_DROP_PROCESS,
    ROW_DROP_MAPPING
} RowKind;

typedef struct Row {
    uint32_t kind;   // RowKind
    uint32_t number; // of the module; the original byte of ROW_BYTE
    int64_t pid;
    uint64_t start, end; // of a mapping; ROW_BYTE: start is its address
    uint64_t bias;
    uint64_t count; // sites that follow
} Row;

// ---- Writing -------------------------------------------------------------------------

int journal_open(Error *err)
{
    int fd = memfd_create("assay-breakpoints", MFD_CLOEXEC);
    if (fd < 0)
        error_put_os(err, "cannot make a list of breakpoints");
    return fd;
}

static bool write_all(int fd, const void *bytes, size_t len)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t n = write(fd, at, len);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool journal_add_module(int journal, uint32_t number, const U64Vec *words)
{
    Row row = {.kind = ROW_MODULE, .number = number, .count = words->len};
    return write_all(journal, &row, sizeof(row)) &&
           write_all(journal, words->at, words->len * sizeof(words->at[0]));
}

bool journal_add_mapping(int journal, pid_t pid, const JournalMapping *m)
{
    Row row = {.kind = ROW_MAPPING,
               .number = m->module,
               .pid = pid,
               .start = m->start,
               .end = m->end,
               .bias = m->bias};
    return write_all(journal, &row, sizeof(row));
}

bool journal_add_byte(int journal, pid_t pid, uint64_t at, uint8_t original)
{
    Row row = {.kind = ROW_BYTE, .number = original, .pid = pid, .start = at};
    return write_all(journal, &row, sizeof(row));
}

void journal_drop_process(int journal, pid_t pid)
{
    Row row = {.kind = ROW_DROP_PROCESS, .pid = pid};
    (void)!write_all(journal, &row, sizeof(row));
}

void journal_drop_mapping(int journal, pid_t pid, uint64_t start)
{
    Row row = {.kind = ROW_DROP_MAPPING, .pid = pid, .start = start};
    (void)!write_all(journal, &row, sizeof(row));
}

// ---- Removing the breakpoints --------------------------------------------------------

// The sites of a module in the journal.
typedef struct RescueModule {
    const uint64_t *words; // journal_word of each, ascending
    size_t count;
} RescueModule;

typedef struct Rescue {
    Vec(RescueModule) modules; // by number
    Vec(Row) rows;             // mappings and bytes that are still there
    U8Vec buffer;
} Rescue;

static void drop(Rescue *r, const Row *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->rows.len; i++) {
        const Row *old = &r->rows.at[i];
        bool gone =
            old->pid == row->pid && (row->kind == ROW_DROP_PROCESS || old->start == row->start);
        if (!gone)
            r->rows.at[kept++] = *old;
    }
    r->rows.len = kept;
}

static void read_rows(Rescue *r, Bytes journal)
{
    Row row;
    for (size_t at = 0; journal.len - at >= sizeof(row);) {
        memcpy(&row, journal.ptr + at, sizeof(row));
        at += sizeof(row);
        if (row.kind == ROW_MODULE) {
            if (row.count > (journal.len - at) / sizeof(uint64_t))
                return;
            while (r->modules.len <= row.number)
                vec_push(NULL, &r->modules, (RescueModule){0});
            r->modules.at[row.number] =
                (RescueModule){(const uint64_t *)(const void *)(journal.ptr + at), row.count};
            at += row.count * sizeof(uint64_t);
        } else if (row.kind == ROW_MAPPING || row.kind == ROW_BYTE) {
            vec_push(NULL, &r->rows, row);
        } else {
            drop(r, &row);
        }
    }
}

static void restore_byte(int mem, uint64_t at, uint8_t original)
{
    uint8_t byte;
    if (pread(mem, &byte, 1, (off_t)at) == 1 && byte == BREAKPOINT_BYTE)
        (void)!pwrite(mem, &original, 1, (off_t)at);
}

// Sites that lie near each other are restored together.
static void restore_mapping(Rescue *r, int mem, const Row *row)
{
    if (row->number >= r->modules.len)
        return;
    const RescueModule *m = &r->modules.at[row->number];
    for (size_t i = 0, to; i < m->count; i = to) {
        uint64_t first = (m->words[i] >> 8) + row->bias;
        to = i + 1;
        if (first < row->start || first >= row->end)
            continue;
        while (to < m->count && (m->words[to] >> 8) + row->bias < row->end &&
               (m->words[to] >> 8) + row->bias - first < JOURNAL_CHUNK)
            to++;
        size_t len = (size_t)((m->words[to - 1] >> 8) + row->bias - first) + 1;
        r->buffer.len = 0;
        uint8_t *bytes = vec_extend(NULL, &r->buffer, len);
        if (pread(mem, bytes, len, (off_t)first) != (ssize_t)len)
            continue;
        for (size_t k = i; k < to; k++) {
            uint8_t *byte = &bytes[(m->words[k] >> 8) + row->bias - first];
            if (*byte == BREAKPOINT_BYTE)
                *byte = (uint8_t)m->words[k];
        }
        (void)!pwrite(mem, bytes, len, (off_t)first);
    }
}

// Restores what the rows of `pid` name in the memory of the process `in`: itself or its child.
static void restore(Rescue *r, int64_t pid, uint32_t in)
{
    char path[40];
    snprintf(path, sizeof(path), "/proc/%u/mem", in);
    int mem = open(path, O_RDWR | O_CLOEXEC);
    for (size_t i = 0; mem >= 0 && i < r->rows.len; i++) {
        const Row *row = &r->rows.at[i];
        if (row->pid == pid && row->kind == ROW_BYTE)
            restore_byte(mem, row->start, (uint8_t)row->number);
        else if (row->pid == pid)
            restore_mapping(r, mem, row);
    }
    if (mem >= 0)
        close(mem);
}

static bool is_known(const Rescue *r, uint32_t pid)
{
    for (size_t i = 0; i < r->rows.len; i++)
        if (r->rows.at[i].pid == pid)
            return true;
    return false;
}

// Children of a process that the journal does not know have its memory, and theirs in turn.
static void restore_children(Rescue *r, int64_t pid)
{
    U32Vec family = {0};
    proc_list_children((uint32_t)pid, &family);
    for (size_t i = 0; i < family.len; i++) {
        if (is_known(r, family.at[i]))
            continue;
        restore(r, pid, family.at[i]);
        proc_list_children(family.at[i], &family);
    }
    vec_free(&family);
}

static void restore_all(Rescue *r, void (*what)(Rescue *r, int64_t pid))
{
    for (size_t i = 0; i < r->rows.len; i++) {
        size_t first = 0;
        while (r->rows.at[first].pid != r->rows.at[i].pid)
            first++;
        if (first == i)
            what(r, r->rows.at[i].pid);
    }
}

static void restore_itself(Rescue *r, int64_t pid)
{
    restore(r, pid, (uint32_t)pid);
}

void journal_rescue(int journal)
{
    Rescue r = {0};
    struct stat st;
    if (fstat(journal, &st) != 0 || st.st_size == 0)
        return;
    size_t len = (size_t)st.st_size;
    void *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE, journal, 0);
    if (at == MAP_FAILED)
        return;
    read_rows(&r, (Bytes){at, len});
    restore_all(&r, restore_itself);
    restore_all(&r, restore_children);
    munmap(at, len);
    vec_free(&r.modules);
    vec_free(&r.rows);
    vec_free(&r.buffer);
}
