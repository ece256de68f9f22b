// SPDX-License-Identifier: Apache-2.0
// assay doctor: checks what recording needs, and names the command that provides what is missing.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "elf/build_id.h"
#include "elf/elf.h"
#include "os/clock.h"
#include "os/event.h"
#include "os/file.h"
#include "os/perf_event.h"
#include "os/privilege.h"
#include "os/spawn.h"
#include "symbolise/symbolise.h"

enum {
    DEFAULT_FREQ_HZ = 999,
    FULL_RING_KB = 4096,  // a CPU's ring that holds dumps of 64 KB
    DISK_FREE_MB = 64,    // a recording of an hour at 999 Hz on two CPUs
    PROGRAM_FRAMES = 200, // functions of a program that are looked up
    KALLSYMS_LOOK_BYTES = 4096,
};

typedef struct DoctorOptions {
    bool json;
} DoctorOptions;

static const Option doctor_options[] = {
    OPT_FLAG(0, "json", DoctorOptions, json, "as JSON, see docs/formats/json.md"),
};

typedef enum Verdict { VERDICT_OK, VERDICT_LIMITED, VERDICT_MISSING } Verdict;

typedef struct Finding {
    Verdict verdict;
    const char *key; // stable, for programs
    Str text;        // what was found
    Str fix;         // what to do; "" when nothing is to be done
} Finding;

typedef struct Doctor {
    Arena *arena;
    Vec(Finding) findings;
    PerfLimits limits;
    bool perf_refused; // altogether
    bool cannot_record;
} Doctor;

static void find(Doctor *d, Verdict verdict, const char *key, Str text, Str fix)
{
    vec_push(d->arena, &d->findings, (Finding){verdict, key, text, fix});
}

// ---- The machine --------------------------------------------------------------------

static void check_kernel(Doctor *d)
{
    Machine m = os_machine(d->arena);
    Str text = arena_printf(d->arena, "%" STR_FMT ", %u CPUs, %" STR_FMT, STR_ARG(m.kernel),
                            m.cpu_count, STR_ARG(m.arch));
    find(d, VERDICT_OK, "kernel", text, STR(""));
}

static void check_paranoid(Doctor *d)
{
    int64_t level = d->limits.paranoid;
    // Only the kernels of some distributions know values above 2; for others they are 2.
    bool is_refused = level >= 3 && perf_event_probe() != 0;
    if (!d->limits.supported) {
        find(d, VERDICT_MISSING, "perf-events", STR("this kernel has no perf events"),
             STR("use a kernel with CONFIG_PERF_EVENTS=y"));
        return;
    }
    if (d->limits.privileged) {
        find(d, VERDICT_OK, "paranoid",
             arena_printf(
                 d->arena,
                 "kernel.perf_event_paranoid is %" PRId64 ", which does not bind this user", level),
             STR(""));
        return;
    }
    static const char *const meaning[] = {
        "everything but raw tracepoints", "own processes with their kernel part",
        "own processes without their kernel part", "no perf events for this user"};
    const char *allows =
        level < 0 ? "everything" : meaning[MIN(level, is_refused ? (int64_t)3 : (int64_t)2)];
    Str text =
        arena_printf(d->arena, "kernel.perf_event_paranoid is %" PRId64 ": %s", level, allows);
    if (is_refused)
        find(d, VERDICT_MISSING, "paranoid", text, STR("sudo sysctl kernel.perf_event_paranoid=2"));
    else if (level >= 2)
        find(d, VERDICT_LIMITED, "paranoid", text, STR("sudo sysctl kernel.perf_event_paranoid=1"));
    else
        find(d, VERDICT_OK, "paranoid", text, STR(""));
}

static int open_on_self(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr = {.type = type,
                                   .config = config,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .sample_period = 1000000};
    int fd = perf_event_open(&attr, 0, -1, -1);
    if (fd >= 0)
        close(fd);
    return fd;
}

