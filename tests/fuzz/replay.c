// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over the files of its corpus without libFuzzer: each file
// whole, and cut at up to CUTS_MAX places, as a truncated file would be.

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CUTS_MAX = 32 };

// A block of exactly `size` bytes, so that ASan sees the first byte read past it.
static void run_one(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static bool replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0 || st.st_size < 0) {
        fprintf(stderr, "cannot read '%s': %s\n", path, strerror(errno));
        if (f)
            fclose(f);
        return false;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    bool ok = bytes && fread(bytes, 1, size, f) == size;
    fclose(f);
    if (ok) {
        size_t step = size / CUTS_MAX + 1;
        for (size_t cut = 0; cut < size; cut += step)
            run_one(bytes, cut);
        run_one(bytes, size);
    } else {
        fprintf(stderr, "cannot read '%s'\n", path);
    }
    free(bytes);
    return ok;
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entries = NULL;
        int n = scandir(argv[i], &entries, not_hidden, alphasort);
        if (n < 0) {
            fprintf(stderr, "cannot list '%s': %s\n", argv[i], strerror(errno));
            return 1;
        }
        for (int k = 0; k < n; k++) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s", argv[i], entries[k]->d_name);
            free(entries[k]);
            if (!replay_file(path))
                return 1;
            files++;
        }
        free(entries);
    }
    if (files == 0) {
        fprintf(stderr, "the corpus is empty\n");
        return 1;
    }
    printf("%u files\n", files);
    return 0;
}
