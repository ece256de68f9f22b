// SPDX-License-Identifier: Apache-2.0
// Which rows of function_counts are instances of one function: of a template, of a static function
// of a header, of a source that several programs include.

#ifndef MODEL_INSTANCES_H
#define MODEL_INSTANCES_H

#include "model/profile.h"

// For each row of function_counts the row that stands for all instances of its function: the one
// with the least linkage name, so that the order of the inputs does not matter. Functions are
// instances of one if they start at one place of a file; where no column is known, a row stands
// for itself. Release with vec_free.
void profile_function_instances(const Profile *p, U32Vec *ret);

#endif // MODEL_INSTANCES_H
