// SPDX-License-Identifier: Apache-2.0
// Functions as calls.

#include "probes/probe_calls.h"

#include <limits.h>
#include <stdlib.h>

#include "elf/build_id.h"
#include "probes/goroutines.h"
#include "probes/probe_args.h"
#include "probes/probe_places.h"
#include "probes/probe_text.h"

typedef struct Making {
    Arena *arena;
    const ProbeContext *context;
    const ProbeObject *object;
    const ProbeText *text;
    CallRole role;
    Str key; // "": none
    Str path, build_id;
    bool by_instruction;
    CallPlan *plan;
    ProbeFunctions colds;
    size_t skipped; // functions whose returns cannot be seen
} Making;

// ---- Exceptions --------------------------------------------------------------------------

// Whether a program can unwind its stack: it has, or needs, the library that does it.
static bool may_unwind(Arena *arena, const ProbeObject *o)
{
    static const char *const libraries[] = {"libstdc++", "libc++", "libgcc_s", "libunwind"};
    StrVec needed = {0};
    ProbeFunctions own = {0};
    probe_object_libraries(arena, o, &needed);
    for (size_t i = 0; i < needed.len; i++)
        for (size_t k = 0; k < ARRAY_LEN(libraries); k++)
            if (str_starts_with(needed.at[i], str_from_c(libraries[k])))
                return true;
    probe_object_functions(arena, o, STR("_Unwind_RaiseException"), &own);
    return own.len > 0;
}

// The same of the program, when a library of it is probed.
static bool program_may_unwind(Arena *arena, const ProbeContext *context, const ProbeObject *o)
{
    ProbeObject program;
    if (may_unwind(arena, o))
        return true;
    if (!probe_object_open(arena, context, STR(""), &program, NULL))
        return false;
    bool may = may_unwind(arena, &program);
    probe_object_close(&program);
    return may;
}

// ---- Arguments ---------------------------------------------------------------------------

static bool add_arg(const Making *m, const ProbePlace *entry, Str word, EventArgs *args,
                    CallFunction *f, Error *err)
{
    EventArg one;
    if (str_equal(word, STR("$retval"))) {
        f->takes_result = true;
        return true;
    }
    if (!probe_arg_parse(m->arena, m->object, entry, word, &one, err))
        return false;
    if (one.kind != EVENT_ARG_REGISTER && one.kind != EVENT_ARG_CONSTANT) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "'%" STR_FMT "' lies in memory where '%" STR_FMT "' is entered",
                        STR_ARG(word), STR_ARG(f->name));
        return error_hint(err, "calls take values from registers: $arg1 … $arg6, $retval, or a "
                               "parameter by its name");
    }
    vec_push(m->arena, args, one);
    return true;
}

static bool add_args(const Making *m, const ProbePlace *entry, CallFunction *f, Error *err)
{
    EventArgs args = {0};
    if (m->key.len && !add_arg(m, entry, m->key, &args, f, err))
        return false;
    f->takes_key = args.len > 0;
    if (m->key.len && !f->takes_key)
        return error_set(err, ERROR_USAGE, "--key takes an argument of the entries, not $retval");
    for (size_t i = 0; i < m->text->args.len; i++)
        if (!add_arg(m, entry, m->text->args.at[i], &args, f, err))
            return false;
    f->args = args.at;
    f->arg_count = args.len;
    return true;
}

// ---- Functions ---------------------------------------------------------------------------

static bool is_there(const Making *m, const CallFunction *f)
{
    for (size_t i = 0; i < m->plan->functions.len; i++) {
        const CallFunction *o = &m->plan->functions.at[i];
        if (o->svma == f->svma && o->role == f->role && str_equal(o->path, f->path))
            return true;
    }
    return false;
}

static bool add_function(Making *m, const ProbeFunction *fn, Error *err)
{
    ProbePlaces places = {0};
    CallFunction f = {.name = fn->name,
                      .path = m->path,
                      .build_id = m->build_id,
                      .svma = fn->start,
                      .role = m->role,
                      .is_go = m->object->symbols.has_go};
    if (f.is_go)
        f.goid_offset = go_goid_offset(&m->object->symbols.elf);
    if (is_there(m, &f))
        return true;
    bool by_instruction = m->by_instruction || f.is_go;
    if (m->role != CALL_ROLE_CALL)
        vec_push(m->arena, &places, (ProbePlace){.svma = fn->start});
    else if (!probe_call_places(m->arena, m->context, m->object, fn, &m->colds, by_instruction,
                                &places)) {
        m->skipped++;
        vec_push(m->arena, m->context->notes,
                 arena_printf(m->arena,
                              "calls of '%" STR_FMT "' are not recorded: it ends in a jump to "
                              "another function or never returns, and an exception may leave it",
                              STR_ARG(fn->name)));
        return true;
    }
    if (!add_args(m, &places.at[0], &f, err))
        return false;
    for (size_t i = 0; i < places.len; i++) {
        const ProbePlace *p = &places.at[i];
        CallPlace place = {.function = (uint32_t)m->plan->functions.len,
                           .is_return = p->is_return || p->by_trampoline,
                           .by_trampoline = p->by_trampoline};
        f.returns_by_kernel |= p->by_trampoline;
        if (!probe_object_offset(m->object, p->svma, &place.offset))
            return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' has no bytes at 0x%llx",
                             STR_ARG(m->object->path), (unsigned long long)p->svma);
        vec_push(m->arena, &m->plan->places, place);
    }
    vec_push(m->arena, &m->plan->functions, f);
    return true;
}

