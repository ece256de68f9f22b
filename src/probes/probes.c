// SPDX-License-Identifier: Apache-2.0
// Places in programs as events.

#include "probes/probes.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "os/file.h"
#include "probes/kernel_function.h"
#include "probes/probe_args.h"
#include "probes/probe_places.h"
#include "probes/probe_text.h"
#include "wire/probe_texts.h"

#define UPROBE_DEVICE "/sys/bus/event_source/devices/uprobe/"

typedef struct UprobePmu {
    uint32_t type;
    PmuField at_return, counter; // the bit for returns, and the offset of a marker's counter
    bool has_counter;            // kernels from 4.20 on
} UprobePmu;

static bool read_field(const char *path, PmuField *ret)
{
    char buf[64];
    Str text;
    return os_read_small(path, buf, sizeof(buf), &text) && pmu_field_parse(text, ret);
}

static bool find_pmu(UprobePmu *ret, Error *err)
{
    uint64_t type;
    if (!os_read_u64(UPROBE_DEVICE "type", &type) ||
        !read_field(UPROBE_DEVICE "format/retprobe", &ret->at_return)) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "this kernel cannot probe programs: it has no "
                        "uprobe events");
        return error_hint(err, "a kernel from 4.17 on with CONFIG_UPROBE_EVENTS=y is needed");
    }
    ret->type = (uint32_t)type;
    ret->has_counter = read_field(UPROBE_DEVICE "format/ref_ctr_offset", &ret->counter);
    return true;
}

typedef struct Making {
    Arena *arena;
    const ProbeContext *context;
    const ProbeText *text;
    const ProbeObject *object;
    UprobePmu pmu;
    Str name;
    Str path; // ends in NUL: the kernel reads it from our memory
    EventSpecVec *events;
} Making;

static bool set_counter(const Making *m, const ProbePlace *p, uint64_t config[3], Error *err)
{
    uint64_t offset;
    if (p->semaphore == 0)
        return true;
    if (!m->pmu.has_counter || !probe_object_offset(m->object, p->semaphore, &offset) ||
        !pmu_field_put(&m->pmu.counter, offset, config))
        return error_set(err, ERROR_UNSUPPORTED,
                         "marker '%" STR_FMT "' is off until its counter is raised, which this "
                         "kernel cannot do",
                         STR_ARG(m->text->point));
    return true;
}

static bool add_args(const Making *m, const ProbePlace *p, EventSpec *e, Error *err)
{
    EventArgs args = {0};
    EventArg one;
    int texts = 0;
    if (p->args.len)
        probe_args_of_marker(m->arena, &m->object->symbols.elf, p->args, &args);
    for (size_t i = 0; i < m->text->args.len; i++) {
        if (!probe_arg_parse(m->arena, m->object, p, m->text->args.at[i], &one, err))
            return false;
        texts += one.kind == EVENT_ARG_TEXT;
        if (texts > PROBE_TEXTS_MAX)
            return error_set(err, ERROR_LIMIT, "a probe takes at most %d texts", PROBE_TEXTS_MAX);
        vec_push(m->arena, &args, one);
    }
    e->args = args.at;
    e->arg_count = args.len;
    return true;
}

static bool is_there(const EventSpecVec *events, const EventSpec *e)
{
    for (size_t i = 0; i < events->len; i++) {
        const EventSpec *o = &events->at[i];
        if (o->is_probe && o->config == e->config && o->config2 == e->config2 &&
            str_equal(str_from_c((const char *)(uintptr_t)o->config1),
                      str_from_c((const char *)(uintptr_t)e->config1)))
            return true;
    }
    return false;
}

// "libc.so.6:memchr" for a place of the pattern "libc.so.6:mem*".
static Str name_of_place(const Making *m, const ProbePlace *p)
{
    Str pattern = m->text->name;
    bool is_pattern =
        str_find_char(pattern, '*') != SIZE_MAX || str_find_char(pattern, '?') != SIZE_MAX;
    if (!m->context->names_each || !is_pattern || p->function.len == 0)
        return m->name;
    Str target = str_base_name(m->text->target);
    return arena_printf(m->arena, "%" STR_FMT "%s%" STR_FMT "%s", STR_ARG(target),
                        target.len ? ":" : "", STR_ARG(p->function),
                        m->text->is_return ? "%return" : "");
}

static bool add_place(Making *m, const ProbePlace *p, Error *err)
{
    uint64_t config[3] = {0};
    EventSpec e = {.name = name_of_place(m, p),
                   .type = m->pmu.type,
                   .config1 = (uint64_t)(uintptr_t)m->path.ptr,
                   .group = EVENT_NO_GROUP,
                   .counts_each = true,
                   .is_probe = true,
                   .at_return = p->by_trampoline,
                   .is_emulated = probe_object_is_emulated(m->object, p->svma),
                   .svma = p->svma};
    if (!probe_object_offset(m->object, p->svma, &e.config2))
        return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' has no bytes at 0x%llx",
                         STR_ARG(m->object->path), (unsigned long long)p->svma);
    if (p->by_trampoline && !pmu_field_put(&m->pmu.at_return, 1, config))
        return error_set(err, ERROR_UNSUPPORTED, "this kernel has no probes at returns");
    if (!set_counter(m, p, config, err) || !add_args(m, p, &e, err))
        return false;
    e.config = config[0];
    if (is_there(m->events, &e))
        return true; // the same place twice is one probe
    vec_push(m->arena, m->events, e);
    return true;
}

