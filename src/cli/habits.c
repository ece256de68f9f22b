// SPDX-License-Identifier: Apache-2.0
// Commands of other tools that are not commands here.

#include "cli/habits.h"

// The words of perf probe that matter.
typedef struct ProbeWords {
    Str file;  // of -x
    Str event; // of -a, or the first word
    bool lists, deletes;
} ProbeWords;

static bool is_one_of(Str word, const char *const *names)
{
    for (; *names; names++)
        if (str_equal(word, str_from_c(*names)))
            return true;
    return false;
}

static ProbeWords read_words(int argc, char **argv)
{
    static const char *const files[] = {"-x", "--exec", "-m", "--module", NULL};
    static const char *const events[] = {"-a", "--add", NULL};
    static const char *const lists[] = {"-l",     "--list", "-F",     "--funcs", "-L",
                                        "--line", "-V",     "--vars", NULL};
    static const char *const deletes[] = {"-d", "--del", NULL};
    ProbeWords w = {0};
    for (int i = 2; i < argc; i++) {
        Str word = str_from_c(argv[i]), name = word, value = {0};
        bool joined = str_starts_with(word, STR("--")) && str_split(word, '=', &name, &value);
        if (!joined)
            value = str_from_c(i + 1 < argc ? argv[i + 1] : "");
        Str *to = is_one_of(name, files) ? &w.file : is_one_of(name, events) ? &w.event : NULL;
        w.lists |= is_one_of(name, lists);
        w.deletes |= is_one_of(name, deletes);
        if (to) {
            *to = value;
            i += !joined;
        } else if (w.event.len == 0 && !str_starts_with(word, STR("-"))) {
            w.event = word;
        }
    }
    return w;
}

// "name=function" in perf gives the probe a name, which nothing here needs.
static Str without_name(Str event)
{
    size_t space = str_find_char(event, ' '), equals = str_find_char(event, '=');
    return equals < space ? str_slice(event, equals + 1, event.len) : event;
}

static void probe_hint(int argc, char **argv, StrBuf *ret)
{
    ProbeWords w = read_words(argc, argv);
    if (w.deletes) {
        strbuf_add(ret,
                   STR("there is nothing to delete: a probe is removed when its recording ends"));
        return;
    }
    StrBuf event = {0};
    strbuf_add(ret, STR("a probe is an event, in one step: assay "));
    if (w.lists || w.event.len == 0) {
        strbuf_add(ret, STR("list "));
        strbuf_add_shell_word(ret, w.file.len ? w.file : STR("FILE"));
    } else {
        strbuf_add(&event, w.file);
        strbuf_add(&event, w.file.len ? STR(":") : STR(""));
        strbuf_add(&event, without_name(w.event));
        strbuf_add(ret, STR("record -e "));
        strbuf_add_shell_word(ret, strbuf_str(&event));
        strbuf_add(ret, STR(" -- CMD"));
    }
    strbuf_deinit(&event);
}

// A first word of another tool, and the hint; a word that ends in "=" is the beginning of an
// argument.
typedef struct Habit {
    const char *word;
    const char *hint;
} Habit;

