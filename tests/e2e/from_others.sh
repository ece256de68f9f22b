#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each command of assay in the tables of docs/from-*.md works as it stands there.
# beside others: 39 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
command -v clang-14 >/dev/null || skip_all 'no clang-14 here (tools/install-deps --dev)'

cat >prog.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv)
{
    volatile unsigned long sum = 0;
    clock_t end = clock() + (argc > 1 ? 20 : 40) * CLOCKS_PER_SEC / 1000;
    (void)argv;
    while (clock() < end) {
        char *block = malloc(100);
        memset(block, 1, 100);
        sum += block[argc];
        free(block);
    }
    return 0;
}
C
gcc -g -O1 -o prog prog.c
mkdir -p cover
(cd cover && clang-14 -g -fprofile-instr-generate -fcoverage-mapping -o prog ../prog.c &&
    LLVM_PROFILE_FILE=a.profraw ./prog && "$ASSAY" cover merge -o all.profdata a.profraw) >log 2>&1
mkdir -p gcc && (cd gcc && gcc -g --coverage -o prog ../prog.c && ./prog)
(cd cover && "$ASSAY" cover export --format lcov -o a.info ./prog a.profraw && cp a.info b.info && cp a.info cov.info && cp a.info old.info && : >change.diff) >>log 2>&1
"$ASSAY" record -q -o profile.assay -- ./prog
"$ASSAY" heap -q -o heap.assay -- ./prog
perf record -q -o perf.data ./prog >/dev/null 2>&1 || cp profile.assay perf.data

sleep 600 &
sleeper=$!
trap 'kill $sleeper 2>/dev/null' EXIT
# In which folder the commands of a page run: those of gcc's data beside them.
folder_of() {
    case $1 in
    *' .' | *' . -f') echo gcc ;;
    'assay cover run'*|*'a.info'*|*'cov.info'*|*'./prog all.profdata'*|*'all.profdata *.profraw'*) echo cover ;;
    'assay cover'*) echo cover ;;
    *) echo . ;;
    esac
}
commands_of() { # PAGE: the assay commands of the second column
    sed 's/\\|/ /g' "$1" | awk -F ' *[|] *' 'NR > 2 { print $3 }' | grep -o '`assay [^`]*`' | tr -d '`'
}
for page in "$TOP"/docs/from-*.md; do
    while IFS= read -r command; do
        case $command in
        *'cargo test'*) continue ;; # tests/e2e/cover_cargo.sh
        'assay top') command="$command -n 2" ;;
        'assay record'*) command="${command/assay record/assay record -q -f -o again.assay}" ;;
        'assay heap'*) command="${command/assay heap/assay heap -q -f}" ;;
        'assay cover merge'*) command="$command -f" ;;
        'assay cover run'*) command="${command/cover run/cover run -f}" ;;
        'assay cover'*' -o '*) command="$command -f" ;;
        'assay flame'*) command="$command --force" ;;
        esac
        command=${command/PID/$sleeper}
        command=${command/--duration 10/--duration 1}
        check "$(basename "$page"): $command" sh -c "cd '$(folder_of "$command")' && $command"
    done < <(commands_of "$page")
done
finish
