#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every path that our commands write to outside the working folder, or look for where other users can
# make files, is in paths.txt with the test that plants files there. A new one fails here. The paths
# are those that strace shows for each command.
# beside others: 9 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v strace >/dev/null || skip_all 'no strace: run tools/install-deps --dev'
strace -qq -o probe.log true || skip_all 'one process may not trace another here'
users_home=$HOME
mkdir -p work home temp && export HOME=$PWD/home TMPDIR=$PWD/temp
unset XDG_CACHE_HOME XDG_CONFIG_HOME
logs=$PWD/logs home=$HOME temp=$TMPDIR
mkdir -p "$logs"
[ -x "$TOOLS/make_profile" ] || skip_all "no $TOOLS/make_profile: run make dev"
cd work || exit 1
cc=$(compiler gcc)
"$TOOLS/make_profile" plain in.assay
printf 'main;work;hot 7\nmain;idle 1\n' >in.folded
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} .
cp "$TOP"/tests/fuzz/corpus/tracefile/lcov1 in.info
"$cc" -g -O1 -o spin "$TOP/tests/programs/spin.c" && "$cc" -g -O0 -w -o life "$TOP/tests/programs/cover_life.c" &&
    "$cc" -w -g --coverage -O0 -o glife "$TOP/tests/programs/cover_life.c" &&
    "$cc" -O2 -I"$TOP/include" "$TOP/tests/programs/benches.c" -o benches && "$cc" -O1 -o no_perf "$TOP/tests/programs/no_perf.c" || exit 1
# Programs that our agents run in are ours here, too.
own=assay,spin,benches
traced() { # NAME COMMAND…
    local name=$1
    shift
    strace -f -y -qq -s 4096 -o "$logs/$name" -e trace=%file,chdir,bind,connect,execve,clone,clone3,fork,vfork "$@" >"$logs/$name.out" 2>&1 </dev/null
}
# What a command says when it fails is no reason to fail here, but it must have run.
ran() { [ -s "$logs/$1" ] || { echo "no calls of $1"; cat "$logs/$1.out"; return 1; }; }
try() {
    traced "$@"
    check "$1 ran" ran "$1"
}
try report "$ASSAY" report in.assay -o report.txt
try report-stdin sh -c "cat in.assay | '$ASSAY' report -"
try annotate "$ASSAY" annotate in.assay
try view "$ASSAY" view --no-open --force --html page.html in.assay
try diff "$ASSAY" diff in.assay in.folded -o diff.txt
try diff-json "$ASSAY" diff --json --by line in.assay in.assay
try flame "$ASSAY" flame in.assay -o flame.svg
for format in pprof sqlite folded perf-script html; do try "export-$format" "$ASSAY" export in.assay -f "$format" -o "out.$format"; done
try import "$ASSAY" import in.folded -o imported.assay
for input in flight.jfr dtrace.txt.bz2 austin.txt; do try "report-$input" "$ASSAY" report "$TOP/tests/fuzz/corpus/import/$input"; done
# Nobody listens there: the export goes to the spool.
try export-to "$ASSAY" export in.assay --to http://127.0.0.1:9 --retry-for 0s --spool "$PWD/spool"
try list "$ASSAY" list
try doctor "$ASSAY" doctor ./spin
try stat "$ASSAY" stat -o counts ./spin 20
try bench "$ASSAY" bench --warmup 0 --runs 2 --prepare true --export-json bench.json --save one --output ./out 'echo x'
try bench-functions "$ASSAY" bench ./benches --processes 2 --function-time 0.01 --filter work_slow
if command -v git >/dev/null; then
    (git init -q . && git add spin && git -c user.name=x -c user.email=x@localhost commit -qm one && git -c user.name=x -c user.email=x@localhost commit -qm two --allow-empty) >/dev/null 2>&1
    try bench-revisions "$ASSAY" bench --revisions HEAD~1 HEAD --build true --runs 2 -- ./spin 1
fi
try cover-run "$ASSAY" cover run -f -o counted ./glife exit
mkdir corpus && echo exit >corpus/one
try cover-per-input "$ASSAY" cover run -f -o inputs --per-input corpus -- ./glife {}
cp "$TOP/tests/fuzz/corpus/tracefile/go-cover" go.out
try cover-go "$ASSAY" cover report go.out
ar rc objects.a spin 2>/dev/null && try cover-archive "$ASSAY" cover report objects.a cover.proftext
for format in jacoco clover; do try "cover-$format" "$ASSAY" cover export in.info --format "$format" -f -o "out.$format"; done
try heap "$ASSAY" heap -q -f -o heap.assay -- ./spin 20
try heap-report "$ASSAY" report heap.assay
try survey "$ASSAY" survey -q -f --max-time 1 -o all.survey -- ./spin 20
try survey-report "$ASSAY" report all.survey
try survey-against "$ASSAY" survey -q -f --max-time 0.1 --steps time,cpu --against './spin 10' -o both.survey -- ./spin 10
try loop "$ASSAY" loop --no-build --rounds 1 --steps time --max-time 0.1 -- ./spin 10
try merge "$ASSAY" merge -f -o merged.assay in.assay in.assay
try cache "$ASSAY" cache
try cache-clear "$ASSAY" cache --clear
try diff-page "$ASSAY" diff --force --html diff.html in.assay in.folded
try view-served "$ASSAY" view --serve --idle 50ms in.assay
if [ "$(uname -m)" = x86_64 ]; then
    ./spin 100000 &
    target=$!
    try heap-attached "$ASSAY" heap -q -f -p $target --duration 0.1 -o attached.assay
    kill $target
