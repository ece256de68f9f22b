// SPDX-License-Identifier: Apache-2.0
// The values of arguments of probes as text and JSON.

#ifndef CLI_LOOK_ARGUMENTS_SCREEN_H
#define CLI_LOOK_ARGUMENTS_SCREEN_H

#include "analyse/arguments.h"

// Appends a block for each argument: how many values, their range, and a histogram.
void arguments_add_text(StrBuf *out, const Profile *p, const ArgumentValuesVec *arguments);

#endif // CLI_LOOK_ARGUMENTS_SCREEN_H