static bool add_functions(Making *m, Error *err)
{
    ProbeFunctions found = {0};
    size_t before = m->plan->functions.len;
    probe_object_functions(m->arena, m->object, m->text->name, &found);
    if (found.len > PROBE_PLACES_MAX) {
        (void)error_set(err, ERROR_LIMIT, "'%" STR_FMT "' fits %zu functions, more than %d",
                        STR_ARG(m->text->name), found.len, PROBE_PLACES_MAX);
        return error_hint(err, "narrow the pattern; assay list shows the names");
    }
    for (size_t i = 0; i < found.len; i++)
        if (found.at[i].is_cold)
            vec_push(m->arena, &m->colds, found.at[i]);
    for (size_t i = 0; i < found.len; i++)
        if (!found.at[i].is_chooser && !found.at[i].is_cold && !add_function(m, &found.at[i], err))
            return false;
    size_t inlined = probe_note_inlined(m->arena, m->context, m->object, m->text->name);
    if (found.len == 0 && inlined) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "'%" STR_FMT "' is inlined everywhere: it has no calls",
                        STR_ARG(m->text->name));
        return error_hint(err, "name a function that calls it, or compile it with "
                               "__attribute__((noinline))");
    }
    if (found.len == 0)
        return probe_object_unknown(m->arena, m->object, m->text->name, err);
    if (m->plan->functions.len == before && m->skipped) {
        (void)error_set(err, ERROR_UNSUPPORTED, "the returns of '%" STR_FMT "' cannot be seen",
                        STR_ARG(m->text->name));
        return error_hint(err,
                          "it ends in a jump to another function, or never returns; name a "
                          "function that calls it, or compile with -fno-optimize-sibling-calls");
    }
    return true;
}

static bool find_in(Arena *arena, const ProbeContext *context, const ProbeText *text, CallRole role,
                    Str key, CallPlan *ret, Error *err)
{
    ProbeObject object;
    char real[PATH_MAX];
    if (!probe_object_open(arena, context, text->target, &object, err))
        return false;
    BuildId id = elf_build_id(&object.symbols.elf);
    Making m = {.arena = arena,
                .context = context,
                .object = &object,
                .text = text,
                .role = role,
                .key = key,
                .by_instruction = program_may_unwind(arena, context, &object),
                .build_id = build_id_hex(arena, &id),
                .plan = ret};
    m.path = arena_str(arena, realpath(object.path.ptr, real) ? str_from_c(real) : object.path);
    bool ok = add_functions(&m, err);
    probe_object_close(&object);
    return ok;
}

static bool find_text(Arena *arena, const ProbeContext *context, Str text, CallRole role, Str key,
                      CallPlan *ret, Error *err)
{
    ProbeText parsed;
    if (!probe_text_parse(arena, text, &parsed, err))
        return false;
    if (parsed.kind != PROBE_FUNCTION || parsed.is_return || parsed.offset) {
        (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a function", STR_ARG(text));
        return error_hint(err, "calls are those of functions: [FILE:]NAME, which may have * and ?");
    }
    return find_in(arena, context, &parsed, role, key, ret, err);
}

// The position of the dots of BEGIN..END; SIZE_MAX: none. Those of a path such as ../prog:f are
// none.
static size_t find_dots(Str text)
{
    for (size_t at = 0; at + 2 <= text.len; at++)
        if (text.ptr[at] == '.' && text.ptr[at + 1] == '.' &&
            (at + 2 == text.len || text.ptr[at + 2] != '/'))
            return at;
    return SIZE_MAX;
}

bool probe_calls_find(Arena *arena, const ProbeContext *context, Str text, Str key, CallPlan *ret,
                      Error *err)
{
    size_t dots = find_dots(text);
    if (key.len == 0 && dots == SIZE_MAX)
        return find_text(arena, context, str_trim(text), CALL_ROLE_CALL, key, ret, err);
    if (key.len == 0) {
        (void)error_set(err, ERROR_USAGE,
                        "--calls '%" STR_FMT "' joins two functions: --key is missing",
                        STR_ARG(text));
        return error_hint(err, "name the argument that both functions have: --key '$arg1'");
    }
    if (dots == SIZE_MAX) {
        (void)error_set(err, ERROR_USAGE,
                        "--key joins two functions, and --calls '%" STR_FMT "' names only one",
                        STR_ARG(text));
        return error_hint(err, "name both: --calls 'submit..complete' --key '$arg1'");
    }
    Str begin = str_trim(str_slice(text, 0, dots)),
        end = str_trim(str_slice(text, dots + 2, text.len));
    return find_text(arena, context, begin, CALL_ROLE_BEGIN, key, ret, err) &&
           find_text(arena, context, end, CALL_ROLE_END, key, ret, err);
}