static const Habit habits[] = {
    // perf
    {"script", "type: assay export FILE -f perf-script"},
    {"evlist", "type: assay report FILE --notes"},
    {"buildid-list", "type: assay report FILE --by module"},
    {"sched", "what a program waits for: assay record --wait -- CMD"},
    {"lock", "what a program waits for: assay record --wait -- CMD"},
    {"trace", "each call of a function or tracepoint: assay record -e EVENT -c 1 -- CMD"},
    {"kmem", "where a program allocates: assay heap -- CMD"},
    {"mem",
     "addresses of memory accesses are not recorded; where a program allocates: assay heap -- CMD"},
    {"c2c", "addresses of memory accesses are not recorded; see assay stat -e cache-misses -- CMD"},
    {"timechart", "threads over time: assay export FILE -f firefox"},
    {"kwork", "what threads wait for: assay record --wait -a"},
    {"kvm", "guests are not observed from outside: run assay in the guest"},
    {"ftrace", "each call of a function of the kernel: assay record -e kernel:FUNCTION -c 1 -a"},
    {"iostat", "assay stat -a -e EVENT, with events of 'assay list pmu'"},
    {"buildid-cache", "not needed: recordings contain their symbols; see assay cache"},
    {"config", "options of every call stand in ~/.config/assay/config: man assay"},
    {"daemon", "type: assay record --flight -a"},
    {"data", "type: assay export FILE -f json, or assay import FILE"},
    {"version", "type: assay --version"},
    {"perf", "commands of perf are commands here: assay record, assay report, assay stat"},
    {"-p", "type: assay record -p PID, or assay top -p PID"},
    {"-a", "type: assay record -a, or assay top"},
    {"-e", "type: assay record -e EVENT -- CMD, or assay stat -e EVENT CMD"},
    {"archive", "not needed: a recording contains its symbols and source lines"},
    {"inject", "not needed: assay reads jitdump files itself"},
    // samply, cargo-flamegraph, inferno
    {"load", "type: assay flame FILE, or assay report FILE"},
    {"flamegraph", "type: assay flame -- CMD, or assay flame --cargo --bin NAME"},
    {"collapse-perf", "type: assay export FILE -f folded"},
    {"samply", "type: assay view -- CMD"},
    {"py-spy", "type: assay record -p PID, or assay top -p PID"},
    {"strace", "system calls: assay record -e 'syscalls:sys_enter_*' -c 1 -- CMD"},
    // hyperfine and Criterion
    {"hyperfine", "type: assay bench CMD; hyperfine's options work there"},
    {"--warmup", "type: assay bench --warmup N CMD"},
    {"-w", "type: assay bench -w N CMD"},
    {"--runs", "type: assay bench --runs N CMD"},
    {"-r", "type: assay bench -r N CMD, or assay stat -r N CMD"},
    {"-N", "type: assay bench -N CMD"},
    {"-m", "type: assay bench -m N CMD"},
    {"-M", "type: assay bench -M N CMD"},
    {"-i", "type: assay bench -i CMD; for a file: assay report FILE"},
    {"--min-runs", "type: assay bench --min-runs N CMD"},
    {"--max-runs", "type: assay bench --max-runs N CMD"},
    {"--prepare", "type: assay bench --prepare CMD CMD"},
    {"--setup", "type: assay bench --setup CMD CMD"},
    {"--ignore-failure", "type: assay bench --ignore-failure CMD"},
    {"--shell", "type: assay bench --shell SHELL CMD"},
    {"--shell=", "type: assay bench --shell SHELL CMD"},
    {"-S", "type: assay bench -S SHELL CMD"},
    {"-P", "type: assay bench -P NAME MIN MAX 'CMD {NAME}'"},
    {"-L", "type: assay bench -L NAME VALUE,VALUE 'CMD {NAME}'"},
    {"--parameter-scan", "type: assay bench -P NAME MIN MAX 'CMD {NAME}'"},
    {"--parameter-list", "type: assay bench -L NAME VALUE,VALUE 'CMD {NAME}'"},
    {"--export-json", "type: assay bench --export-json FILE CMD"},
    {"--export-csv", "type: assay bench --export-csv FILE CMD"},
    {"--export-markdown", "type: assay bench --export-markdown FILE CMD"},
    {"--show-output", "type: assay bench --show-output CMD"},
    {"compare", "type: assay bench CMD CMD, or assay bench --compare FILE FILE"},
    // llvm-cov, llvm-profdata, gcov, lcov, tarpaulin
    {"show", "type: assay cover show"},
    {"run", "type: assay cover run -- CMD, or assay record -- CMD"},
    {"test", "type: assay cover run -- cargo test"},
    {"llvm-cov", "type: assay cover report OBJECT PROFILE"},
    {"tarpaulin", "type: assay cover run -- cargo test"},
    {"--coverage", "type: assay cover run -- CMD"},
    {"--capture", "type: assay cover export --format lcov -o FILE"},
    {"-c", "type: assay cover export --format lcov -o FILE; events of a sample: assay record -c N"},
    {"--add-tracefile", "type: assay cover add --format lcov -o FILE FILE FILE"},
    {"--summary", "type: assay cover report FILE"},
    {"lcov", "type: assay cover export --format lcov -o FILE, or assay cover add FILE FILE"},
    {"genhtml", "type: assay cover export --format html -o FILE TRACEFILE"},
    {"gcov", "type: assay cover show ."},
    {"gcovr", "type: assay cover report ."},
    {"grcov", "type: assay cover export --format lcov -o FILE ."},
    {"lprof", "lprof's options work as: assay cover -m, assay cover -x"},
    {"llvm-profdata", "type: assay cover merge -o FILE PROFILE PROFILE"},
    // valgrind and heaptrack
    {"--tool=dhat", "type: assay heap -- CMD"},
    {"--tool=massif", "type: assay heap -- CMD"},
    {"--tool=callgrind", "type: assay record -- CMD"},
    {"--tool=cachegrind", "type: assay stat -e cache-misses CMD, or assay cover run -- CMD"},
    {"--tool=memcheck", "leaks: assay heap --leaks 0 -- CMD; wrong accesses are not looked for"},
    {"--tool=helgrind", "waits for locks: assay record --wait -- CMD; races are not looked for"},
    {"--tool=drd", "waits for locks: assay record --wait -- CMD; races are not looked for"},
    {"--tool=", "type: assay heap -- CMD for dhat and massif, assay record -- CMD for callgrind"},
    {"dhat", "type: assay heap -- CMD"},
    {"massif", "type: assay heap -- CMD"},
    {"callgrind", "type: assay record -- CMD"},
    {"heaptrack", "type: assay heap -- CMD"},
    {"--leak-check=", "type: assay heap -- CMD, then assay report heap.assay"},
    {"valgrind", "type: assay heap -- CMD for dhat and massif, assay record -- CMD for callgrind"},
    {"memcheck", "leaks: assay heap --leaks 0 -- CMD; wrong accesses are not looked for"},
    {"helgrind", "waits for locks: assay record --wait -- CMD; races are not looked for"},
    {"drd", "waits for locks: assay record --wait -- CMD; races are not looked for"},
    {"cachegrind", "type: assay stat -e cache-misses CMD, or assay cover run -- CMD"},
    {"ms_print", "type: assay report massif.out.PID"},
    {"callgrind_annotate", "type: assay report callgrind.out.PID"},
    {"cg_annotate", "lines with their counts: assay cover run -- CMD, then assay cover show"},
    {"kcachegrind", "type: assay view FILE"},
    {"dh_view", "type: assay report heap.assay, or assay view heap.assay"},
    {"heaptrack_print", "type: assay report FILE"},
    {"heaptrack_gui", "type: assay view FILE"},
};

