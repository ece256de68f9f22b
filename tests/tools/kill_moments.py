#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_moments.py MOMENTS FAULT OUTPUT COMMAND...: SIGKILL at chosen moments.

Runs COMMAND, which writes OUTPUT, again and again in the working folder. Each time SIGKILL ends it
before its n-th system call (FAULT is tests/tools/fault). The numbers come from a generator with a
fixed seed, so that a failure can be repeated with the n that it names. Every other run finds an
older OUTPUT, the file `older`. OUTPUT may be a folder of a survey or of a loop. Afterwards OUTPUT is the older file or a whole one, there may be
whole files OUTPUT.part and OUTPUT.*.tmp, and nothing else is left: no file, no process, and
nothing temporary in the folders that were there before (a cache)."""
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ASSAY = os.environ["ASSAY"]


def opens(path, like):
    """Whether the file is whole, by its content and by what OUTPUT is."""
    suffix = Path(like).suffix
    if path.stat().st_size == 0 and suffix == ".assay":
        return path.name != like  # the recorder had written nothing yet
    ways = {".assay": [ASSAY, "report", path], ".gz": ["gzip", "-tc", path], ".json": ["python3", "-m", "json.tool", path],
            ".db": ["sqlite3", path, "pragma integrity_check"], ".svg": ["grep", "-q", "^</svg>", path],
            ".html": ["grep", "-q", "</html>", path], ".txt": ["tail", "-c1", path],
            ".xml": ["grep", "-q", "^</report>", path], ".info": ["grep", "-q", "^end_of_record", path], ".proftext": [ASSAY, "cover", "merge", "-f", "-o", "/dev/null", path]}
    link = Path("whole" + suffix)  # a .part has another name
    shutil.copyfile(path, link)
    journal = Path(f"{path}-journal")
    if journal.exists():
        shutil.copyfile(journal, f"{link}-journal")
    command = [link if word == path else word for word in ways[suffix]]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    for name in Path(".").glob("whole*"):
        name.unlink()
    if done.returncode or (suffix == ".db" and done.stdout.strip() != b"ok"):
        print(done.stdout.decode("utf-8", "replace")[-500:])
        return False
    return True


def survey_opens(folder):
    """Whether a folder is a survey that can be shown."""
    done = subprocess.run([ASSAY, "report", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        print(done.stdout.decode("utf-8", "replace")[-500:])
    return not done.returncode


def folder_opens(path, output):
    """Whether each recording in the folder opens; in that with the final name it is the whole."""
    if path.name == output and path.suffix == ".survey":
        return survey_opens(path)
    return all(opens(file, "x.assay") for file in path.glob("**/*.assay")) and \
        all(survey_opens(file.parent) for file in path.glob("**/survey.json"))


def remove(name):
    if os.path.isdir(name):
        shutil.rmtree(name)
    else:
        os.unlink(name)


def run(fault, n, command):
    done = subprocess.run([fault, "any=KILL", str(n), "fired", *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120, check=False)
    return done.returncode, Path("fired").read_text().strip(), done.stderr.decode("utf-8", "replace")


def troubles(before, output, older):
    yield from (f"left {path}" for path in Path(".").glob("*/**/*") if not path.is_dir() and ".tmp" in path.name)
    for name in sorted(set(os.listdir(".")) - before - {"fired"}):
        path = Path(name)
        if path.is_dir() and name.startswith(output):
            if not folder_opens(path, output):
                yield f"{name} is not whole"
        elif path.is_dir():
            yield f"left folder {name}"
        elif name == output and older and path.read_bytes() == Path("older").read_bytes():
            pass
        elif name == output or name.startswith(output + ".part") or (name.startswith(output) and name.endswith((".tmp", "-journal"))):
            # A journal beside a database is how SQLite goes back to the older state.
            if not name.endswith("-journal") and not opens(path, output):
                yield f"{name} is not whole"
        else:
            yield f"left {name}"


def main():
    moments, fault, output, command = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    before = set(os.listdir("."))
    status, calls, said = run(fault, 0, command)
    if status or not Path(output).exists():
        sys.exit(f"status {status} without any fault: {said}")
    if os.path.lexists("older"):
        remove("older")
    os.rename(output, "older")
    before |= {"older", "fired"}
    numbers, bad = random.Random(output + command[1]), 0
    for i in range(moments):
        n = numbers.randint(1, int(calls))
        for name in set(os.listdir(".")) - before:
            remove(name)
        if i % 2 and os.path.isdir("older"):
            shutil.copytree("older", output)
        elif i % 2:
            shutil.copy("older", output)
        status, fired, said = run(fault, n, command)
        wrong = list(troubles(before, output, i % 2)) if fired == "fired" else []
        if i % 2 and not Path(output).exists():
            wrong.append("the older file is gone")
        if status == 125:
            wrong.append(said)
        for line in wrong:
            print(f"call {n} of {calls}{', over an older file' if i % 2 else ''}: {line}")
        bad += bool(wrong)
    for name in set(os.listdir(".")) - before | {"older"}:
        remove(name)
    print(f"{moments} moments, {bad} with trouble")
    sys.exit(1 if bad else 0)


main()
