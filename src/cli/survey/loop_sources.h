// SPDX-License-Identifier: Apache-2.0
// Source files as they were when the last program of assay loop was built. When that program runs
// again, beside the new one, the files at their paths may hold other lines.

#ifndef CLI_SURVEY_LOOP_SOURCES_H
#define CLI_SURVEY_LOOP_SOURCES_H

#include "cli/survey/survey_folder.h"

// Copies the source files that the recordings of a survey name into `folder`, whose earlier content
// is removed, below their paths. Files that are newer than the program have other lines than it was
// built from: they are not copied, and `newer` gets their names.
//
// Returns the values of --source-path, OLD=NEW, that lead to the copies. A file that was not copied
// is not found by them.
StrVec loop_sources_keep(Arena *arena, Str survey, const SurveyManifest *manifest, Str program,
                         Str folder, StrVec *newer);

#endif // CLI_SURVEY_LOOP_SOURCES_H
