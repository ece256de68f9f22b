// SPDX-License-Identifier: Apache-2.0
// Protocol buffers: fields of a message. Format: protobuf.dev, "Encoding".

#include "import/protobuf_internal.h"

bool protobuf_next(Cursor *c, ProtobufField *f)
{
    if (!cursor_more(c))
        return false;
    uint64_t key = cursor_uleb(c);
    *f = (ProtobufField){.number = (uint32_t)(key >> 3), .wire = key & 7};
    switch (f->wire) {
    case WIRE_VARINT:
        f->value = cursor_uleb(c);
        break;
    case WIRE_I64:
        f->value = cursor_u64(c);
        break;
    case WIRE_LEN:
        f->bytes = cursor_bytes(c, cursor_uleb(c));
        break;
    case WIRE_I32:
        f->value = cursor_u32(c);
        break;
    default:
        cursor_fail_decimal(c, "unknown protobuf wire type", f->wire);
    }
    return cursor_ok(c);
}

void protobuf_add_numbers(const ProtobufField *f, U64Vec *out)
{
    if (f->wire != WIRE_LEN) {
        vec_push(NULL, out, f->value);
        return;
    }
    Cursor c = cursor_over(f->bytes, "packed numbers");
    while (cursor_more(&c)) {
        uint64_t value = cursor_uleb(&c);
        if (cursor_ok(&c))
            vec_push(NULL, out, value);
    }
}

bool protobuf_flat(Bytes message, uint64_t *fields, size_t count, const char *what, Error *err)
{
    Cursor c = cursor_over(message, what);
    ProtobufField f;
    memset(fields, 0, count * sizeof(*fields));
    while (protobuf_next(&c, &f))
        if (f.number < count && f.wire == WIRE_VARINT)
            fields[f.number] = f.value;
    return cursor_check(&c, err);
}
