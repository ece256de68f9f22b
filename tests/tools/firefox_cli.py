#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""firefox_cli.py PREFIX FILE [--markers]

Prints what the Firefox Profiler's own command line, installed with Node below PREFIX, says of a
profile: a line "name<TAB>self<TAB>total" for each function of all threads, sorted. Threads without
samples are left out. With --markers: what it says of the markers of each thread, then of two that have a stack.
"""
import collections
import json
import os
import re
import subprocess
import sys
import time

prefix, path = os.path.abspath(sys.argv[1]), sys.argv[2]
bin_folder = os.path.join(prefix, "node_modules", ".bin")
session = f"assay-{os.getpid()}"
environment = {**os.environ, "PATH": bin_folder + ":" + os.environ["PATH"]}


def cli(*args):
    argv = [os.path.join(bin_folder, "node"),
            os.path.join(prefix, "node_modules", "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")]
    return subprocess.run([*argv, *args], capture_output=True, text=True, check=False, env=environment)


def load():
    """Starts the session. The command gives its daemon 500 ms to begin, which a busy machine exceeds: then the
    daemon is asked until it answers."""
    done = cli("load", path, "--session", session)
    if done.returncode == 0:
        return session
    if "did not become ready" not in done.stdout + done.stderr:
        sys.exit(done.stdout + done.stderr)
    for _ in range(120):
        status = cli("status", "--session", session)
        said = status.stdout + status.stderr
        if status.returncode == 0:
            return session
        if "load failed" in said:
            sys.exit(said)
        time.sleep(0.5)
    sys.exit("the daemon never became ready: " + said)


def main():
    opened = load()
    try:
        if sys.argv[3:] == ["--markers"]:
            for thread in json.loads(cli("thread", "list", "--session", opened, "--json").stdout)["threads"]:
                listed = cli("thread", "markers", "--session", session, "--thread", thread["threadHandle"]).stdout
                print(listed)
                for marker in re.findall(r"(m-\d+) ✓", listed)[:2]:
                    print(cli("marker", "stack", marker, "--session", session).stdout)
            return
        sums = collections.defaultdict(lambda: [0, 0])
        for thread in json.loads(cli("thread", "list", "--session", opened, "--json").stdout)["threads"]:
            done = cli("thread", "functions", "--session", opened, "--json", "--include-idle", "--thread",
                       thread["threadHandle"])
            if done.returncode:
                continue
            for function in json.loads(done.stdout)["functions"]:
                both = sums[function["name"]]
                both[0] += function["selfSamples"]
                both[1] += function["totalSamples"]
    finally:
        cli("stop", opened)
    for name, (self_value, total) in sorted(sums.items()):
        print(f"{name}\t{self_value:.6g}\t{total:.6g}")


main()
