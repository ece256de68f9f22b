#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_perf_script.py PERF OURS [-v]: two perf script texts of one perf.data, sample by sample.

PERF is `perf script --no-inline --max-stack 4096 -F comm,tid,time,event,ip,sym,dso`, OURS is
`assay export --format perf-script`. Frames are compared by their address in the file;
calls that were inlined, which perf was told to leave out, are left out of ours. Prints how
many samples are equal and how many differ in which way. Status 1 when a stack that we call
complete is not perf's and perf does not itself say that it got lost.

Differences that are no fault of either:
- of a call chain's callers perf shows the return address, we the call before it;
- perf shows a 0 or -1 where its unwinder got lost; we name the reason, and where the copied
  part of the stack still has what is needed, we go on;
- addresses of 0 and 1 in a chain by frame pointers are not code, and left out here;
- of programs that are not position-independent perf shows the offset in the file;
- perf goes on behind a wrong frame: an address in no executable segment of its file is no
  place to return to;
- in the middle of exec the caller's mappings are gone already: perf names what was there,
  we say that it is not known."""
import functools
import re
import struct
import sys
from collections import Counter

FRAME = re.compile(r"^\s+([0-9a-f]+)\s+(.*)$")
HEAD = re.compile(r"\s\d+\.\d+:")
LOST = {0, 1, 2**64 - 1}
PAGE = 4096


def samples(path):
    """Of each sample its first line and [(address, name)], leaf first."""
    out, frames = [], None
    with open(path, errors="replace") as lines:
        for line in lines:
            line = line.rstrip("\n")
            match = FRAME.match(line) if frames is not None else None
            if line.startswith("#") or not line.strip():
                frames = None
            elif match:
                if not match.group(2).endswith("(inlined)"):
                    frames.append((int(match.group(1), 16), match.group(2)))
            elif HEAD.search(line):
                frames = []
                out.append((line, frames))
                # Without a call chain perf puts the one frame on the same line.
                single = re.search(r":\s+([0-9a-f]{4,})\s+(\S.*)$", line[HEAD.search(line).end():])
                if single:
                    frames.append((None, single.group(2)))
    return out


def same(perf, ours):
    if perf[0] is None or perf[0] in (ours[0], ours[0] + 1):
        return True
    file_of = [frame[1].rpartition(" (")[2] for frame in (perf, ours)]
    return file_of[0] == file_of[1] and (ours[0] - perf[0]) % PAGE in (0, PAGE - 1)


@functools.lru_cache(None)
def executable(path):
    """[(start, end)] of a 64-bit ELF file's executable segments, by stated address and by offset."""
    try:
        data = open(path, "rb").read()
    except OSError:
        return None
    if data[:5] != b"\x7fELF\x02":
        return None
    (at,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    ranges = []
    for i in range(count):
        kind, flags, offset, start, _, in_file, in_memory = struct.unpack_from("<IIQQQQQ", data, at + i * size)
        if kind == 1 and flags & 1:
            ranges += [(start, start + in_memory), (offset, offset + in_file)]
    return ranges


def is_no_code(frame):
    ranges = executable(frame[1].rpartition(" (")[2].rstrip(")"))
    return bool(ranges) and frame[0] is not None and not any(a <= frame[0] <= b for a, b in ranges)


def is_at_exec(perf, ours):
    return "execve" in perf[1] and ours[1].startswith("[unknown]")


# Code of crti.o and crtbegin.o states no rules: perf ends there, we read the instructions.
WITHOUT_RULES = {"_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones",
                 "__do_global_dtors_aux"}


def is_without_rules(frame):
    return frame[1].split(" ")[0].split("+")[0] in WITHOUT_RULES


def difference(perf, ours):
    """None when equal; else what differs, and whether it has an explanation."""
    perf_lost = any(f[0] in LOST for f in perf) or any(is_no_code(f) for f in perf[1:])
    cut = bool(ours) and ours[-1][1].startswith("[stack cut")
    ours = [f for f in ours if f[0] not in LOST]
    perf = [f for f in perf if f[0] not in LOST]
    equal = 0
    while equal < min(len(perf), len(ours)) and same(perf[equal], ours[equal]):
        equal += 1
    if equal == len(perf) == len(ours):
        return ("equal up to where both got lost", True) if cut or perf_lost else None
    # Below it may be the kernel's frames of a page fault in that code.
    if perf and equal == len(perf) and is_without_rules(perf[-1]):
        return ("we go on where code states no rules", True)
    if equal == len(perf):
        return ("we go on where perf got lost", True) if perf_lost else ("we go on where perf ends", False)
    if equal == len(ours):
        return ("perf goes on where we say that the stack is cut", True) if cut else ("perf goes on where we end", False)
    if is_at_exec(perf[equal], ours[equal]):
        return ("in the middle of exec", True)
    return ("another frame", cut or perf_lost)


def show(perf, ours):
    print(f"  perf {perf[0]}\n  ours {ours[0]}")
    for i in range(max(len(perf[1]), len(ours[1]))):
        a, b = (s[1][i] if i < len(s[1]) else (0, "-") for s in (perf, ours))
        if not same(a, b):
            print(f"    {i}: {a[0] or 0:x} {a[1][:60]} | {b[0]:x} {b[1][:60]}")
            return


def main():
    verbose = "-v" in sys.argv
    perf, ours = (samples(path) for path in [a for a in sys.argv[1:] if a != "-v"][:2])
    kinds, bad = Counter(), 0
    if len(perf) != len(ours):
        print(f"perf has {len(perf)} samples, we have {len(ours)}")
        bad += 1
    for p, o in zip(perf, ours):
        kind, explained = difference(p[1], o[1]) or ("equal", True)
        kinds[kind] += 1
        bad += not explained
        if verbose and kinds[kind] <= 3 and kind != "equal":
            print(kind)
            show(p, o)
    for kind, count in kinds.most_common():
        print(f"{count:8} {kind}")
    return 1 if bad else 0


sys.exit(main())
