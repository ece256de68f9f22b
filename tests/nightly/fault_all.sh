#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fault suite with every n; make test takes a part of them.
if [ -n "${NIGHTLY_SAMPLE:-}" ]; then
    echo 'tests/fault is the sample, and make test runs it'
    exit 77
fi
export FAULT_ALL=1
exec bash "$TOP/tests/fault/sweep.sh"
