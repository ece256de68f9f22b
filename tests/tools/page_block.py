#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_block.py PAGE KIND: prints what a page's first block of a kind holds as JSON (docs/formats/view.md)."""
import base64
import gzip
import json
import re
import struct
import sys

with open(sys.argv[1], encoding="utf-8") as page:
    for packed in re.findall(r'<template class="assay">([^<]*)</template>', page.read()):
        data = gzip.decompress(base64.b64decode(packed))
        about = json.loads(data[4:4 + struct.unpack("<I", data[:4])[0]])["about"]
        if about["kind"] == sys.argv[2]:
            json.dump(about, sys.stdout)
            sys.exit(0)
sys.exit(f"{sys.argv[1]} has no block of the kind {sys.argv[2]}")
