// SPDX-License-Identifier: Apache-2.0
// Protocol buffers, as far as importers need them: the fields of a message one by one.
// Format: protobuf.dev, "Encoding".

#ifndef IMPORT_PROTOBUF_INTERNAL_H
#define IMPORT_PROTOBUF_INTERNAL_H

#include "base/cursor.h"
#include "base/vec.h"

typedef enum ProtobufWire {
    WIRE_VARINT = 0,
    WIRE_I64 = 1,
    WIRE_LEN = 2,
    WIRE_I32 = 5
} ProtobufWire;

typedef struct ProtobufField {
    uint32_t number;
    uint32_t wire;
    uint64_t value; // varint and fixed widths
    Bytes bytes;    // WIRE_LEN
} ProtobufField;

typedef Vec(Bytes) BytesVec;

// Reads the next field. False at the end of the message, and where it is broken: the cursor has
// failed then.
bool protobuf_next(Cursor *c, ProtobufField *f);

// A repeated number comes packed or one by one; appends the contents of the field to the heap's
// `out`.
void protobuf_add_numbers(const ProtobufField *f, U64Vec *out);

// Reads the numbers of a flat message into fields[number]; those that it lacks are 0. `what` names
// the message in errors.
MUST_CHECK bool protobuf_flat(Bytes message, uint64_t *fields, size_t count, const char *what,
                              Error *err);

#endif // IMPORT_PROTOBUF_INTERNAL_H
