#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes CPU profiles in the format of gperftools: make_gperftools.py FOLDER.

64-bit words of little endian and 32-bit words of big endian, with the same samples.
"""

import os
import struct
import sys

MAPS = (
    "{0}000-{0}fff r--p 00000000 08:01 42    /no/such/program\n"
    "{1}000-{1}fff r-xp 00001000 08:01 42    /no/such/program\n"
    "{2}000-{2}fff rw-p 00000000 00:00 0     [stack]\n"
)


def profile(word, order, addresses):
    leaf, caller, start = addresses
    samples = [
        (3, [leaf, caller, start]),
        (1, [leaf, leaf, caller]),  # the innermost place twice
        (2, [caller]),
    ]
    words = [0, 3, 0, 2500, 0]
    for count, chain in samples:
        words += [count, len(chain)] + chain
    words += [0, 1, 0]
    return struct.pack(order + str(len(words)) + word, *words)


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "gperftools-64"), "wb") as f:
        f.write(profile("Q", "<", (0x55500001010, 0x55500001020, 0x55500001030)))
        f.write(MAPS.format("55500000", "55500001", "7ffc00000").encode())
    with open(os.path.join(folder, "gperftools-32-big"), "wb") as f:
        f.write(profile("I", ">", (0x8001010, 0x8001020, 0x8001030)))
        f.write(MAPS.format("8000", "8001", "bf000").encode())


main()
