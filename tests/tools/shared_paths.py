#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shared_paths.py LIST OWN HOME TMPDIR LOG...: paths that our processes met outside the user's folders.

LOG is what `strace -f -y -qq -o LOG -e trace=%file,bind,connect,execve` wrote. Counted are calls of processes that run
a program whose name is in OWN (separated by commas) and that
- open for writing, make, link, rename, remove a file, or change its mode or owner, anywhere but in OWN's folder, or
- open or look for a file in /tmp, /var/tmp, /dev/shm, TMPDIR, or below HOME.
LIST has a line for each such path: a pattern (fnmatch; TMPDIR and HOME stand for the folders) and the script of
tests/hostile that plants files there, or "-" and the reason why none can. Status 1 and the paths when one is not listed."""
import fnmatch
import os
import re
import sys

CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)\((.*)$")
RESULT = re.compile(r"\) += (-?\d+|\?)[^)]*$")
STRING = re.compile(r'(?:(AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"')
CHANGES = {"mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mknod",
           "mknodat", "unlink", "unlinkat", "rmdir", "chmod", "fchmodat", "chown", "lchown", "fchownat", "truncate",
           "utime", "utimensat", "creat", "bind", "connect", "setxattr", "lsetxattr"}
LOOKS = {"open", "openat", "openat2", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2",
         "readlink", "readlinkat", "execve", "getxattr", "lgetxattr"}
WRITING = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE|APPEND)")


class Process:
    def __init__(self, program="", folder=""):
        self.program, self.folder = program, folder


def paths_of(call, rest, folder):
    """Every path among the arguments, made absolute."""
    found = []
    for number, base, text in STRING.findall(rest):
        text = re.sub(r'\\(["\\])', r"\1", text)
        if not text.startswith("/"):
            text = os.path.join(base or folder, text)
        found.append(os.path.normpath(text))
        if call in LOOKS:
            break
    return found


def shown(path, home, temp):
    """The path with its changing parts replaced."""
    for folder, name in ((temp, "TMPDIR"), (home, "HOME")):
        if path == folder or path.startswith(folder + "/"):
            path = name + path[len(folder):]
            break
    path = re.sub(r"^/proc/\d+(/task/\d+)?/", "/proc/PID/", path)
    path = re.sub(r"(assay-agent-)\w+", r"\1NAME", path)
    path = re.sub(r"^/proc/PID/root(?=/)", "", path)
    path = re.sub(r"/proc/self(/task/\d+)?/", "/proc/PID/", path)
    return re.sub(r"[0-9a-f]{8,}", "HEX", path)


def read(log, own, home, temp, start):
    """Yields (path, why) for each call that counts."""
    shared = ["/tmp", "/var/tmp", "/dev/shm", temp, home]
    processes, pending = {}, {}
    for line in open(log, errors="replace"):
        pid = line.split(None, 1)[0]
        if line.rstrip().endswith("<unfinished ...>"):
            pending[pid] = line.rstrip()[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$", line)
        if resumed:
            line = pending.pop(pid, "") + resumed.group(2)
        match = CALL.match(line)
        if not match:
            continue
        call, rest = match.group(2), match.group(3)
        result = RESULT.search(rest)
        process = processes.setdefault(pid, Process("?", start))
        if call in ("clone", "clone3", "fork", "vfork"):
            if result and result.group(1) not in ("-1", "?"):
                child = processes.setdefault(result.group(1), Process("?", start))
                if child.program == "?":
                    child.program, child.folder = process.program, process.folder
            continue
        if call == "chdir":
            process.folder = (paths_of(call, rest, process.folder) or [process.folder])[0]
            continue
        is_own = process.program in own
        if call == "execve":
            if result and result.group(1) == "0":
                process.program = os.path.basename(paths_of(call, rest, process.folder)[0])
            continue
        if not is_own:
            continue
        for path in paths_of(call, rest, process.folder):
            below = [f for f in shared if path.startswith(f + "/")]
            # Folders that are there cannot be planted; below TOP are our programs and sources.
            if path.startswith((start + "/", os.environ["TOP"] + "/")) or (start + "/").startswith(path + "/") or \
                    (os.environ["TOP"] + "/").startswith(path + "/"):
                continue
            if call in CHANGES or (call.startswith("open") and WRITING.search(rest)):
                yield shown(path, home, temp), f"{process.program}: {call}"
            elif call in LOOKS and below:
                yield shown(path, home, temp), f"{process.program}: {call}"


def main():
    listed, own, home, temp, *logs = sys.argv[1:]
    patterns = []
    for line in open(listed):
        if line.strip() and not line.startswith("#"):
            pattern, covered = line.split(None, 1)
            patterns.append((pattern, covered.strip()))
    folder = os.path.dirname(os.path.abspath(listed))
    status = 0
    for pattern, covered in patterns:
        if not covered.startswith("-") and not os.path.exists(os.path.join(folder, covered.split()[0])):
            print(f"{pattern}: there is no tests/hostile/{covered.split()[0]}")
            status = 1
    met = {}
    for log in logs:
        for path, why in read(log, set(own.split(",")), home, temp, os.getcwd()):
            met.setdefault(path, set()).add(f"{os.path.basename(log)}: {why}")
    missing = {p: w for p, w in met.items() if not any(fnmatch.fnmatchcase(p, pattern) for pattern, _ in patterns)}
    for path, why in sorted(missing.items()):
        print(f"not covered: {path}  ({', '.join(sorted(why)[:3])})")
    used = {pattern for pattern, _ in patterns if any(fnmatch.fnmatchcase(p, pattern) for p in met)}
    print(f"{len(met)} paths, {len(used)} of {len(patterns)} patterns")
    return status or (1 if missing or not met else 0)


sys.exit(main())