// Puts events of one name behind each other, by the order of their first ones.
static void join_names(EventSpec *at, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        size_t next = i + 1;
        while (next < count && !str_equal(at[next].name, at[i].name))
            next++;
        if (next == count)
            continue;
        EventSpec e = at[next];
        memmove(&at[i + 2], &at[i + 1], (next - i - 1) * sizeof(*at));
        at[i + 1] = e;
    }
}

static bool add_places(Making *m, Error *err)
{
    ProbePlaces places = {0};
    if (!probe_places_find(m->arena, m->context, m->object, m->text, &places, err))
        return false;
    size_t before = m->events->len;
    for (size_t i = 0; i < places.len; i++)
        if (!add_place(m, &places.at[i], err))
            return false;
    if (m->events->len > before && m->context->names_each)
        join_names(&m->events->at[before], m->events->len - before);
    if (m->events->len == before)
        vec_push(m->arena, m->context->notes,
                 arena_printf(m->arena, "'%" STR_FMT "' is probed already", STR_ARG(m->name)));
    return true;
}

// "libc.so.6:malloc" for "/lib/x86_64-linux-gnu/libc.so.6:malloc".
static Str name_of(Arena *arena, const ProbeText *t)
{
    if (t->target.len == 0)
        return arena_str(arena, t->point);
    size_t at = str_find(t->point, t->target) + t->target.len + 1; // behind "probe_", too
    Str point = str_slice(t->point, at, t->point.len);
    return arena_printf(arena, "%" STR_FMT ":%" STR_FMT, STR_ARG(str_base_name(t->target)),
                        STR_ARG(point));
}

static bool find_in(const ProbeContext *context, Arena *arena, const ProbeText *text, Str target,
                    EventSpecVec *ret, Error *err)
{
    ProbeObject object;
    Making m = {.arena = arena,
                .context = context,
                .text = text,
                .object = &object,
                .name = name_of(arena, text),
                .events = ret};
    if (!find_pmu(&m.pmu, err) || !probe_object_open(arena, context, target, &object, err))
        return false;
    // The kernel wants the file itself; a path that leads through /proc/PID is one, too.
    char real[PATH_MAX];
    m.path = arena_str(arena, realpath(object.path.ptr, real) ? str_from_c(real) : object.path);
    bool ok = add_places(&m, err);
    probe_object_close(&object);
    return ok;
}

// Where a program has no function of that name, a library that it needs may have it: users know
// the command, seldom its libraries.
static void look_in_libraries(const ProbeContext *context, const ProbeText *text, Error *err)
{
    Arena scratch = {0};
    StrVec libraries = {0};
    ProbeObject program, library;
    if (probe_object_open(&scratch, context, text->target, &program, NULL)) {
        probe_object_libraries(&scratch, &program, &libraries);
        probe_object_close(&program);
    }
    for (size_t i = 0; i < libraries.len; i++) {
        ProbeFunctions found = {0};
        if (!probe_object_open(&scratch, context, libraries.at[i], &library, NULL))
            continue;
        probe_object_functions(&scratch, &library, text->name, &found);
        probe_object_close(&library);
        if (found.len == 0)
            continue;
        (void)error_hint(err, "its library '%" STR_FMT "' has it: -e %" STR_FMT ":%" STR_FMT,
                         STR_ARG(libraries.at[i]), STR_ARG(libraries.at[i]), STR_ARG(text->name));
        break;
    }
    arena_deinit(&scratch);
}

// Markers of a library carry its name: "sdt_libc:setjmp" is in libc.so.6.
static bool find_one(const ProbeContext *context, Arena *arena, const ProbeText *text,
                     EventSpecVec *ret, Error *err)
{
    Error why = {0}, other = {0};
    bool of_library = text->kind == PROBE_USDT && text->target.len == 0 &&
                      str_starts_with(text->provider, STR("lib"));
    if (find_in(context, arena, text, text->target, ret, &why))
        return true;
    Str library = str_equal(text->provider, STR("libstdcxx")) ? STR("libstdc++") : text->provider;
    if (of_library && why.kind == ERROR_NOT_FOUND) {
        if (find_in(context, arena, text, library, ret, &other))
            return true;
        if (str_starts_with(str_from_c(other.text), STR("no marker")))
            why = other;
    }
    if (text->kind == PROBE_FUNCTION && why.kind == ERROR_NOT_FOUND &&
        str_starts_with(str_from_c(why.text), STR("no function")))
        look_in_libraries(context, text, &why);
    if (err)
        *err = why;
    return false;
}

bool probes_find(void *context, Arena *arena, Str text, bool *is_probe, EventSpecVec *ret,
                 Error *err)
{
    const ProbeContext *c = context;
    Str rest = str_trim(text), part;
    *is_probe = kernel_function_is(rest, c->tracefs);
    if (*is_probe)
        return kernel_function_find(arena, rest, ret, err);
    *is_probe = probe_text_is(rest, c->program, c->tracefs);
    if (!*is_probe)
        return true;
    bool has_args = str_find_char(rest, ' ') != SIZE_MAX;
    while (str_next_part(&rest, ',', &part)) {
        ProbeText parsed;
        if (has_args) { // commas belong to the names of functions with arguments
            part = str_trim(text);
            rest = STR("");
        }
        if (!probe_text_parse(arena, part, &parsed, err) || !find_one(c, arena, &parsed, ret, err))
            return false;
    }
    return true;
}
