#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that nobody here wrote, stopped anywhere and stepped instruction by
# instruction: at each place our stack equals libunwind's, prologues, epilogues,
# procedure linkage tables, the loader and hand-written assembly included.
# (libunwind 1.6 misplaces what lld and mold link, and static programs.)
# beside others: 28 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ -x "$TOOLS/unwind_oracle" ] || skip_all 'built without libunwind (libunwind-dev)'
"$TOOLS/unwind_oracle" 1 1 sleep 2 >/dev/null || skip_all 'one process may not trace another here'

cat >regex.cc <<'CC'
#include <iostream>
#include <map>
#include <regex>
int main()
{
    std::map<std::string, int> seen;
    std::regex word("([a-z]+|[0-9]+)*x?");
    for (int i = 0; i < 200000; i++)
        seen[std::regex_replace("ab12" + std::to_string(i), word, "$1")]++;
    std::cout << seen.size() << '\n';
}
CC
for n in $(seq 200000); do echo "line $n of $((n * 7919 % 10007))"; done >lines

# same PROGRAM ...: equal at all of 2 000 places or, for a short program, as many as it has.
same() {
    command -v "$1" >/dev/null || [ -x "$1" ] || { echo "no $1 here"; return 77; }
    "$TOOLS/unwind_oracle" 50 40 "$@"
}
compare() { # NAME COMMAND...
    local name=$1 status
    shift
    same "$@" >same.log 2>&1
    status=$?
    case $status in
    0) ok "$name: $(tail -n 1 same.log)" ;;
    77) skip "$name" "$(cat same.log)" ;;
    *) not_ok "$name" same.log ;;
    esac
}
compare 'python3' python3 -c 'import re
for i in range(100000): re.sub("(a|b)*c", str, "ababc" * 5)'
compare 'perl' perl -e 'my %h; for (1 .. 3e6) { $h{$_ % 1000} .= "x" }'
compare 'bash' bash -c 'for ((i = 0; i < 300000; i++)); do x=${x:0:9}$i; done'
compare 'sort' env LC_ALL=C.UTF-8 sort --parallel=1 -S 1M -k 4 lines
compare 'objdump' objdump -d "$(command -v ld)"
# What runs as a program or library begins and ends states no rules.
cat >startup.c <<'C'
void _init(void), _fini(void);
extern void (*__init_array_start[])(void), (*__fini_array_start[])(void);
int main(void)
{
    for (;;) {
        _init();
        __init_array_start[0]();
        __fini_array_start[0]();
        _fini();
    }
}
C
if cc=$(compiler gcc) && "$cc" -O1 -o startup startup.c; then
    compare 'startup code' ./startup
else
    skip 'startup code' "no gcc here"
fi
if cxx=$(compiler g++); then
    compare 'the C++ compiler' "$("$cxx" -print-prog-name=cc1plus)" -quiet -O2 -imultiarch x86_64-linux-gnu \
        regex.cc -o /dev/null
    for flags in '-O2 -fomit-frame-pointer' '-O0' '-O3 -mavx2'; do
        # shellcheck disable=SC2086
        "$cxx" $flags -o regex regex.cc && compare "std::regex, g++ $flags" ./regex
    done
fi
finish
