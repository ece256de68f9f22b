// SPDX-License-Identifier: Apache-2.0
// The symboliser's access to files.

#include "symbolise/files.h"

void file_set_init(FileSet *set, const SymboliseFiles *access, Arena *arena)
{
    *set = (FileSet){.access = access, .arena = arena};
}

void file_set_deinit(FileSet *set)
{
    for (size_t i = 0; i < set->mapped.len; i++)
        os_unmap_file(&set->mapped.at[i]);
    vec_free(&set->mapped);
    vec_free(&set->probes);
}

static bool open_any(const SymboliseFiles *access, Str path, MappedFile *ret)
{
    *ret = (MappedFile){0};
    if (path.len == 0 || memchr(path.ptr, 0, path.len))
        return false;
    if (!access->file_bytes)
        return os_map_file(path, ret, NULL);
    if (!access->file_bytes(access->ctx, path, &ret->bytes))
        return false;
    ret->identity.size_bytes = ret->bytes.len;
    return true;
}

bool file_set_open(FileSet *set, Str path, Bytes *ret)
{
    MappedFile file;
    bool exists = open_any(set->access, path, &file);
    vec_push(NULL, &set->probes, (FileProbe){arena_str(set->arena, path), exists, file.identity});
    if (!exists)
        return false;
    if (!set->access->file_bytes)
        vec_push(NULL, &set->mapped, file);
    *ret = file.bytes;
    return true;
}

void file_set_add(FileSet *set, Str path, const MappedFile *file)
{
    vec_push(NULL, &set->probes, (FileProbe){arena_str(set->arena, path), true, file->identity});
    vec_push(NULL, &set->mapped, *file);
}

void file_set_keep(FileSet *set, const MappedFile *file)
{
    vec_push(NULL, &set->mapped, *file);
}

bool file_probe_holds(const SymboliseFiles *access, const FileProbe *probe)
{
    FileIdentity now = {0};
    bool exists;
    if (access->file_bytes) {
        Bytes bytes;
        exists = access->file_bytes(access->ctx, probe->path, &bytes);
        now.size_bytes = exists ? bytes.len : 0;
    } else {
        exists = os_file_identity(probe->path, &now, NULL);
    }
    if (exists != probe->exists)
        return false;
    const FileIdentity *then = &probe->identity;
    return !exists || (now.device == then->device && now.inode == then->inode &&
                       now.size_bytes == then->size_bytes && now.mtime_ns == then->mtime_ns);
}
