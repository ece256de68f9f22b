// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of .assay recordings. Checksums are made right first, so
// that the fuzzer reaches what is behind them.

#include <stdlib.h>
#include <string.h>

#include "store/format_internal.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t get_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static void repair_checksums(uint8_t *file, size_t size)
{
    if (size < STORE_HEADER_LEN)
        return;
    put_u32(file + 12, (uint32_t)bytes_hash(bytes_over(file, 12)));
    size_t at = STORE_HEADER_LEN;
    while (size - at >= STORE_BLOCK_HEAD_LEN) {
        uint8_t *head = file + at;
        uint32_t len = get_u32(head + 8);
        if (len > size - at - STORE_BLOCK_HEAD_LEN)
            return;
        Bytes payload = bytes_over(head + STORE_BLOCK_HEAD_LEN, len);
        put_u64(head + 16, store_checksum(bytes_over(head, 16), payload));
        at += STORE_BLOCK_HEAD_LEN + len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size ? size : 1);
    if (!file)
        return 0;
    if (size)
        memcpy(file, data, size);
    repair_checksums(file, size);
    Profile p;
    Error err = {0};
    if (store_read(bytes_over(file, size), &p, &err))
        profile_deinit(&p);
    else if (err.text[0] == '\0')
        abort();
    free(file);
    return 0;
}
