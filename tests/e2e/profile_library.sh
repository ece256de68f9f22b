#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs in C, C++ and Rust that profile themselves, with what `make install` brings.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
programs=$TOP/tests/programs
"$TOP/tools/install-files" "$ASSAY" "$PWD/dest" >/dev/null || exit 1
export LD_LIBRARY_PATH=$PWD/dest/lib PKG_CONFIG_PATH=$PWD/dest/lib/pkgconfig
mkdir empty

flags="-I$PWD/dest/include -L$PWD/dest/lib -lassay"
if command -v pkg-config >/dev/null; then
    check 'pkg-config knows the library' pkg-config --cflags --libs --print-errors assay
    flags=$(pkg-config --cflags --libs assay)
fi
# shellcheck disable=SC2086
gcc -g -O2 -fomit-frame-pointer -pthread -o profiled "$programs/profiled.c" $flags -ldl || exit 1
for name in first second; do
    gcc -g -O2 -shared -fPIC -DNAME=module_$name -o module_$name.so "$programs/profiled_module.c" || exit 1
done

report() { "$ASSAY" report --json --limit 100 "$@" >report.json; }
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); print(eval(sys.argv[1]))' "$1"; }
share_is() { # NAME PERCENT TOLERANCE
    local share
    share=$(field "int(100 * sum(x['total_share'] for x in r['rows'] if x['name'].split('(')[0].endswith('$1')))")
    [ $((share - $2)) -le "$3" ] && [ $(($2 - share)) -le "$3" ] || { echo "$1 has $share %, not $2"; return 1; }
}
complete() { # all stacks lead to the start of the program or of a thread
    [ "$(field 'int(1000 * r["truth"]["complete_stacks"])')" -ge 990 ] || { field 'r["truth"]'; return 1; }
}
# Tick and work may beat against each other: 1600 ms have a sample each 4 to 10 ms.
quarter() { report "$1" && complete && share_is "${2:-}first" 25 12 && share_is "${2:-}second" 75 12; }

# Without assay in PATH.
check 'start, stop and dump' eval 'PATH=$PWD/empty ./profiled simple simple.out && quarter simple.out && share_is before 0 0'
check 'threads, those that ran before the start too' eval './profiled threads threads.out && quarter threads.out && report --by thread threads.out && [ "$(field "len(r[\"rows\"])")" -ge 2 ]'
check 'a child of fork profiles itself, and itself only' eval './profiled fork fork.out && quarter fork.out && quarter fork.out.child'
check 'a full buffer keeps every second sample, and the shares' eval './profiled long long.out && [ "$(stat -c %s long.out)" -le 70000 ] && quarter long.out'
used_in_all() { # the weights of a thinned profile still sum up to the time used
    report long.out && field 'r["metric"]["total"]' && [ "$(field 'r["metric"]["total"] > 2.0e9 and r["metric"]["total"] < 2.9e9')" = True ]
}
check 'and the time in all' used_in_all
check 'modules that are unloaded' eval './profiled modules modules.out && quarter modules.out module_'
check 'without assay the stream stays under the name' eval 'PATH=$PWD/empty ./profiled convert bare.assay && head -c 8 bare.assay | grep -q PERFILE2 && quarter bare.assay'
with_assay() { # NAME MAGIC
    PATH=$(dirname "$ASSAY"):$PATH ./profiled convert "$1" && ! head -c 8 "$1" | grep -q PERFILE2 && report "$1" && share_is first 25 12
}
check 'where assay is installed, a recording is made at once' with_assay self.assay
check 'and a pprof file' with_assay self.pb.gz
check 'nothing but the file is left' eval '! ls | grep -e part -e stream'
imported() { rm -f simple.out.assay; "$ASSAY" import simple.out && quarter simple.out.assay && "$ASSAY" export -f pprof --force -o s.pb.gz simple.out && report s.pb.gz; }
check 'assay import reads a dump' imported
cut_short() {
    local size
    size=$(stat -c %s simple.out)
    head -c $((size * 2 / 3)) simple.out >cut.out
    "$ASSAY" report cut.out >cut.txt && grep -q first cut.txt
}
check 'a dump cut short has what was before' cut_short
if command -v perf >/dev/null; then
    check 'perf reads a dump' eval 'perf script -i simple.out 2>/dev/null | grep -q second'
fi
# However the program ends, its status is its own, and nothing is left.
# shellcheck disable=SC2086
gcc -g -O2 -pthread -o profiled_ends "$programs/profiled_ends.c" $flags || exit 1
ulimit -c 0
maps_left() { find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay*' -user "$(id -u)" 2>/dev/null | sort; }
left=$(maps_left)
check 'programs that are started one after the other by exec' status_is 9 ./profiled_ends exec 20
check 'an end by a signal' status_is 143 ./profiled_ends signal
check 'by abort' status_is 134 ./profiled_ends abort
check 'by _exit in a thread' status_is 7 ./profiled_ends quick
same_left() { [ -z "$(comm -13 <(echo "$left") <(maps_left))" ]; }
check 'no file of them is left' eventually same_left
recorded() { # by the timers of record the library is busy, and the program goes on
    "$ASSAY" record --engine timer -q --force -o r.assay -- ./profiled simple r.out >out.log 2>err.log
    grep -qx 'start: -16, not 0' out.log && report r.assay && share_is before 33 15
}
check 'under assay record the library leaves the process to it' recorded

# shellcheck disable=SC2086
if g++ -g -O2 -fomit-frame-pointer -pthread -o profiled_cc "$programs/profiled.cc" $flags 2>err.log; then
    check 'C++' eval './profiled_cc cc.out && quarter cc.out'
else
    skip 'C++' 'no g++ here'
fi
if command -v rustc >/dev/null; then
    rustc -g -O -C force-frame-pointers=no -L "$PWD/dest/lib" -l assay -o profiled_rs "$programs/profiled.rs" 2>err.log || exit 1
    check 'Rust' eval './profiled_rs rs.out && quarter rs.out'
else
    skip 'Rust' 'no rustc here'
fi

# The library is for any libc: it needs none.
needs_nothing() {
    ! readelf -d dest/lib/libassay.so | grep NEEDED && ! nm -D --undefined-only dest/lib/libassay.so | grep -v ' w '
}
check 'the library needs no other' needs_nothing
shows_little() {
    nm -D --defined-only dest/lib/libassay.so | awk '{ print $3 }' | grep -vxE 'assay_profile_(start|stop|dump)|dlclose|pthread_create|pthread_sigmask|sigaction|sigprocmask'
}
check 'and shows what programs call, and what it stands before' eval '! shows_little'
if command -v musl-gcc >/dev/null; then
    # shellcheck disable=SC2086
    musl-gcc -g -O2 -fno-omit-frame-pointer -pthread -o profiled_musl "$programs/profiled.c" $flags -Wl,-rpath,"$PWD/dest/lib" 2>err.log
    check 'musl' eval './profiled_musl simple musl.out && report musl.out && share_is first 25 12'
else
    skip 'musl' 'no musl-gcc here'
fi
finish
