// SPDX-License-Identifier: Apache-2.0
// The whole program many times in one process, for AFL++: main() of src/cli/main.c is
// assay_main() here (-Dmain=assay_main). No variable outlives a run (tools/check-layers), so that
// the runs do not know each other.

#undef main
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int assay_main(int argc, char **argv);

// AFL++'s macro casts a string's const away.
#pragma clang diagnostic ignored "-Wcast-qual"

enum { RUNS = 1000 }; // until the process is made anew

int main(int argc, char **argv)
{
    // A survey starts this program anew for its parts. With this variable they would stop after
    // their first run, as the loop below does, and wait for AFL++, which does not know them.
    unsetenv("__AFL_PERSISTENT");
    while (__AFL_LOOP(RUNS)) {
        // Option parsers may reorder the words, or cut them.
        char **words = calloc((size_t)argc + 1, sizeof(*words));
        if (!words)
            abort();
        for (int i = 0; i < argc; i++)
            words[i] = strdup(argv[i]);
        (void)assay_main(argc, words);
        fflush(NULL);
        for (int i = 0; i < argc; i++)
            free(words[i]);
        free(words);
    }
    return 0;
}