static void check_open(Doctor *d)
{
    if (open_on_self(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) >= 0) {
        find(d, VERDICT_OK, "perf-event-open", STR("perf_event_open works"), STR(""));
        return;
    }
    Error err;
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1};
    (void)perf_explain(errno, &d->limits, &attr, STR("cpu-clock"), false, &err);
    bool traced = spawn_trace_allowed();
    d->perf_refused = true;
    find(d, VERDICT_LIMITED, "perf-event-open",
         arena_printf(d->arena, "%s%s", err.text,
                      traced ? ": commands are sampled by ptrace, nothing else can be recorded"
                             : "; nor is ptrace allowed: dynamically linked commands are "
                               "sampled by timers inside them, nothing else can be recorded"),
         arena_str(d->arena, str_from_c(err.hint)));
}

static void check_pmu(Doctor *d)
{
    if (open_on_self(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) >= 0)
        find(d, VERDICT_OK, "pmu", STR("hardware counters: cycles work"), STR(""));
    else if (d->perf_refused)
        find(d, VERDICT_LIMITED, "pmu",
             STR("hardware counters are not known where perf_event_open is refused"),
             STR("see the line on perf_event_open"));
    else if (errno == EACCES || errno == EPERM)
        find(d, VERDICT_LIMITED, "pmu", STR("hardware counters: not allowed to this user"),
             STR("see the line on kernel.perf_event_paranoid"));
    else
        find(d, VERDICT_LIMITED, "pmu",
             STR("no hardware counters: cpu-clock is sampled in place of cycles"),
             STR("on a virtual machine, enable the PMU in the host's settings; else nothing is "
                 "needed"));
}

static void check_rings(Doctor *d)
{
    int64_t kb = d->limits.mlock_kb;
    struct rlimit lock;
    uint64_t extra_kb = 0;
    if (getrlimit(RLIMIT_MEMLOCK, &lock) == 0)
        extra_kb = lock.rlim_cur == RLIM_INFINITY ? UINT64_MAX / 2 : lock.rlim_cur / 1024;
    uint64_t cpus = MAX(os_machine(d->arena).cpu_count, 1u);
    uint64_t each_kb = (uint64_t)MAX(kb, (int64_t)0) + extra_kb / cpus;
    if (d->limits.may_lock || d->limits.paranoid == -1) {
        find(d, VERDICT_OK, "ring-memory", STR("ring memory: no quota for this user"), STR(""));
        return;
    }
    Str text = arena_printf(d->arena,
                            "ring memory: kernel.perf_event_mlock_kb is %" PRId64
                            ", with ulimit -l %" PRIu64 " KB a CPU",
                            kb, MIN(each_kb, (uint64_t)1 << 40));
    if (each_kb >= FULL_RING_KB)
        find(d, VERDICT_OK, "ring-memory", text, STR(""));
    else
        find(d, VERDICT_LIMITED, "ring-memory", text,
             STR("for deep stacks at high rates: sudo sysctl kernel.perf_event_mlock_kb=8192"));
}

// Calls of a deep recursion that no copy holds are missing between the two ends of its stack.
static void check_copies(Doctor *d)
{
    if (d->perf_refused)
        return;
    bool is_x86 = str_equal(os_machine(d->arena).arch, STR("x86_64"));
    if (is_x86 && privilege_is_special() && privilege_sees_kernel_pids())
        find(d, VERDICT_OK, "stack-copies",
             STR("stacks: up to 512 KB are copied, of larger ones both ends, with a marked gap"),
             STR(""));
    else
        find(d, VERDICT_LIMITED, "stack-copies",
             STR("stacks: up to 64 KB are copied; what larger ones lack is read from the running "
                 "program, or is a marked gap"),
             STR("for deep recursion and large frames: sudo assay record"));
}

static void check_rate(Doctor *d)
{
    int64_t max = d->limits.max_sample_rate;
    Str text = arena_printf(d->arena, "up to %" PRId64 " samples a second and CPU", max);
    if (max < 0 || max >= DEFAULT_FREQ_HZ)
        find(d, VERDICT_OK, "sample-rate", max < 0 ? STR("no stated limit on the rate") : text,
             STR(""));
    else
        find(d, VERDICT_LIMITED, "sample-rate", text,
             STR("sudo sysctl kernel.perf_event_max_sample_rate=100000"));
}

