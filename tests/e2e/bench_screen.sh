#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first screen of assay bench on a terminal of 24 lines and 80 columns, and the screens that
# README.md and the man page show.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
seq 20000 >numbers

# Runs a bench on such a terminal; its screen goes to the file `screen`.
cat >on_terminal.py <<'P'
import fcntl, os, pty, re, struct, sys, termios

pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    out += part
status = os.waitpid(pid, 0)[1]
text = out.decode().replace("\r\n", "\n")
text = re.sub(r"\r[^\n]*\x1b\[K", "", text)  # the line that shows progress
open("screen", "w").write(re.sub(r"\x1b\[[0-9;]*m", "", text))
sys.exit(os.waitstatus_to_exitcode(status))
P
cat >check_screen.py <<'P'
import sys, unicodedata

rows = int(sys.argv[1])
lines = open("screen").read().splitlines()
width = max(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in lines)
assert width <= 80, (width, max(lines, key=len))
assert len(lines) < rows, (len(lines), lines)
first = " ".join(lines[:2])  # names may fill the first line
assert any(word in first for word in (" times as fast as ", " takes ", " the same time ", "undecided", "perhaps",
                                      "too few")), first
P
screen() { # ROWS ARGUMENTS OF BENCH…
    local rows=$1
    shift
    python3 on_terminal.py "$ASSAY" bench "$@" && python3 check_screen.py "$rows" || { cat screen; false; }
}
long=$(printf 'an-argument-of-some-length-%.0s' {1..30})
ten=(-r 3 --reference 'cat numbers' -P level 1 9 'gzip -{level} -c numbers')
check "one command" screen 24 -r 6 'gzip -1 -c numbers'
check "two commands" screen 24 -r 6 'gzip -1 -c numbers' 'gzip -9 -c numbers'
check "three commands" screen 24 -r 6 'cat numbers' 'gzip -1 -c numbers' 'gzip -9 -c numbers'
check "ten commands" screen 24 "${ten[@]}"
check "ten commands are ranked" python3 -c '
import re
rows = [l for l in open("screen") if re.search(r" ± .* (gzip|cat) ", l)]
assert len(rows) == 10 and "reference" in "".join(rows), rows'
check "long commands are cut" screen 24 -r 6 "cat numbers #$long" "gzip -9 -c numbers #$long"
check "but told apart" python3 -c '
rows = [l for l in open("screen") if " ± " in l and "mean" not in l and "shell" not in l]
assert len({r.rstrip()[-12:] for r in rows}) == 2 == len(rows), rows'
check "by their end, too" screen 24 -r 6 -N "true $long one" "true $long two"
check "which is shown" grep -q '…one' screen
check "a command of wide letters" screen 24 -r 6 "sleep 0.005 # $(printf '時%.0s' {1..60})" true
check "details have no long line either" screen 400 -r 6 --details "sleep 0.005 # $long" "cat numbers # $long"
check "and show memory, counts and the range" eval \
    'grep -q "Peak memory" screen && grep -q "Range (min" screen && grep -q "Benchmark 2 against 1" screen'
check "without them the screen has none of that" eval \
    'assay bench -r 6 true "cat numbers" >plain && ! grep -q "Range (min" plain'
check "a value and its spread have as many decimals" eval 'assay bench -r 6 true "cat numbers" | python3 -c "
import re, sys
rows = re.findall(r\" ([0-9.]+) ± +([0-9.]+) \", sys.stdin.read())
assert len(rows) == 2 and all(len(a.partition(\".\")[2]) == len(b.partition(\".\")[2]) for a, b in rows), rows"'

# The documents show a command line and its screen. What is printed today must have the same shape:
# the same words and columns, other numbers and pictures.
cat >same_shape.py <<'P'
import re, shlex, subprocess, sys

def shape(lines):
    out = []
    for line in lines:
        if line.startswith(("Clock:", "Warning:", "Not counted:")):
            break
        if line.startswith("  left out:"):  # only on a busy machine
            continue
        line = re.sub("[▁▂▃▄▅▆▇█]+( *[▁▂▃▄▅▆▇█]+)*", " ", line)
        line = re.sub(r"[-+]?\d+(\.\d+)?( %)?( times)?", "N", line)
        line = re.sub(r"\b(µs|ms|s|[kMG]?B)\b|<", "", line)
        out.append(re.sub(r"\s+", " ", line).strip())
    # The certainty stands on a line of its own where the first is full.
    return " ".join(out).replace(" ,", ",")

def documented(path):
    text = open(path).read()
    if path.endswith(".1"):
        text = text.replace("\\-", "-").replace("\\&", "")
        text = re.sub(r"\\\[u([0-9A-F]{4})\]", lambda m: chr(int(m.group(1), 16)), text)
        blocks = re.findall(r"\.EX\n(.*?)\.EE", text, re.S)
    else:
        blocks = re.findall(r"```\n(.*?)```", text, re.S)
    return [b for b in blocks if b.startswith("$ assay bench ")]

blocks = documented(sys.argv[1])
assert len(blocks) == 3, len(blocks)
assert blocks == documented(sys.argv[2])
for block in blocks:
    command, *shown = block.rstrip("\n").split("\n")
    words = shlex.split(command[2:])
    words[0] = sys.argv[3]
    real = subprocess.run(words, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    a, b = shape(shown), shape(real.stdout.split("\n"))
    assert a.strip() == b.strip(), f"{command}\n{a}\n{b}"
    assert all(len(line) <= 80 for line in shown), max(shown, key=len)
P
check "the man page and README.md show screens of two, three and ten commands as they are" \
    python3 same_shape.py "$TOP/docs/man/assay-bench.1" "$TOP/README.md" "$ASSAY"
finish
