// SPDX-License-Identifier: Apache-2.0
// Blocks of a flight recording: written as recordings are, into files in memory.

#include "store/blocks.h"

#include <unistd.h>

#include "model/merge_profiles.h"
#include "os/file.h"
#include "os/unnamed_file.h"
#include "store/store.h"

static void drop_oldest(StoreBlocks *b)
{
    close(b->at.at[0].fd);
    b->size_bytes -= b->at.at[0].size_bytes;
    b->at.len--;
    memmove(&b->at.at[0], &b->at.at[1], b->at.len * sizeof(b->at.at[0]));
}

void store_blocks_deinit(StoreBlocks *b)
{
    while (b->at.len)
        drop_oldest(b);
    vec_free(&b->at);
    *b = (StoreBlocks){0};
}

bool store_blocks_add(StoreBlocks *b, const Profile *p, uint64_t most_bytes, Error *err)
{
    StoreBlock block = {.fd = os_open_memory(err)};
    if (block.fd < 0)
        return false;
    if (!store_write_to(block.fd, NULL, p, err)) {
        close(block.fd);
        return false;
    }
    block.size_bytes = (uint64_t)lseek(block.fd, 0, SEEK_CUR);
    b->size_bytes += block.size_bytes;
    vec_push(NULL, &b->at, block);
    while (b->size_bytes > most_bytes && b->at.len > 1) {
        drop_oldest(b);
        b->dropped++;
    }
    return true;
}

static bool add_block(const StoreBlock *b, Profile *into, Error *err)
{
    MappedFile file;
    Profile p;
    if (!os_map_fd(b->fd, STR("block"), &file, err))
        return false;
    bool ok = store_read(file.bytes, &p, err);
    if (ok) {
        ok = profile_join(into, &p, err);
        profile_deinit(&p);
    }
    os_unmap_file(&file);
    return ok;
}

bool store_blocks_join(const StoreBlocks *b, Profile *p, Error *err)
{
    Profile all;
    if (b->at.len == 0)
        return true;
    profile_init(&all);
    bool ok = true;
    for (size_t i = 0; ok && i < b->at.len; i++)
        ok = add_block(&b->at.at[i], &all, err);
    ok = ok && profile_join(&all, p, err);
    if (!ok) {
        profile_deinit(&all);
        return false;
    }
    profile_deinit(p);
    profile_move(p, &all);
    return true;
}