// Addresses in /proc/kallsyms are zeros where they are hidden.
static void check_kernel_symbols(Doctor *d)
{
    char buf[KALLSYMS_LOOK_BYTES];
    Str text, line;
    bool shown = false;
    if (os_read_small("/proc/kallsyms", buf, sizeof(buf), &text))
        while (!shown && str_next_line(&text, &line))
            for (size_t i = 0; i < MIN(line.len, (size_t)16); i++)
                shown |= line.ptr[i] != '0';
    // With kptr_restrict at 0 they are shown to whoever may profile the kernel.
    bool by_paranoid = d->limits.kptr_restrict == 0;
    if (shown)
        find(d, VERDICT_OK, "kernel-symbols", STR("kernel symbols are readable"), STR(""));
    else
        find(d, VERDICT_LIMITED, "kernel-symbols",
             by_paranoid ? arena_printf(d->arena,
                                        "kernel symbols are hidden while "
                                        "kernel.perf_event_paranoid is %" PRId64,
                                        d->limits.paranoid)
                         : arena_printf(d->arena,
                                        "kernel symbols are hidden (kernel.kptr_restrict is "
                                        "%" PRId64 ")",
                                        d->limits.kptr_restrict),
             by_paranoid ? STR("sudo sysctl kernel.perf_event_paranoid=1")
                         : STR("sudo sysctl kernel.kptr_restrict=0 "
                               "kernel.perf_event_paranoid=1"));
}

static void check_tracefs(Doctor *d)
{
    EventSources src = event_sources_default();
    if (src.tracefs.len == 0) {
        find(d, VERDICT_LIMITED, "tracefs", STR("tracepoints: tracefs is not mounted"),
             STR("sudo mount -t tracefs tracefs /sys/kernel/tracing"));
        return;
    }
    Str events = arena_printf(d->arena, "%" STR_FMT "/events/sched", STR_ARG(src.tracefs));
    if (access(events.ptr, R_OK | X_OK) == 0)
        find(d, VERDICT_OK, "tracefs", STR("tracepoints can be looked up"), STR(""));
    else
        find(d, VERDICT_LIMITED, "tracefs",
             STR("tracepoints: tracefs is not readable for this user"),
             STR("run as root, for tracepoints only"));
}

static void check_disk(Doctor *d)
{
    struct statvfs fs;
    if (statvfs(".", &fs) != 0 || access(".", W_OK) != 0) {
        find(d, VERDICT_LIMITED, "disk", STR("this folder cannot be written"),
             STR("write the recording to another place: -o FILE"));
        return;
    }
    uint64_t mb = (uint64_t)fs.f_bavail * fs.f_frsize / (1024 * 1024);
    Str text = arena_printf(d->arena, "%" PRIu64 " MB are free in this folder", mb);
    if (mb >= DISK_FREE_MB)
        find(d, VERDICT_OK, "disk", text, STR(""));
    else
        find(d, VERDICT_LIMITED, "disk", text,
             STR("write the recording to another place: -o FILE"));
}

// ---- A program --------------------------------------------------------------------------

static void check_unwind(Doctor *d, const Elf *elf)
{
    const ElfSection *eh = elf_section_find(elf, STR(".eh_frame"));
    const ElfSection *debug = elf_section_find(elf, STR(".debug_frame"));
    if (eh && eh->size > 16)
        find(d, VERDICT_OK, "unwind-tables",
             arena_printf(d->arena, "unwind tables: .eh_frame of %" PRIu64 " KB", eh->size / 1024),
             STR(""));
    else if (debug)
        find(d, VERDICT_OK, "unwind-tables", STR("unwind tables: .debug_frame"), STR(""));
    else
        find(d, VERDICT_LIMITED, "unwind-tables",
             STR("no unwind tables: stacks follow frame pointers, where there are some"),
             STR("compile without -fno-asynchronous-unwind-tables"));
}

static void check_symbols(Doctor *d, const Elf *elf)
{
    if (elf_section_find_type(elf, SHT_SYMTAB))
        find(d, VERDICT_OK, "symbols", STR("a symbol table"), STR(""));
    else
        find(d, VERDICT_LIMITED, "symbols", STR("stripped: only exported functions have names"),
             STR("do not strip it, or install its debug symbols"));
}