// Words behind "cover".
static const Habit cover_habits[] = {
    {"genhtml", "type: assay cover export --format html -o FILE TRACEFILE"},
    {"--html", "type: assay cover export --format html -o FILE"},
    {"--html-details", "type: assay cover export --format html -o FILE"},
    {"--xml", "type: assay cover export --format cobertura -o FILE"},
    {"--cobertura", "type: assay cover export --format cobertura -o FILE"},
    {"--lcov", "type: assay cover export --format lcov -o FILE"},
    {"--json", "type: assay cover report --json, or assay cover export --format json"},
    {"--capture", "type: assay cover export --format lcov -o FILE"},
    {"--add-tracefile", "type: assay cover add --format lcov -o FILE FILE FILE"},
    {"-a", "type: assay cover add --format lcov -o FILE FILE FILE"},
    {"--remove", "type: assay cover export --format lcov --exclude GLOB -o FILE TRACEFILE"},
    {"--extract", "type: assay cover export --format lcov --include GLOB -o FILE TRACEFILE"},
    {"--list", "type: assay cover report FILE"},
    {"--summary", "type: assay cover report FILE"},
    {"list", "type: assay cover report FILE"},
    {"summary", "type: assay cover report FILE"},
    {"gcov", "type: assay cover show ."},
    {"-b", "type: assay cover show --show-branches count ."},
    {"overlap", "type: assay cover diff, or assay cover intersect FILE FILE"},
    {"order", "orders of functions are not made"},
    {"test", "type: assay cover run -- cargo test"},
    {"html", "type: assay cover export --format html -o FILE"},
    {"xml", "type: assay cover export --format cobertura -o FILE"},
    {"combine", "type: assay cover add FILE FILE, or assay cover merge -o FILE PROFILE PROFILE"},
};

static bool is_habit(Str word, Str of)
{
    bool is_prefix = str_ends_with(of, STR("="));
    return is_prefix ? str_starts_with(word, of) : str_equal(word, of);
}

static bool add_hint(const Habit *table, size_t count, Str word, StrBuf *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_habit(word, str_from_c(table[i].word)))
            continue;
        strbuf_add(ret, str_from_c(table[i].hint));
        return true;
    }
    return false;
}

// A program or a recording where the command is expected.
static bool file_hint(Str word, StrBuf *ret)
{
    bool is_recording = str_ends_with(word, STR(".assay")) || str_ends_with(word, STR("perf.data"));
    if (!is_recording && (str_starts_with(word, STR("-")) || str_find_char(word, '/') == SIZE_MAX))
        return false;
    strbuf_add(ret, is_recording ? STR("type: assay report ") : STR("type: assay record -- "));
    strbuf_add_shell_word(ret, word);
    return true;
}

bool habit_hint(int argc, char **argv, StrBuf *ret)
{
    Str word = str_from_c(argc > 1 ? argv[1] : NULL);
    if (str_equal(word, STR("probe"))) {
        probe_hint(argc, argv, ret);
        return true;
    }
    if (str_equal(word, STR("cover")))
        return argc > 2 &&
               add_hint(cover_habits, ARRAY_LEN(cover_habits), str_from_c(argv[2]), ret);
    return add_hint(habits, ARRAY_LEN(habits), word, ret) || file_hint(word, ret);
}
