// SPDX-License-Identifier: Apache-2.0
// Where results lie that are kept from one command to the next and that no option places.

#ifndef CLI_KEPT_H
#define CLI_KEPT_H

#include "base/str.h"

// Whether the working folder is a Cargo workspace that takes every folder in it for a member, as
// members = ["*"] does: a folder .assay there makes each use of cargo fail. Such a workspace
// excludes "target", so that results go there.
bool kept_below_target(void);

// The path for results of a kind: `usual`, or `below_target` in such a workspace.
static inline Str kept_path(Str usual, Str below_target)
{
    return kept_below_target() ? below_target : usual;
}

#endif // CLI_KEPT_H
