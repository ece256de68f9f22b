// SPDX-License-Identifier: Apache-2.0
// A folder that keeps messages until a server has accepted them, over ends of the process. A
// message is a file: lines "url:", "type:", "encoding:", "bytes:", an empty line, then the body. No
// header that may hold a secret is written. Any number of processes may use one folder.

#ifndef SEND_SPOOL_H
#define SEND_SPOOL_H

#include "base/error.h"
#include "base/vec.h"

// What is sent: everything but the user's own headers.
typedef struct Message {
    Str url;
    Str type;     // Content-Type
    Str encoding; // Content-Encoding; "": none
    Bytes body;
} Message;

typedef struct Spool {
    int folder; // descriptor
    Str path;
    uint64_t max_bytes; // of all its messages
} Spool;

// Opens the folder, and makes it where it is missing: see os_open_own_folder.
MUST_CHECK bool spool_open(Str path, uint64_t max_bytes, Spool *ret, Error *err);
void spool_close(Spool *s);

// Adds a message, which is on the disk when this returns. The oldest messages are removed to make
// room for it; `removed` becomes their number. A message that alone is larger than the limit is an
// error.
MUST_CHECK bool spool_add(const Spool *s, const Message *message, unsigned *removed, Error *err);

// The names of all messages, oldest first, in the arena.
MUST_CHECK bool spool_list(const Spool *s, Arena *arena, StrVec *ret, Error *err);

typedef enum SpoolTake {
    SPOOL_TAKEN,  // `descriptor` holds the message; spool_done or spool_keep ends it
    SPOOL_GONE,   // another process sends it, or has sent it
    SPOOL_BROKEN, // no whole message: `err` says why
} SpoolTake;

// Reads a message into the arena and holds it, so that no other process sends it meanwhile.
SpoolTake spool_take(const Spool *s, Str name, Arena *arena, Message *ret, int *descriptor,
                     Error *err);
// Removes the message that was taken: it is sent, or nobody accepts it.
void spool_done(const Spool *s, Str name, int descriptor);
// Keeps it for a later time.
void spool_keep(int descriptor);

#endif // SEND_SPOOL_H
