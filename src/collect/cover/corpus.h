// SPDX-License-Identifier: Apache-2.0
// The inputs of a fuzzer's corpus, each with the command that reads it.

#ifndef COLLECT_COVER_CORPUS_H
#define COLLECT_COVER_CORPUS_H

#include "collect/cover/testmap_list.h"

// Appends a command for each regular file in the folder and in the folders below it, by path; its
// name is the path below the folder. The command is `argv` with the file's path in the place of
// "{}", or of AFL's "@@". Links, hidden files and files that are not regular are left out. It is an
// error if no word has such a place or there is no file.
MUST_CHECK bool cover_corpus_list(Arena *arena, Str folder, char *const argv[],
                                  CoverTestCommands *ret, Error *err);

#endif // COLLECT_COVER_CORPUS_H
