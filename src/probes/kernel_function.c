// SPDX-License-Identifier: Apache-2.0
// The kernel's kprobe PMU takes the name of a function: nothing is written anywhere, and nothing
// stays behind.

#include "probes/kernel_function.h"

#include "os/file.h"

#define KPROBE_DEVICE "/sys/bus/event_source/devices/kprobe/"
#define SYMBOLS       "/proc/kallsyms"

// The words of a probe.
typedef struct Words {
    Str name;
    bool at_return;
} Words;

static bool split_words(Str text, Words *ret)
{
    static const struct {
        const char *word;
        bool at_return;
    } groups[] = {{"kernel", false}, {"kprobe", false}, {"kretprobe", true}, {"probe", false}};
    Str group, name, end = STR("%return");
    if (!str_split(str_trim(text), ':', &group, &name) || name.len == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        if (!str_equal(group, str_from_c(groups[i].word)))
            continue;
        bool has_end = str_ends_with(name, end);
        *ret = (Words){has_end ? str_slice(name, 0, name.len - end.len) : name,
                       groups[i].at_return || has_end};
        return true;
    }
    return false;
}

bool kernel_function_is(Str text, Str tracefs)
{
    Arena scratch = {0};
    Words words;
    Str group, name;
    bool is_one = split_words(text, &words) && str_split(str_trim(text), ':', &group, &name);
    if (is_one && tracefs.len)
        is_one =
            !os_file_exists(arena_printf(&scratch, "%" STR_FMT "/events/%" STR_FMT "/%" STR_FMT,
                                         STR_ARG(tracefs), STR_ARG(group), STR_ARG(name)));
    arena_deinit(&scratch);
    return is_one;
}

// Whether the kernel has code of that name. True as well when it does not show its names.
static bool is_in_kernel(Str name)
{
    enum { BYTES_MAX = 256 << 20 };
    Arena scratch = {0};
    Bytes bytes;
    bool found = !os_read_file(&scratch, STR(SYMBOLS), BYTES_MAX, &bytes, NULL) || bytes.len == 0;
    Str rest = found ? STR("") : str_from_bytes(bytes), line;
    while (!found && str_next_part(&rest, '\n', &line)) { // address, kind, name, [module]
        Str word;
        bool has_kind = str_next_part(&line, ' ', &word); // the address is skipped
        has_kind = has_kind && str_next_part(&line, ' ', &word);
        bool is_code = has_kind && word.len == 1 && (word.ptr[0] | 0x20) == 't';
        size_t tab = str_find_char(line, '\t');
        found = is_code && str_equal(tab == SIZE_MAX ? line : str_slice(line, 0, tab), name);
    }
    arena_deinit(&scratch);
    return found;
}

static bool return_bit(uint64_t *ret)
{
    char buf[64];
    Str text;
    PmuField field;
    uint64_t config[3] = {0};
    if (!os_read_small(KPROBE_DEVICE "format/retprobe", buf, sizeof(buf), &text) ||
        !pmu_field_parse(text, &field) || !pmu_field_put(&field, 1, config))
        return false;
    *ret = config[0];
    return true;
}

bool kernel_function_find(Arena *arena, Str text, EventSpecVec *ret, Error *err)
{
    Words words;
    uint64_t type, config = 0;
    if (!split_words(text, &words))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a function", STR_ARG(text));
    if (!os_read_u64(KPROBE_DEVICE "type", &type)) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot probe '%" STR_FMT "': this kernel has no probes of its functions",
                        STR_ARG(words.name));
        return error_hint(err, "it was built without CONFIG_KPROBE_EVENTS; its tracepoints are "
                               "there: assay list tracepoint");
    }
    if (str_find_char(words.name, ' ') != SIZE_MAX || str_find_char(words.name, '*') != SIZE_MAX)
        return error_set(err, ERROR_UNSUPPORTED,
                         "a function of the kernel is probed by its name alone, without arguments "
                         "and wildcards");
    if (!is_in_kernel(words.name)) {
        (void)error_set(err, ERROR_NOT_FOUND, "no function '%" STR_FMT "' in the kernel",
                        STR_ARG(words.name));
        return error_hint(err, "its functions are in " SYMBOLS);
    }
    if (words.at_return && !return_bit(&config))
        return error_set(err, ERROR_UNSUPPORTED, "this kernel has no probes at returns");
    Str name = arena_printf(arena, "%" STR_FMT, STR_ARG(words.name)); // ends in NUL
    EventSpec e = {.name = arena_str(arena, str_trim(text)),
                   .type = (uint32_t)type,
                   .config = config,
                   .config1 = (uint64_t)(uintptr_t)name.ptr,
                   .group = EVENT_NO_GROUP,
                   .counts_each = true,
                   .is_kernel_function = true};
    vec_push(arena, ret, e);
    return true;
}
