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
        strbuf_add(ret, STR("nothing is to be deleted: a probe ends with its recording"));
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
    {"archive", "nothing is to be packed: a recording has its symbols and source lines in it"},
    {"inject", "nothing is to be injected: assay reads jitdump files by itself"},
    // samply, cargo-flamegraph, inferno
    {"load", "type: assay flame FILE, or assay report FILE"},
    {"flamegraph", "type: assay flame -- CMD, or assay flame --cargo --bin NAME"},
    {"collapse-perf", "type: assay export FILE -f folded"},
    // hyperfine and Criterion
    {"--warmup", "type: assay bench --warmup N CMD"},
    {"-w", "type: assay bench -w N CMD"},
    {"--runs", "type: assay bench --runs N CMD"},
    {"-r", "type: assay bench -r N CMD, or assay stat -r N CMD"},
    {"-N", "type: assay bench -N CMD"},
    {"compare", "type: assay bench CMD CMD, or assay bench --compare FILE FILE"},
    // llvm-cov, llvm-profdata, gcov, lcov, tarpaulin
    {"show", "type: assay cover show"},
    {"run", "type: assay cover run -- CMD, or assay record -- CMD"},
    {"test", "type: assay cover run -- cargo test"},
    {"llvm-cov", "type: assay cover report OBJECT PROFILE"},
    {"tarpaulin", "type: assay cover run -- cargo test"},
    {"--coverage", "type: assay cover run -- CMD"},
    {"--capture", "type: assay cover export --format lcov -o FILE"},
    // valgrind and heaptrack
    {"--tool=", "type: assay heap -- CMD for dhat and massif, assay record -- CMD for callgrind"},
    {"dhat", "type: assay heap -- CMD"},
    {"massif", "type: assay heap -- CMD"},
    {"callgrind", "type: assay record -- CMD"},
    {"heaptrack", "type: assay heap -- CMD"},
    {"--leak-check=", "type: assay heap -- CMD, then assay report heap.assay"},
};

static bool is_habit(Str word, Str of)
{
    bool is_prefix = str_ends_with(of, STR("="));
    return is_prefix ? str_starts_with(word, of) : str_equal(word, of);
}

bool habit_hint(int argc, char **argv, StrBuf *ret)
{
    Str word = str_from_c(argc > 1 ? argv[1] : NULL);
    if (str_equal(word, STR("probe"))) {
        probe_hint(argc, argv, ret);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
        if (!is_habit(word, str_from_c(habits[i].word)))
            continue;
        strbuf_add(ret, str_from_c(habits[i].hint));
        return true;
    }
    return false;
}
