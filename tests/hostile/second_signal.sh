#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder that hangs on a file ends with the second signal, and says where the part is.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(uname -m)" = x86_64 ] || skip_all 'the program that makes code is for x86-64'
cc=$(compiler gcc)
"$cc" -O1 -o jit "$TOP/tests/programs/jit.c" || exit 1

# A file system that does not answer: fstat of the map never returns.
cat >hang.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int fstat64(int fd, struct stat64 *st)
{
    char link[64], path[256] = "";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "/perf-") && strstr(path, ".map")) {
        /* A recorder of root's may open no file now. */
        if (write(2, "hangs\n", 6) != 6)
            _exit(9);
        for (;;)
            pause();
    }
    return ((int (*)(int, struct stat64 *))dlsym(RTLD_NEXT, "fstat64"))(fd, st);
}
C
gone_or_zombie() { [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null || echo Z)" = Z ]; }
second_signal() { # SIGNAL
    local recorder status
    rm -f run.assay* err
    "$cc" -shared -fPIC -o hang.so hang.c -ldl || return 1
    LD_PRELOAD=$PWD/hang.so "$ASSAY" record -o run.assay -- env -u LD_PRELOAD ./jit 300000000 >out 2>err </dev/null &
    recorder=$!
    eventually grep -q hangs err || { kill -9 $recorder; cat err; return 1; }
    kill "-$1" $recorder
    sleep 0.3
    kill "-$1" $recorder
    eventually gone_or_zombie $recorder || { kill -9 $recorder; wait $recorder; echo 'it goes on'; return 1; }
    wait $recorder
    status=$?
    [ $status -gt 128 ] && grep -q 'run.assay.part' err || { echo "status $status"; cat err; return 1; }
}
if ldd "$ASSAY" >/dev/null 2>&1; then
    check 'a second SIGTERM ends a recorder that hangs' second_signal TERM
    check 'and so does a second SIGHUP' second_signal HUP
else
    skip 'a second signal' 'a static program cannot be made to hang'
fi
finish
