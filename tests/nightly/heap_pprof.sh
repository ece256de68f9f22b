#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# go tool pprof, which Go builds first, reads a recording of the heap.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only
command -v go >/dev/null || skip_all 'no go here'
gcc -g -O1 -fno-builtin -pthread -o truth "$TOP/tests/programs/heap_truth.c" || exit 1
"$ASSAY" heap -q -f -o heap.assay -- ./truth >out 2>&1
"$ASSAY" export -f pprof --force -o heap.pb.gz heap.assay
objects() { go tool pprof -sample_index=alloc_objects -top heap.pb.gz 2>&1 | tee pprof.out | grep -q '5000 .* churns'; }
check "go tool pprof: blocks allocated" objects
space() { go tool pprof -top heap.pb.gz 2>&1 | grep -q 'Type: inuse_space'; }
check 'go tool pprof: bytes at the end come first' space
finish
