// SPDX-License-Identifier: Apache-2.0
// MD5 (RFC 1321) of one text, or of several at once.

#include "base/md5.h"

#include "base/wide.h"

static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

// One step of round `f`, for a number or a vector of numbers.
#define STEP(f, word, shift)                                                                       \
    do {                                                                                           \
        __typeof__(a) sum_ = a + (f) + sines[i] + words[(word) % 16];                              \
        a = d;                                                                                     \
        d = c;                                                                                     \
        c = b;                                                                                     \
        b += (sum_ << (shift)) | (sum_ >> (32 - (shift)));                                         \
    } while (0)

// The 64 steps over `words`, unrolled so that shifts and indices are constants.
#define ROUNDS                                                                                     \
    _Pragma("GCC unroll 16") for (unsigned i = 0; i < 16; i++)                                     \
        STEP((b & c) | (~b & d), i, ((const uint8_t[]){7, 12, 17, 22})[i % 4]);                    \
    _Pragma("GCC unroll 16") for (unsigned i = 16; i < 32; i++)                                    \
        STEP((d & b) | (~d & c), 5 * i + 1, ((const uint8_t[]){5, 9, 14, 20})[i % 4]);             \
    _Pragma("GCC unroll 16") for (unsigned i = 32; i < 48; i++)                                    \
        STEP(b ^ c ^ d, 3 * i + 5, ((const uint8_t[]){4, 11, 16, 23})[i % 4]);                     \
    _Pragma("GCC unroll 16") for (unsigned i = 48; i < 64; i++)                                    \
        STEP(c ^ (b | ~d), 7 * i, ((const uint8_t[]){6, 10, 15, 21})[i % 4])

static const uint32_t initial[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

static void md5_block(uint32_t state[4], const uint8_t *block)
{
    uint32_t words[16];
    memcpy(words, block, sizeof(words));
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    ROUNDS;
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

// Makes the end of the text with its padding and length. Returns its size: 64 or 128 bytes.
static size_t make_tail(Bytes data, uint8_t tail[128])
{
    size_t whole = data.len / 64 * 64, rest = data.len - whole;
    memset(tail, 0, 128);
    bytes_copy(tail, bytes_slice(data, whole, data.len));
    tail[rest] = 0x80;
    size_t size = rest < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)data.len * 8;
    memcpy(tail + size - 8, &bits, 8);
    return size;
}

static void digest(Bytes data, uint32_t state[4])
{
    memcpy(state, initial, sizeof(initial));
    for (size_t at = 0; at + 64 <= data.len; at += 64)
        md5_block(state, data.ptr + at);

    uint8_t tail[128];
    size_t size = make_tail(data, tail);
    for (size_t at = 0; at < size; at += 64)
        md5_block(state, tail + at);
}

void md5_digest(Bytes data, uint8_t ret[16])
{
    uint32_t state[4];
    digest(data, state);
    memcpy(ret, state, sizeof(state));
}

uint64_t md5_low64(Bytes data)
{
    uint32_t state[4];
    digest(data, state);
    return state[0] | (uint64_t)state[1] << 32;
}

// ---- Several texts at once ---------------------------------------------------

// Each step depends on the one before; several lanes use the processor in the meantime.
enum { LANES = 8 };
typedef uint32_t Lanes __attribute__((vector_size(4 * LANES)));

// A text that is being hashed in a lane.
typedef struct Lane {
    Bytes text;
    size_t blocks;
    uint8_t tail[128];
} Lane;

WIDE_CLONES static void md5_lanes(const Lane *lanes, size_t count, uint64_t *refs)
{
    size_t most = 0;
    for (size_t l = 0; l < count; l++)
        most = MAX(most, lanes[l].blocks);
    Lanes a0 = initial[0] + (Lanes){0}, b0 = initial[1] + (Lanes){0};
    Lanes c0 = initial[2] + (Lanes){0}, d0 = initial[3] + (Lanes){0};
    for (size_t block = 0; block < most; block++) {
        Lanes words[16] = {0};
        for (size_t l = 0; l < count; l++) {
            if (block >= lanes[l].blocks)
                continue;
            size_t at = block * 64, whole = lanes[l].text.len / 64 * 64;
            const uint8_t *from =
                at < whole ? lanes[l].text.ptr + at : lanes[l].tail + (at - whole);
            uint32_t w[16];
            memcpy(w, from, sizeof(w));
            for (unsigned i = 0; i < 16; i++)
                words[i][l] = w[i];
        }
        Lanes a = a0, b = b0, c = c0, d = d0;
        ROUNDS;
        a0 += a;
        b0 += b;
        c0 += c;
        d0 += d;
        // Longer texts continue; a text that is finished stores its result.
        for (size_t l = 0; l < count; l++)
            if (block + 1 == lanes[l].blocks)
                refs[l] = a0[l] | (uint64_t)b0[l] << 32;
    }
}

void md5_low64_many(const Str *texts, size_t count, uint64_t *refs)
{
    Lane lanes[LANES];
    for (size_t at = 0; at < count; at += LANES) {
        size_t n = MIN((size_t)LANES, count - at);
        for (size_t l = 0; l < n; l++) {
            lanes[l].text = bytes_from_str(texts[at + l]);
            size_t tail = make_tail(lanes[l].text, lanes[l].tail);
            lanes[l].blocks = lanes[l].text.len / 64 + tail / 64;
        }
        md5_lanes(lanes, n, refs + at);
    }
}