fi
try heap-gates "$ASSAY" heap -q -f -o gated.assay --sample 64k --max-peak 1 --leaks 0 --baseline heap.assay -- ./spin 20
for format in dhat massif heaptrack; do try "export-$format" "$ASSAY" export heap.assay -f "$format" --force -o "heap.$format"; done
try record-heap "$ASSAY" record -q -f --heap -o both.assay -- ./spin 50
if command -v cargo >/dev/null; then
    mkdir -p crate/src && printf '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n' >crate/Cargo.toml &&
        echo 'fn main() {}' >crate/src/main.rs
    # cargo and rustc, whose own files are no matter of ours, find them below the user's HOME.
    own+=,small
    try heap-cargo env CARGO_HOME="$users_home/.cargo" RUSTUP_HOME="$users_home/.rustup" \
        sh -c "cd crate && exec '$ASSAY' heap -q -f -o cargo.assay --cargo"
fi
try cover-ptrace "$ASSAY" cover run --engine ptrace -f -o stopped ./life exit
try cover-merge "$ASSAY" cover merge -f -o out.proftext cover.proftext
try cover-page "$ASSAY" cover export in.info --format html -f -o out.html
try cover-report "$ASSAY" cover report cover.covmapping cover.proftext
# shellcheck disable=SC2046 # flags are words
if clang=$(compiler clang) && "$clang" -w $("$ASSAY" cover flags clang) -o llife "$TOP/tests/programs/cover_life.c" 2>/dev/null; then
    try cover-run-llvm "$ASSAY" cover run -f -o raw ./llife exit
fi
if "$TOP/tests/e2e/lib/perf_allowed.py" >/dev/null; then
    try record "$ASSAY" record -q -f -o run.assay -- ./spin 200
    try flame-command "$ASSAY" flame -o - -- ./spin 50
    try view-command "$ASSAY" view --no-open --force --html page.html -- ./spin 50
    try report-command "$ASSAY" report -- ./spin 50
    try top "$ASSAY" top -d 0.1 -n 2 -- ./spin 300
    try record-wait "$ASSAY" record -q -f --wait -o waits.assay -- ./spin 50
    try record-calls "$ASSAY" record -q -f --calls ./spin:main -o calls.assay -- ./spin 20
    try record-flight "$ASSAY" record -q -f --flight -p $$ --duration 0.1 -o flight.assay
    "$ASSAY" record -q -f --flight -p $$ --duration 600 -o kept.assay 2>flight.log &
    flight=$!
    try dump "$ASSAY" dump $flight
    kill $flight
    wait $flight
    try record-again "$ASSAY" record -q -f -o run.assay -- ./spin 200
    if [ "$(uname -m)" = x86_64 ]; then
        "$cc" -O1 -o jit "$TOP/tests/programs/jit.c" && "$cc" -O1 -o jitdump "$TOP/tests/programs/jitdump.c"
        try record-jit "$ASSAY" record -q -f -o jit.assay -- ./jit 100000000 leave
        try record-jitdump "$ASSAY" record -q -f -o jit.assay -- ./jitdump 100000000
    fi
    try report-recording "$ASSAY" report run.assay
else
    skip 'record' 'no perf events'
fi
if ./no_perf true; then
    [ "$(uname -m)" != x86_64 ] || try record-breakpoints ./no_perf "$ASSAY" record -q -f -e ./spin:main -o breaks.assay -- ./spin 20
    try record-timers ./no_perf --ptrace "$ASSAY" record -q -f -o timers.assay -- ./spin 200
else
    skip 'record by timers' 'no seccomp filters here'
fi
paths() {
    local traces=()
    for trace in "$logs"/*; do
        [[ $trace == *.out ]] || traces+=("$trace")
    done
    "$TOP/tests/tools/shared_paths.py" "$TOP/tests/hostile/paths.txt" "$own" "$home" "$temp" "${traces[@]}"
}
check 'every path is listed' paths
sed 's/^/# /' check.log
finish
