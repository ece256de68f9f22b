// SPDX-License-Identifier: Apache-2.0
// The user's file of defaults: options that a command takes as if they stood first in its
// arguments. docs/man/assay.1 describes the file.

#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

// One option of the file.
typedef struct ConfigOption {
    Str name;  // without the dashes: "freq"
    Str value; // "" when has_value is false
    bool has_value;
    unsigned line; // from 1
} ConfigOption;

typedef struct ConfigOptions {
    Str path;
    Vec(ConfigOption) options;
} ConfigOptions;

// The options of one command ("record", "cover report") in $ASSAY_CONFIG, or else in
// $XDG_CONFIG_HOME/assay/config or ~/.config/assay/config. None when there is no file, or when
// $ASSAY_CONFIG is empty. Fails when the file cannot be read, belongs to a user who is neither this
// one nor root, or has a line that is neither a section, nor an option, nor a comment. Texts lie in
// the arena.
MUST_CHECK bool config_options(Arena *arena, Str command, ConfigOptions *ret, Error *err);

#endif // CLI_CONFIG_H
