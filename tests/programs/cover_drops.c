// SPDX-License-Identifier: Apache-2.0
// As root: a child gives up root, and plants under the name of its parent's raw profile what the
// variable PLANT says, a link to the file of the argument or a FIFO. Both end by exit and count.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Names as in "FOLDER/%p-%m.profraw"; of the signature the runtime tells.
extern const char *__llvm_profile_get_filename(void) __attribute__((weak));

static void plant(const char *how, const char *victim)
{
    const char *name = __llvm_profile_get_filename ? __llvm_profile_get_filename() : "";
    if (strcmp(how, "link") == 0 && symlink(victim, name) != 0)
        perror("symlink");
    else if (strcmp(how, "fifo") == 0 && mkfifo(name, 0666) != 0)
        perror("mkfifo");
}

int main(int argc, char **argv)
{
    const char *how = getenv("PLANT");
    pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            return 1;
        if (how && *how) {
            plant(how, argc > 1 ? argv[1] : "");
            _exit(0);
        }
        puts("dropped"); // as another user
        return 0;
    }
    waitpid(child, NULL, 0);
    puts("done"); // as root
    return 0;
}
