// SPDX-License-Identifier: Apache-2.0
// Loading for the commands that read coverage: the results of 'assay cover run' where no input is
// named, notes on stderr, gates.

#ifndef CLI_COVER_COVER_LOAD_H
#define CLI_COVER_COVER_LOAD_H

#include "coverage/inputs.h"

// A view of the loaded coverage. `options` are the command's. Gives the exit status.
typedef int CoverShow(Profile *p, const void *options, Arena *arena);

// Loads the inputs, prints the notes, and gives the profile to `show`; prints why when it cannot
// load. Returns the exit status.
int cover_show_inputs(const CoverRequest *request, const StrVec *operands, CoverShow *show,
                      const void *options);

// Prints the notes of a profile on stderr.
void cover_print_notes(const Profile *p);

// cover_load, and prints the notes.
MUST_CHECK bool cover_load_printed(const CoverRequest *request, const StrVec *operands,
                                   Profile *ret, Error *err);

// Prints how many sources were left out because the run was to leave them out.
void cover_print_skipped(const Profile *p);

// Whether counts are among the inputs that no gate may pass: of another build, or contradicted by
// marks in the sources. Prints which.
bool cover_is_unsound(const Profile *p, bool llvm_rules);

#endif // CLI_COVER_COVER_LOAD_H