static void check_build_id(Doctor *d, const BuildId *id)
{
    if (id->len)
        find(d, VERDICT_OK, "build-id",
             arena_printf(d->arena, "build-id %" STR_FMT, STR_ARG(build_id_hex(d->arena, id))),
             STR(""));
    else
        find(d, VERDICT_LIMITED, "build-id",
             STR("no build-id: symbols of another build would not be noticed"),
             STR("link with -Wl,--build-id"));
}

// A profile with a frame in each of some functions, symbolised as a recording would be.
static void add_frames(Doctor *d, const Elf *elf, Profile *p, ModuleId module)
{
    ElfSymbols symbols = {0};
    if (!elf_symbols_load(d->arena, elf, SHT_SYMTAB, &symbols, NULL) || symbols.count == 0)
        (void)!elf_symbols_load(d->arena, elf, SHT_DYNSYM, &symbols, NULL);
    size_t step = MAX(symbols.count / (PROGRAM_FRAMES * 4), (size_t)1), added = 0;
    for (size_t i = 0; i < symbols.count && added < PROGRAM_FRAMES; i += step) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        if (s.type != STT_FUNC || s.value == 0 || s.size == 0)
            continue;
        profile_frame(p, module, s.value, FRAME_EXACT);
        added++;
    }
    if (added == 0)
        profile_frame(p, module, elf->entry, FRAME_EXACT);
}

typedef struct LineFindings {
    size_t frames, with_line, with_source;
    Str missing; // a source file that is not there
} LineFindings;

static LineFindings look_up_lines(Doctor *d, Str path, const Elf *elf, const BuildId *id)
{
    LineFindings r = {0};
    Profile p;
    profile_init(&p);
    ModuleId module = profile_module(&p, MODULE_FILE, path, build_id_hex(d->arena, id));
    add_frames(d, elf, &p, module);
    SymboliseOptions options = {.is_live = true};
    if (symbolise_profile(&p, &options, NULL, NULL)) {
        for (uint32_t i = 1; i < profile_frame_count(&p); i++) {
            Str file = profile_text(&p, p.frames.file.at[i]);
            r.frames++;
            if (file.len == 0)
                continue;
            r.with_line++;
            if (os_file_exists(file))
                r.with_source++;
            else if (r.missing.len == 0)
                r.missing = arena_str(d->arena, file);
        }
    }
    profile_deinit(&p);
    return r;
}

static void check_lines(Doctor *d, Str path, const Elf *elf, const BuildId *id)
{
    LineFindings r = look_up_lines(d, path, elf, id);
    Error why;
    Bytes info;
    if (r.with_line == 0 && !elf_section_load(d->arena, elf, STR(".debug_info"), &info, &why)) {
        find(d, VERDICT_LIMITED, "debug-info",
             arena_printf(d->arena, "debug information cannot be read: %s", why.text),
             STR("build it with -g, or install its -dbg or -dbgsym package"));
        return;
    }
    if (r.with_line == 0) {
        find(d, VERDICT_LIMITED, "debug-info",
             STR("no debug information: functions without lines and inlined calls"),
             STR("build it with -g, or install its -dbg or -dbgsym package"));
        return;
    }
    find(d, VERDICT_OK, "debug-info",
         arena_printf(d->arena, "debug information: lines for %zu of %zu functions looked up",
                      r.with_line, r.frames),
         STR(""));
    if (r.with_source)
        find(d, VERDICT_OK, "source",
             arena_printf(d->arena, "source files: found for %zu of them", r.with_source), STR(""));
    else if (str_starts_with(r.missing, STR("/rustc/")))
        find(d, VERDICT_LIMITED, "source",
             STR("source files of Rust's standard library are not installed"),
             STR("rustup component add rust-src"));
    else
        find(
            d, VERDICT_LIMITED, "source",
            arena_printf(d->arena, "source files are not here: '%" STR_FMT "'", STR_ARG(r.missing)),
            STR("put the sources there, or record where they are"));
}

