#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fault suite over all commands, with a call from each place in the program; make test takes a part
# of the calls.
if [ -n "${NIGHTLY_SAMPLE:-}" ]; then
    echo 'tests/fault is the sample, and make test runs it'
    exit 77
fi
export FAULT_ALL=1
exec bash "$TOP/tests/fault/sweep.sh"
