# SPDX-License-Identifier: Apache-2.0
"""What LLVM's formats are made of: references by name, LEB128 numbers, padding."""
import hashlib


def ref(data):
    """The number that stands for a name or a blob: the low half of its MD5."""
    return int.from_bytes(hashlib.md5(data).digest()[:8], "little")


def uleb(n):
    out = b""
    while True:
        out += bytes([n & 0x7F | (0x80 if n > 0x7F else 0)])
        n >>= 7
        if not n:
            return out


def pad(data, align=8):
    return data + bytes(-len(data) % align)
