#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The bombs with every kind of row of every format; make test takes a part of them.
if [ -n "${NIGHTLY_SAMPLE:-}" ]; then
    echo 'tests/hostile/bombs.sh is the sample, and make test runs it'
    exit 77
fi
export BOMBS_ALL=1
exec bash "$TOP/tests/hostile/bombs.sh"
