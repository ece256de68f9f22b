// SPDX-License-Identifier: Apache-2.0
// A store of answers that many threads use, with a journal on the disk.

#ifndef EXAMPLES_QUEUE_STORE_H
#define EXAMPLES_QUEUE_STORE_H

#include <stdbool.h>

// Opens the store; its journal is the file `path`. `fast`: see store_flush.
void store_open(const char *path, bool fast);
// The answer to a question, which is computed when it is not stored yet.
unsigned store_get(unsigned question);
// Writes what is new to the journal. The slow form holds the lock while the disk works; the fast
// form copies what is new under the lock, and writes it afterwards. Returns the number of answers.
int store_flush(void);

#endif // EXAMPLES_QUEUE_STORE_H
