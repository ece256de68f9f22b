#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A first word of another tool is answered with the command of assay.
for words in 'script -i perf.data' 'sched record' '--warmup 3 ls' '-r 10 ls' 'llvm-cov report' '--tool=dhat ls' \
    'heaptrack ls' '--leak-check=full ls' 'tarpaulin' 'flamegraph --bin x' 'reprot'; do
    # shellcheck disable=SC2086
    "$ASSAY" $words
    echo "status $?" >&2
done
