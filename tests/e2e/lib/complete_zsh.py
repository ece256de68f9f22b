#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""complete_zsh.py FOLDER LINE WORD: status 0 when a zsh that has FOLDER in its fpath
makes WORD of LINE's end on Tab. zsh completes only at a terminal: it gets one."""
import os
import pty
import select
import sys
import time

folder, line, wanted = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", ZDOTDIR="/nonexistent")
    os.execvp("zsh", ["zsh", "-f", "-i"])


def shown_until(text, seconds):
    """What the terminal shows until `text` is in it, or the time is up."""
    shown, end = b"", time.monotonic() + seconds
    while text not in shown and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                shown += os.read(fd, 65536)
            except OSError:  # zsh ended
                break
    return shown


# The mark is split, so that the echo of the command is not taken for its output.
os.write(fd, f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; echo rea''dy\n".encode())
start = shown_until(b"ready", 60)
if b"ready" not in start:
    sys.exit(f"zsh did not start: {start!r}")
os.write(fd, line.encode() + b"\t")
shown = shown_until(wanted.encode(), 60)
if wanted.encode() not in shown:
    sys.exit(f"'{line}' became {shown!r}, without '{wanted}'")
