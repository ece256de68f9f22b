#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is read and written, as a table and for programs.
"$ASSAY" cover formats
"$ASSAY" cover formats --json | python3 -c '
import json, sys
for key, value in json.load(sys.stdin).items():
    print(key, value if isinstance(value, str) else len(value))'
"$ASSAY" cover formats profraw
