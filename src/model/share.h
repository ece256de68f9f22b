// SPDX-License-Identifier: Apache-2.0
// Removes from a profile the parts that must not be sent to others.

#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/name.h"
#include "model/profile.h"

typedef struct ShareOptions {
    NameLength names; // function names at this length; linkage names go with the rest
    bool strip_paths; // of every path the last component
    bool anonymise; // pseudonyms for all names; docs/formats/export.md lists the parts that remain
    Str key;        // mixed into the pseudonyms: without it, names that can be guessed
                    // can be recognised
} ShareOptions;

// Changes the profile in place. No text that was taken out is left in it. Rows and
// all that refers to them stay, so that stacks, values and times are the same.
void profile_share(Profile *p, const ShareOptions *options);

// Leaves only these samples, rows ascending.
void profile_keep_samples(Profile *p, const uint32_t *rows, size_t count);

#endif // MODEL_SHARE_H
