// SPDX-License-Identifier: Apache-2.0
// .assay files for a fuzzer that knows neither checksums nor zstd (docs/formats/assay.md).
//
//   assay_blocks unpack FILE OUT    blocks without compression, which mutations can reach
//   assay_blocks repair FILE OUT    what the program gets to read: lengths that fit, blocks packed
//                                   again that say so, all checksums right
//
// As a shared library it is a custom mutator of AFL++ that repairs each input before it is run.
// Any other file stays as it is.

#define XXH_INLINE_ALL
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum {
    HEADER = 16,
    HEAD = 24,
    TRAILER = 24,
    PACKED = 1, // the flag of a block
    INDEX = 0xfffe,
    UNPACKED_MAX = 16 << 20,
};
static const uint8_t magic[8] = {0x89, 'A', 'S', 'S', 'A', 'Y', '\n', 0x1a};

typedef struct Out {
    uint8_t *at;
    size_t len, room;
} Out;

static void out_add(Out *out, const void *bytes, size_t len)
{
    if (out->len + len > out->room) {
        out->room = 2 * (out->len + len);
        out->at = realloc(out->at, out->room);
        if (!out->at)
            abort();
    }
    if (len > 0)
        memcpy(out->at + out->len, bytes, len);
    out->len += len;
}

static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static void out_block(Out *out, const uint8_t *head, uint32_t raw, const void *payload, size_t len)
{
    uint8_t fixed[HEAD];
    uint32_t stored = (uint32_t)len, none = 0;
    memcpy(fixed, head, 4);
    memcpy(fixed + 4, &raw, 4);
    memcpy(fixed + 8, &stored, 4);
    memcpy(fixed + 12, &none, 4);
    XXH64_hash_t sum = XXH3_64bits_withSeed(payload, len, XXH3_64bits(fixed, 16));
    memcpy(fixed + 16, &sum, 8);
    out_add(out, fixed, HEAD);
    out_add(out, payload, len);
}

static bool is_zstd(const uint8_t *p, size_t len)
{
    static const uint8_t frame[4] = {0x28, 0xb5, 0x2f, 0xfd};
    return len >= 4 && memcmp(p, frame, 4) == 0;
}

static void add_block(Out *out, const uint8_t *head, const uint8_t *payload, size_t len,
                      bool unpack)
{
    bool packed = head[2] & PACKED, frame = is_zstd(payload, len);
    unsigned long long raw = packed && frame ? ZSTD_getFrameContentSize(payload, len) : len;
    if (unpack && packed && frame && raw <= UNPACKED_MAX) {
        uint8_t plain[4] = {head[0], head[1], head[2] & ~PACKED, head[3]};
        uint8_t *bytes = malloc(raw + 1);
        size_t got = bytes ? ZSTD_decompress(bytes, raw, payload, len) : 0;
        if (bytes && !ZSTD_isError(got))
            out_block(out, plain, (uint32_t)got, bytes, got);
        free(bytes);
    } else if (!unpack && packed && !frame) {
        size_t room = ZSTD_compressBound(len);
        uint8_t *bytes = malloc(room);
        size_t got = bytes ? ZSTD_compress(bytes, room, payload, len, 1) : 0;
        if (bytes && !ZSTD_isError(got))
            out_block(out, head, (uint32_t)len, bytes, got);
        free(bytes);
    } else {
        out_block(out, head, packed ? u32_at(head + 4) : (uint32_t)len, payload, len);
    }
}

static void add_trailer(Out *out, uint64_t index)
{
    XXH64_hash_t sum = XXH3_64bits(&index, sizeof(index));
    out_add(out, &index, sizeof(index));
    out_add(out, &sum, sizeof(sum));
    out_add(out, magic, sizeof(magic));
}

static void convert(const uint8_t *in, size_t len, bool unpack, Out *out)
{
    out->len = 0;
    if (len < HEADER || memcmp(in, magic, sizeof(magic)) != 0) {
        out_add(out, in, len);
        return;
    }
    uint32_t sum = (uint32_t)XXH3_64bits(in, 12);
    out_add(out, in, 12);
    out_add(out, &sum, 4);
    bool ends = len >= HEADER + TRAILER && memcmp(in + len - 8, magic, sizeof(magic)) == 0;
    size_t end = ends ? len - TRAILER : len, at = HEADER;
    uint64_t index = 0;
    while (at + HEAD <= end) {
        const uint8_t *head = in + at;
        size_t rest = end - at - HEAD, stored = u32_at(head + 8);
        if (stored > rest)
            stored = rest;
        if ((head[0] | head[1] << 8) == INDEX)
            index = out->len;
        add_block(out, head, head + HEAD, stored, unpack);
        at += HEAD + stored;
    }
    out_add(out, in + at, end - at);
    if (ends)
        add_trailer(out, index);
}

// AFL++'s interface (custom_mutators/README.md of its source).
void *afl_custom_init(void *afl, unsigned int seed);
size_t afl_custom_post_process(void *data, uint8_t *in, size_t len, uint8_t **ret);
void afl_custom_deinit(void *data);

void *afl_custom_init(void *afl, unsigned int seed)
{
    (void)afl;
    (void)seed;
    return calloc(1, sizeof(Out));
}

size_t afl_custom_post_process(void *data, uint8_t *in, size_t len, uint8_t **ret)
{
    Out *out = data;
    convert(in, len, false, out);
    *ret = out->at;
    return out->len;
}

void afl_custom_deinit(void *data)
{
    free(((Out *)data)->at);
    free(data);
}

static bool read_whole(const char *path, Out *file)
{
    uint8_t part[4096];
    size_t got;
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    while ((got = fread(part, 1, sizeof(part), f)) > 0)
        out_add(file, part, got);
    return fclose(f) == 0;
}

int main(int argc, char **argv)
{
    Out file = {0}, out = {0};
    bool unpack = argc == 4 && strcmp(argv[1], "unpack") == 0;
    if (argc != 4 || (!unpack && strcmp(argv[1], "repair") != 0)) {
        fprintf(stderr, "usage: assay_blocks unpack|repair FILE OUT\n");
        return 2;
    }
    FILE *f = NULL;
    bool ok = read_whole(argv[2], &file) && (f = fopen(argv[3], "wb"));
    if (ok) {
        convert(file.at, file.len, unpack, &out);
        ok = fwrite(out.at, 1, out.len, f) == out.len;
        ok = fclose(f) == 0 && ok;
    }
    if (!ok)
        perror("assay_blocks");
    free(file.at);
    free(out.at);
    return ok ? 0 : 1;
}
