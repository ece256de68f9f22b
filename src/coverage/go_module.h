// SPDX-License-Identifier: Apache-2.0
// Where the sources of a Go profile are: profiles name packages, and go.mod says which folder holds
// those of a module. Document: go.dev/ref/mod, "go.mod files".

#ifndef COVERAGE_GO_MODULE_H
#define COVERAGE_GO_MODULE_H

#include "base/arena.h"
#include "base/str.h"

typedef struct GoModule {
    Str path;   // "example.com/tool"; empty: no go.mod was found
    Str folder; // of its go.mod, absolute
} GoModule;

// The module whose go.mod is in the folder of the profile, or else in the working folder. Folders
// above them are not searched, since they may be those of other users. Texts lie in the arena.
GoModule cover_go_module(Arena *arena, Str profile);

// The file that "example.com/tool/pkg/a.go" stands for; other paths stay as they are.
Str cover_go_module_file(Arena *arena, const GoModule *module, Str path);

#endif // COVERAGE_GO_MODULE_H
