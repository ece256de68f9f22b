#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/tutorial, and checks what the text states.

tutorial.py PAGE ...            runs each page's commands in the working folder; TAP
tutorial.py --update PAGE ...   writes the commands' output into the pages

A command is a line that begins with "$ " in a block marked console. A comment <!-- expect: REGEX --> behind a block
must match the output of the block's commands, and the output that the page shows.
"""
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"```console\n(.*?)```\n((?:<!-- expect: .*? -->\n)*)", re.S)
LONGEST = 40  # lines of a command's output that a page shows


def run(command):
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def commands(block):
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def shown(block):
    return "\n".join(line for line in block.splitlines() if not line.startswith("$ "))


def perform(text, found):
    """Runs the commands of each block: found(block, regexes, [(command, status, output)])."""
    for block, comments in BLOCK.findall(text):
        results = [(command, *run(command)) for command in commands(block)]
        found(block, re.findall(r"<!-- expect: (.*?) -->", comments), results)


def check(pages):
    counts = [0, 0]

    def tell(holds, name, detail=""):
        counts[0] += 1
        counts[1] += not holds
        print(f"{'ok' if holds else 'not ok'} {counts[0]} - {name}")
        if not holds:
            print("".join(f"# {line}\n" for line in detail.splitlines()[-30:]), end="")

    for page in pages:
        def judge(block, regexes, results, name=Path(page).name):
            output = ""
            for command, status, text in results:
                tell(status == 0, f"{name}: {command}", text)
                output += text
            for regex in regexes:
                tell(re.search(regex, output), f"{name}: the output has {regex}", output)
                tell(re.search(regex, shown(block)), f"{name}: the page shows {regex}", block)
        perform(Path(page).read_text(), judge)
    print(f"1..{counts[0]}")
    return 1 if counts[1] else 0


def update(pages):
    for page in pages:
        text = Path(page).read_text()
        new = []
        perform(text, lambda block, regexes, results: new.append(results))

        def written(match):
            lines = []
            for command, status, output in new.pop(0):
                if status != 0:
                    raise SystemExit(f"{page}: '{command}' ends with status {status}\n{output}")
                output = re.sub(r"\x1b\[[0-9;]*m", "", output).replace(str(Path.cwd()) + "/", "…/")
                kept = [line.rstrip() for line in output.splitlines()]
                lines += [f"$ {command}", *(kept if len(kept) <= LONGEST else [*kept[:LONGEST], "…"])]
            return "```console\n" + "\n".join(lines) + "\n```\n" + match.group(2)
        Path(page).write_text(BLOCK.sub(written, text))
    return 0


def main():
    words = sys.argv[1:]
    if words[:1] == ["--update"] and len(words) > 1:
        return update(words[1:])
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    return check(words)


if __name__ == "__main__":
    sys.exit(main())
