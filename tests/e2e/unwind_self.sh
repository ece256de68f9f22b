#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The unwinder's self-test (tests/unit/unwind/test_self.c: every stack that a
# timer hits must equal libc's backtrace) as each compiler makes it, with work
# in C++ without frame pointers.
# beside others: 54 s
set -u
# shellcheck source=tests/e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "compares registers of x86-64"
unset CMOCKA_MESSAGE_OUTPUT
# A library made with sanitizers brings clang's into what is linked with it.
sanitizers=()
if nm "$BUILD/src/libassay.a" 2>/dev/null | grep -q __asan_init; then
    sanitizers=(-fsanitize='address,undefined')
elif nm "$BUILD/src/libassay.a" 2>/dev/null | grep -q __tsan_init; then
    sanitizers=(-fsanitize=thread)
fi

make_and_run() { # C++-COMPILER C-COMPILER FLAG…
    local cxx=$1 cc=$2
    shift 2
    "$cxx" -std=gnu++17 "$@" -c "$TOP/tests/programs/unwind_self.cc" -o work.o &&
        "$cc" -std=gnu17 -D_GNU_SOURCE "$@" -I"$TOP/src" -I"$TOP/tests/unit" -c \
            "$TOP/tests/unit/unwind/test_self.c" -o self.o &&
        "$cxx" "$@" "${sanitizers[@]}" self.o work.o "$BUILD/src/libassay.a" -lcmocka -lzstd -ldeflate -llzma -liberty \
            -lpthread -o self && ./self
}

for pair in gcc:g++ clang:clang++; do
    cc=$(compiler "${pair%:*}") && cxx=$(compiler "${pair#*:}") || cc=
    for flags in '-O0 -fomit-frame-pointer' '-O2 -no-pie -fomit-frame-pointer -Wl,-z,lazy' \
        '-O3 -mavx2 -fomit-frame-pointer' '-Os -fcf-protection=full -Wl,-z,lazy'; do
        name="${pair%:*} $flags"
        if [ -z "$cc" ]; then
            skip "$name" "${pair%:*} is not installed"
        elif [[ $flags == *avx2* ]] && ! grep -qw avx2 /proc/cpuinfo; then
            skip "$name" "this CPU has no AVX2"
        elif [ "${pair%:*}" = gcc ] && [ ${#sanitizers[@]} -gt 0 ]; then
            skip "$name" "the library was made with clang's sanitizers"
        else
            # shellcheck disable=SC2086
            check "$name" make_and_run "$cxx" "$cc" $flags
        fi
    done
done
if compiler clang >/dev/null && command -v ld.lld-14 >/dev/null; then
    check "clang -O2 with lld" make_and_run "$(compiler clang++)" "$(compiler clang)" -O2 \
        -fuse-ld="$(command -v ld.lld-14)"
else
    skip "clang -O2 with lld" "lld is not installed"
fi
finish
