// SPDX-License-Identifier: Apache-2.0
// The scripts that cargo calls in place of the compiler. Documents: the Cargo book, "Environment
// Variables"; the rustdoc book, "Command-line arguments".

#include "collect/cover/cargo_tools.h"

#include <dirent.h>
#include <sys/stat.h>

#include "os/file.h"

// cargo rebuilds when the path of a script changes, not when its text does. So the number in the
// path changes whenever the scripts change what they do to the code.
#define TOOLS "assay-tools-1"

// A procedural macro of the workspace runs, and counts, inside the compiler. Its profile is named
// for the unit that is compiled and written anew with it. A build in which nothing is compiled thus
// keeps the counts of the build that compiled it.
static const char rustc_script[] =
    "#!/bin/sh\n"
    "# Written by 'assay cover run': rustc with instrumentation.\n"
    "if [ -n \"$ASSAY_COVER_BUILD\" ]; then\n"
    "    name='' unit='' last=''\n"
    "    for word; do\n"
    "        [ \"$last\" = --crate-name ] && name=$word\n"
    "        case $word in extra-filename=*) unit=${word#extra-filename=} ;; esac\n"
    "        last=$word\n"
    "    done\n"
    "    LLVM_PROFILE_FILE=/dev/null\n"
    "    if [ -n \"$unit\" ]; then\n"
    "        rm -f \"$ASSAY_COVER_BUILD/$name$unit\".*.profraw\n"
    "        LLVM_PROFILE_FILE=$ASSAY_COVER_BUILD/$name$unit.%m.profraw\n"
    "    fi\n"
    "    export LLVM_PROFILE_FILE\n"
    "fi\n"
    "[ -z \"$ASSAY_COVER_RUSTC\" ] || set -- \"$ASSAY_COVER_RUSTC\" \"$@\"\n"
    "exec \"$@\" -Cinstrument-coverage $ASSAY_COVER_FLAGS\n";

// Runs rustdoc with the linker script below in place of the linker that cargo chose, if that one
// works like cc.
static const char rustdoc_script[] =
    "#!/bin/sh\n"
    "# Written by 'assay cover run': rustdoc with instrumentation of what it tests.\n"
    "ASSAY_COVER_LINKER=cc last=''\n"
    "for word; do\n"
    "    case $last$word in\n"
    "    -Clinker=*) ASSAY_COVER_LINKER=${word#-C} "
    "ASSAY_COVER_LINKER=${ASSAY_COVER_LINKER#linker=} ;;\n"
    "    esac\n"
    "    last=$word\n"
    "done\n"
    "export ASSAY_COVER_LINKER\n"
    "case ${ASSAY_COVER_LINKER##*/} in\n"
    "*cc* | *clang* | *++*) set -- \"$@\" \"-Clinker=${0%/*}/assay-cc\" -Clinker-flavor=gcc ;;\n"
    "esac\n"
    "exec \"${ASSAY_COVER_RUSTDOC:-rustdoc}\" \"$@\" -Cinstrument-coverage $ASSAY_COVER_FLAGS\n";

static const char linker_script[] =
    "#!/bin/sh\n"
    "# Written by 'assay cover run': links programs of doctests and keeps them for a moment,\n"
    "# since rustdoc deletes them before anybody could see which lines they have.\n"
    "\"$ASSAY_COVER_LINKER\" \"$@\" || exit\n"
    "last='' out=''\n"
    "for word; do\n"
    "    [ \"$last\" = -o ] && out=$word\n"
    "    last=$word\n"
    "done\n"
    "[ -n \"$out\" ] && [ -d \"$ASSAY_COVER_KEEP\" ] || exit 0\n"
    "folder=${out%/*}\n"
    "to=$ASSAY_COVER_KEEP/${folder##*/}\n"
    "ln \"$out\" \"$to.object\" 2>/dev/null ||\n"
    "    { cp \"$out\" \"$to.part\" && mv \"$to.part\" \"$to.object\"; } 2>/dev/null\n"
    "exit 0\n";

static bool write_script(Arena *arena, Str folder, const char *name, const char *text, Str *path,
                         Error *err)
{
    *path = arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(folder), name);
    if (!os_write_file(*path, bytes_from_str(str_from_c(text)), OUTPUT_REPLACE, err))
        return false;
    return chmod(path->ptr, 0755) == 0 ||
           error_os(err, "cannot make '%" STR_FMT "' executable", STR_ARG(*path));
}

static void add(Arena *arena, CoverVariables *ret, const char *name, Str value)
{
    vec_push(arena, ret, (CoverVariable){name, value.len ? arena_c_str(arena, value) : NULL});
}

bool cover_cargo_tools(Arena *arena, const CoverCargo *c, const CoverCargoTools *user, Str keep,
                       CoverVariables *ret, Error *err)
{
    Str rustc, rustdoc, linker;
    Str folder = arena_printf(arena, "%" STR_FMT "/" TOOLS, STR_ARG(c->own_target));
    if (!os_make_folders(folder, err) ||
        !write_script(arena, folder, "rustc", rustc_script, &rustc, err) ||
        !write_script(arena, folder, "rustdoc", rustdoc_script, &rustdoc, err) ||
        !write_script(arena, folder, "assay-cc", linker_script, &linker, err))
        return false;
    bool all = c->how.all;
    add(arena, ret, all ? "RUSTC_WRAPPER" : "RUSTC_WORKSPACE_WRAPPER", rustc);
    add(arena, ret, "ASSAY_COVER_RUSTC", all ? user->rustc_wrapper : user->rustc_workspace_wrapper);
    add(arena, ret, "RUSTDOC", rustdoc);
    add(arena, ret, "ASSAY_COVER_RUSTDOC", user->rustdoc);
    add(arena, ret, "ASSAY_COVER_KEEP", keep);
    add(arena, ret, "ASSAY_COVER_FLAGS",
        c->how.continuous ? STR("-Cllvm-args=-runtime-counter-relocation") : STR(""));
    return true;
}

// ---- Counts of macros -------------------------------------------------------------

static Str build_folder(Arena *arena, const CoverCargo *c)
{
    return arena_printf(arena, "%" STR_FMT "/assay-build", STR_ARG(c->own_target));
}

CoverVariable cover_cargo_build_variable(Arena *arena, const CoverCargo *c)
{
    return (CoverVariable){"ASSAY_COVER_BUILD", build_folder(arena, c).ptr};
}

static bool is_unit(const CoverCargo *c, Str name)
{
    for (size_t i = 0; i < c->units.len; i++)
        if (str_equal(c->units.at[i], name))
            return true;
    return false;
}

void cover_cargo_add_build(Arena *arena, const CoverCargo *c, CoverPool *pool)
{
    Str folder = build_folder(arena, c);
    DIR *dir = opendir(arena_c_str(arena, folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        Str name = str_from_c(e->d_name);
        size_t dot = str_find_char(name, '.');
        if (dot != SIZE_MAX && str_ends_with(name, STR(".profraw")) &&
            is_unit(c, str_slice(name, 0, dot)))
            cover_pool_add(pool,
                           arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(folder), e->d_name));
    }
    if (dir)
        closedir(dir);
}
