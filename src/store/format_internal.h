// SPDX-License-Identifier: Apache-2.0
// The numbers of the .assay format. docs/formats/assay.md gives their meaning.

#ifndef STORE_FORMAT_INTERNAL_H
#define STORE_FORMAT_INTERNAL_H

#include "base/str.h"

#define STORE_MAGIC                                                                                \
    "\x89"                                                                                         \
    "ASSAY\n\x1a"

enum {
    STORE_MAGIC_LEN = 8,
    STORE_VERSION = 1,
    STORE_HEADER_LEN = 16,
    STORE_BLOCK_HEAD_LEN = 24,
    STORE_TRAILER_LEN = 24,

    STORE_BLOCK_INDEX = 0xfffe,   // the block type of the index, which lists all blocks
    STORE_FLAG_ZSTD = 1 << 0,     // the payload is one zstd frame
    STORE_FLAG_REQUIRED = 1 << 1, // a reader that does not know the type must refuse the file

    STORE_RAW_MAX = 64 << 20,       // of one block's payload, before compression
    STORE_ROWS_PER_BLOCK = 1 << 16, // the writer's limit; the reader accepts more

    STORE_METRIC_COLUMN = 64, // the column of a metric's sample values: this + metric
    STORE_METRICS_MAX = 128,
};

// How the values of a column are encoded in a block.
typedef enum StoreEncoding {
    STORE_ENC_U8 = 1,     // one byte a row
    STORE_ENC_VARINT = 2, // LEB128 a row, unsigned
    STORE_ENC_DELTA = 3,  // zigzag LEB128 of the difference to the row before; the first to 0
    STORE_ENC_F64 = 4,    // IEEE 754 binary64, little endian
    STORE_ENC_TEXT = 5,   // LEB128 length, then the bytes
} StoreEncoding;

// The checksum of a block: XXH3-64 of the head without its checksum field, then of the payload as
// it is stored.
static inline uint64_t store_checksum(Bytes head16, Bytes payload)
{
    return bytes_hash_seeded(payload, bytes_hash(head16));
}

// Each writes a number to `p`, little endian.
static inline void put_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

// The same of 4 bytes.
static inline void put_u32(uint8_t *p, uint32_t v)
{
    put_u16(p, (uint16_t)v);
    put_u16(p + 2, (uint16_t)(v >> 16));
}

// The same of 8 bytes.
static inline void put_u64(uint8_t *p, uint64_t v)
{
    put_u32(p, (uint32_t)v);
    put_u32(p + 4, (uint32_t)(v >> 32));
}

#endif // STORE_FORMAT_INTERNAL_H
