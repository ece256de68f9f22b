// SPDX-License-Identifier: Apache-2.0
// Commands of perf that are no commands here.

#include "cli/perf_habits.h"

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

bool perf_habit_hint(int argc, char **argv, StrBuf *ret)
{
    if (argc < 2 || !str_equal(str_from_c(argv[1]), STR("probe")))
        return false;
    ProbeWords w = read_words(argc, argv);
    if (w.deletes) {
        strbuf_add(ret, STR("nothing is to be deleted: a probe ends with its recording"));
        return true;
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
    return true;
}