static bool check_program(Doctor *d, Str name, Error *err)
{
    Program program;
    if (!program_find(d->arena, name, cli_env("PATH"), &program, err))
        return false;
    Str path = program.path;
    if (program.changes_user || program.unreadable) {
        find(d, VERDICT_MISSING, "program",
             arena_printf(d->arena,
                          "'%" STR_FMT "' changes user or cannot be read: the kernel ends "
                          "profiling when it starts",
                          STR_ARG(path)),
             STR("record it as root"));
        d->cannot_record = true;
        return true;
    }
    if (program.is_script) {
        find(d, VERDICT_OK, "program",
             arena_printf(d->arena, "'%" STR_FMT "' is a script: '%" STR_FMT "' is recorded",
                          STR_ARG(path), STR_ARG(program.interpreter)),
             STR(""));
        path = program.interpreter;
    }
    MappedFile file;
    Elf elf;
    if (!os_map_file(path, &file, err))
        return false;
    bool ok = elf_parse(d->arena, file.bytes, &elf, err);
    if (ok) {
        BuildId id = elf_build_id(&elf);
        if (!program.is_script)
            find(d, VERDICT_OK, "program", arena_printf(d->arena, "'%" STR_FMT "'", STR_ARG(path)),
                 STR(""));
        check_build_id(d, &id);
        check_unwind(d, &elf);
        check_symbols(d, &elf);
        check_lines(d, path, &elf, &id);
    } else {
        (void)error_context(err, "cannot read program '%" STR_FMT "'", STR_ARG(path));
    }
    os_unmap_file(&file);
    return ok;
}

// ---- Showing it -------------------------------------------------------------------------

static const char *const verdict_names[] = {"ok", "limited", "missing"};

static void show_text(const Doctor *d, StrBuf *out)
{
    for (size_t i = 0; i < d->findings.len; i++) {
        const Finding *f = &d->findings.at[i];
        strbuf_printf(out, "%-8s ", verdict_names[f->verdict]);
        strbuf_add_terminal(out, f->text);
        if (f->fix.len) {
            strbuf_printf(out, "\n         -> ");
            strbuf_add_terminal(out, f->fix);
        }
        strbuf_add_char(out, '\n');
    }
}

static void show_json(const Doctor *d, StrBuf *out)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_u64(&w, "schema", 1);
    json_bool(&w, "can_record", !d->cannot_record);
    json_begin_array(&w, "checks");
    for (size_t i = 0; i < d->findings.len; i++) {
        const Finding *f = &d->findings.at[i];
        json_begin_object(&w, NULL);
        json_str(&w, "check", str_from_c(f->key));
        json_str(&w, "verdict", str_from_c(verdict_names[f->verdict]));
        json_str(&w, "found", f->text);
        json_str(&w, "fix", f->fix);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

static void check_machine(Doctor *d)
{
    d->limits = perf_limits();
    check_kernel(d);
    check_paranoid(d);
    check_open(d);
    check_pmu(d);
    check_rings(d);
    check_copies(d);
    check_rate(d);
    check_kernel_symbols(d);
    check_tracefs(d);
    check_disk(d);
}

static int examine(CommandLine *line, void *values)
{
    const DoctorOptions *o = values;
    Doctor d = {.arena = line->arena};
    Error err;
    if (line->operands.len > 1)
        return usage_error(line->cmd, "only one program can be checked at a time");
    check_machine(&d);
    if (line->operands.len && !check_program(&d, line->operands.at[0], &err))
        return cli_fail(&err);
    StrBuf out = {0};
    if (o->json)
        show_json(&d, &out);
    else
        show_text(&d, &out);
    bool written = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return written && !d.cannot_record ? STATUS_OK : STATUS_FAILED;
}

static int run_doctor(const Command *cmd, int argc, char **argv)
{
    DoctorOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, examine);
}

const Command doctor_command = {
    .name = "doctor",
    .group = "help",
    .summary = "check what recording needs on this machine, and how to get what is missing",
    .first = "  assay doctor         what this machine allows\n"
             "  assay doctor ./prog  and what the program has\n",
    .usage = "[--json] [PROG]",
    .options = doctor_options,
    .option_count = ARRAY_LEN(doctor_options),
    .details =
        "Prints a line for each check: ok, limited or missing, and the command that fixes it.\n"
        "With a program it also checks build-id, unwind tables, symbols, debug information\n"
        "and sources. The status is 1 when nothing can be recorded.\n",
    .run = run_doctor,
};
