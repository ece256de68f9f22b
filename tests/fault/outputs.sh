#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every command that writes: an older file is kept unless --force is given, a place
# that cannot be written and a full disk are errors in words with nothing left, and so
# is a standard output that takes nothing.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ -x "$TOOLS/make_profile" ] || skip_all "no $TOOLS/make_profile: run make dev"
"$TOOLS/make_profile" plain in.assay
printf 'main;work;hot 7\nmain;idle 1\n' >in.folded
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} .

kept() { # SUFFIX COMMAND…: with -o behind it
    local file=old.$1
    shift
    echo 'the older file' >"$file"
    fails exists "$@" -o "$file" && [ "$(cat "$file")" = 'the older file' ] &&
        "$@" --force -o "$file" >/dev/null 2>err.log && [ "$(cat "$file")" != 'the older file' ]
}
nothing_left() { # FOLDER
    [ -z "$(find "$1" -mindepth 1 ! -name filler)" ] || { find "$1" -mindepth 1; return 1; }
}
full_disk() { # SUFFIX COMMAND…
    local suffix=$1
    shift
    fails 'No space left' "$@" -o "full/out.$suffix" && nothing_left full
}

mkdir full
if mount -t tmpfs -o size=16k,nr_inodes=16 none full 2>/dev/null; then
    trap 'umount full' EXIT
    dd if=/dev/zero of=full/filler bs=4k count=4 2>/dev/null
    has_full=1
fi
writes() { # NAME SUFFIX COMMAND…
    local name=$1
    shift
    check "$name keeps an older file unless --force is given" kept "$@"
    check "$name to a folder that is not there" fails 'no/such' "${@:2}" -o no/such/folder/out
    check "$name to a place that takes no files" fails '/proc' "${@:2}" -o /proc/self/out
    if [ -n "${has_full:-}" ]; then
        check "$name to a full disk leaves nothing" full_disk "$@"
    else
        skip "$name to a full disk" 'no right to mount a small file system'
    fi
}
writes report txt "$ASSAY" report in.assay
writes annotate txt "$ASSAY" annotate in.assay main
writes flame svg "$ASSAY" flame in.assay
for format in folded perf-script pprof firefox speedscope callgrind chrome; do
    writes "export --format $format" bin "$ASSAY" export in.assay --format $format
done
writes import assay "$ASSAY" import in.folded
writes 'cover export' info "$ASSAY" cover export cover.covmapping cover.proftext --format lcov
writes 'cover merge' proftext "$ASSAY" cover merge cover.proftext

for command in 'report in.assay' 'report --json in.assay' 'report --csv in.assay' 'annotate in.assay main' \
    'flame in.assay -o -' 'export in.assay --format folded' 'cover report cover.covmapping cover.proftext' \
    'cover export cover.covmapping cover.proftext --format lcov' 'doctor' 'list' 'help'; do
    # shellcheck disable=SC2086
    check "$command to a full standard output" eval "! '$ASSAY' $command >/dev/full 2>err.log && grep -q 'No space left' err.log"
done
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    check 'record keeps an older file' eval "echo older >old.assay; fails exists '$ASSAY' record -o old.assay -- true && grep -qx older old.assay"
    check 'record to a place that takes no files' fails /proc "$ASSAY" record -o /proc/self/out.assay -- true
else
    skip record "$reason"
fi
finish
