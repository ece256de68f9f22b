#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `assay top` on a pseudo-terminal, types keys and judges what it draws.

top_pty.py STEPS -- ASSAY ARGUMENT ...    STEPS are joined by commas:
    see=TEXT    wait until the screen shows TEXT        key=NAME   type a key
    gone=TEXT   wait until it does not                  type=TEXT  type text
    signal=N    send a signal                           stop       send SIGTSTP, wait until it has
    status=N    the exit status (128 + N: by signal N)             stopped, and let it go on
    after=TEXT  what stands on the terminal afterwards contains TEXT
At the end the terminal must have its own screen, cursor and settings again.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

KEYS = {"up": b"\x1b[A", "down": b"\x1b[B", "left": b"\x1b[D", "enter": b"\r", "escape": b"\x1b", "q": b"q",
        "slash": b"/", "backspace": b"\x7f", "interrupt": b"\x03", "page": b"\x1b[6~"}
WAIT_S = 20


def fail(what):
    print(what)
    sys.exit(1)


class Session:
    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
            os.environ.pop("NO_COLOR", None)
            # What a shell starts in the background ignores SIGINT, and so would the command of top.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(argv[0], argv)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.settings = termios.tcgetattr(self.fd)
        self.all = b""
        self.open = True

    def read(self, seconds):
        ready = select.select([self.fd], [], [], seconds)[0] if self.open else []
        if not ready:
            return
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            got = b""
        self.open = bool(got)
        self.all += got

    def screen(self):
        """The last screen that was drawn whole."""
        parts = self.all.split(b"\x1b[H")
        whole = [p for p in parts[1:] if b"\x1b[J" in p]
        text = whole[-1].split(b"\x1b[J")[0].decode(errors="replace") if whole else ""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)

    def until(self, what, condition):
        end = time.monotonic() + WAIT_S
        while not condition():
            if time.monotonic() > end or not self.open:
                fail(f"{what} did not come; the screen is:\n{self.screen()}\n{self.all[-2000:]!r}")
            self.read(0.1)

    def step(self, verb, value):
        if verb == "see":
            self.until(f"'{value}'", lambda: value in self.screen())
        elif verb == "gone":
            self.until(f"a screen without '{value}'", lambda: self.screen() and value not in self.screen())
        elif verb == "key":
            os.write(self.fd, KEYS[value])
            time.sleep(0.1)  # an escape key is told from a sequence by what comes with it
        elif verb == "type":
            os.write(self.fd, value.encode())
        elif verb == "signal":
            os.kill(self.pid, int(value))
        elif verb == "stop":
            self.stop()
        elif verb == "status":
            self.finish(int(value))
        elif verb == "after":
            rest = self.all.rsplit(b"\x1b[?1049l", 1)[1].decode(errors="replace")
            if value not in rest:
                fail(f"'{value}' is not on the terminal afterwards: {rest!r}")
        else:
            fail(f"no step '{verb}'")

    def stop(self):
        os.kill(self.pid, signal.SIGTSTP)
        end = time.monotonic() + WAIT_S
        while "T" not in open(f"/proc/{self.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()[0]:
            if time.monotonic() > end:
                fail("it did not stop")
            self.read(0.05)
        self.check_restored("while it is stopped")
        self.all = b""
        os.kill(self.pid, signal.SIGCONT)

    def check_restored(self, when):
        for _ in range(20):
            self.read(0.02)
        if termios.tcgetattr(self.fd)[:4] != self.settings[:4]:
            fail(f"the terminal has other settings {when}")
        if self.all.rfind(b"\x1b[?1049l") < self.all.rfind(b"\x1b[?1049h"):
            fail(f"the terminal has not its own screen {when}")
        if self.all.rfind(b"\x1b[?25h") < self.all.rfind(b"\x1b[?25l"):
            fail(f"the terminal has no cursor {when}")

    def finish(self, expected):
        end = time.monotonic() + WAIT_S
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                fail("it did not end")
            self.read(0.05)
        status = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if status != expected:
            fail(f"status {status}, not {expected}: {self.all[-1000:]!r}")
        self.check_restored("afterwards")


split = sys.argv.index("--")
session = Session(sys.argv[split + 1:])
for text in sys.argv[1].split(","):
    verb, _, value = text.partition("=")
    session.step(verb, value)
