// SPDX-License-Identifier: Apache-2.0
// Programs and libraries of runtimes, and their options, as their manuals state them.

#include "runtimes/runtime_kinds.h"

static const RuntimeKind kinds[] = {
    {"libruby", "Ruby", "run ruby with --yjit-perf (3.3 and later)"},
    {"ruby", "Ruby", "run ruby with --yjit-perf (3.3 and later)"},
    {"libluajit", "LuaJIT", "a LuaJIT that was built with -DLUAJIT_USE_PERFTOOLS writes them"},
    {"luajit", "LuaJIT", "a LuaJIT that was built with -DLUAJIT_USE_PERFTOOLS writes them"},
    {"libcoreclr.so", ".NET", "set DOTNET_PerfMapEnabled=1"},
    {"beam.smp", "Erlang's BEAM",
     "run erl with +JPperf true, or set ERL_FLAGS='+JPperf true', and record with -g fp"},
    {"sbcl", "SBCL", "it writes no map; -g fp shows its callers, and sb-sprof in SBCL has names"},
    {"opcache.so", "PHP", "set opcache.jit_debug=16 in php.ini"},
    {"libjulia", "Julia", "set ENABLE_JITPROFILING=1"},
    {"libj9jit", "OpenJ9", "run java with -Xjit:perfTool"},
    {"libjvm.so", "Java",
     "its tables could not be read; run java with -XX:+DumpPerfMapAtExit (17 and later)"},
    {"libmonosgen", "Mono", "run mono with --jitmap"},
    {"wasmtime", "Wasmtime", "run wasmtime with --profile=perfmap"},
};

const RuntimeKind *runtime_kind_find(Str path)
{
    Str name = str_base_name(path);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_starts_with(name, str_from_c(kinds[i].file)))
            return &kinds[i];
    return NULL;
}
