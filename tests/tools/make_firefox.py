#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_firefox.py FOLDER: writes profiles as Firefox and the Firefox Profiler have written them.

gecko-28.json    what Firefox's profiler writes, two processes; also in simpleperf's way of frames
gecko-old.json   samples with frames in them, before there were tables
processed-N.json the Firefox Profiler's versions 50 (all in the thread), 56 to 59 (strings shared,
                 later sources too), 61 (all shared)
"""
import json
import sys
from pathlib import Path

NAMES = ["(root)", "main (in /bin/prog)", "leaf", "foo (https://x.org/a.js:12:3)", "0x401010",
         "do_sys (in [kernel.kallsyms])"]
CATEGORIES = [{"name": "Other", "color": "grey", "subcategories": ["Other"]},
              {"name": "Kernel", "color": "orange", "subcategories": ["Other"]}]


def gecko_thread(name, pid, tid):
    return {
        "name": name, "processType": "default", "processName": "prog", "pid": pid, "tid": tid,
        "registerTime": 0, "unregisterTime": None,
        "markers": {"schema": {"name": 0, "startTime": 1, "endTime": 2, "phase": 3, "category": 4, "data": 5},
                    "data": []},
        "samples": {"schema": {"stack": 0, "time": 1, "eventDelay": 2},
                    "data": [[2, 1.0, 0], [3, 2.0, 0], [4, 3.0, 0], [5, 4.0, 0], [1, 5.0], [2, 6.5]]},
        "stackTable": {"schema": {"prefix": 0, "frame": 1},
                       "data": [[None, 0], [0, 1], [1, 2], [2, 3], [1, 4], [1, 5]]},
        "frameTable": {
            "schema": {"location": 0, "relevantForJS": 1, "innerWindowID": 2, "implementation": 3, "line": 4,
                       "column": 5, "category": 6, "subcategory": 7},
            "data": [[0, False, 0, None, None, None, 0, 0], [1, False, 0, None, None, None, 0, 0],
                     [2, False, 0, None, 7, None, 0], [3, True, 0, None, 12, 3, 1],
                     [4, False, 0, None, None, None, 0, 0], [5, False, 0, None, None, None, 1]]},
        "stringTable": NAMES}


def gecko(pid, start, threads):
    return {
        "meta": {"version": 28, "startTime": start, "shutdownTime": None, "interval": 1, "stackwalk": 1, "debug": 0,
                 "gcpoison": 0, "asyncstack": 1, "processType": 0, "product": "Prog", "platform": "Linux",
                 "oscpu": "Linux", "misc": "", "abi": "x86_64", "toolkit": "gtk",
                 "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
                 "categories": CATEGORIES, "markerSchema": []},
        "libs": [{"start": 0x400000, "end": 0x500000, "offset": 0, "arch": "x86_64", "name": "prog",
                  "path": "/bin/prog", "debugName": "prog", "debugPath": "/bin/prog", "breakpadId": "0" * 33,
                  "codeId": None}],
        "threads": threads, "pausedRanges": [], "processes": []}


def gecko_old():
    frames = [["(root)", "main", "leaf"], ["(root)", "main"], ["(root)", "main", "leaf"]]
    return {"meta": {"version": 2, "interval": 1, "startTime": 1e12}, "libs": "[]",
            "threads": [{"name": "GeckoMain", "tid": 7, "samples": [
                {"time": float(i), "frames": [{"location": name} for name in stack]}
                for i, stack in enumerate(frames)]}]}


def processed(version):
    """One thread, or two: each with the tables where its version has them."""
    strings = ["main", "leaf", "a.c", "/bin/prog", "sys"]
    frame = {"length": 3, "address": [16, 32, -1], "inlineDepth": [0, 0, 0], "category": [0, 0, 1],
             "subcategory": [0, 0, 0], "func": [0, 1, 2], "nativeSymbol": [None] * 3, "innerWindowID": [None] * 3,
             "implementation": [None] * 3, "line": [3, 7, None], "column": [None] * 3}
    func = {"length": 3, "isJS": [False] * 3, "relevantForJS": [False] * 3, "name": [0, 1, 4],
            "resource": [0, 0, -1], "lineNumber": [None] * 3, "columnNumber": [None] * 3}
    if version >= 58:
        func["source"] = [0, 0, None]
    else:
        func["fileName"] = [2, 2, None]
    tables = {
        "stackTable": {"length": 3, "frame": [0, 1, 2], "prefix": [None, 0, 1]},
        "frameTable": frame, "funcTable": func,
        "resourceTable": {"length": 1, "lib": [0], "name": [3], "host": [None], "type": [1]},
        "nativeSymbols": {"length": 0, "libIndex": [], "address": [], "name": [], "functionSize": []}}
    if version < 52:
        tables["stackTable"]["category"] = [0, 0, 1]
        tables["stackTable"]["subcategory"] = [0, 0, 0]
    shared = {}
    if version >= 56:
        shared["stringArray"] = strings
    else:
        tables["stringArray"] = strings
    if version >= 58:
        shared["sources"] = {"length": 1, "uuid": [None], "filename": [2]}
    if version >= 60:
        shared.update(tables)
        tables = {}
    thread = {"name": "main", "isMainThread": True, "processType": "default", "processName": "prog",
              "processStartupTime": 0, "processShutdownTime": None, "registerTime": 0, "unregisterTime": None,
              "pausedRanges": [], "pid": "7", "tid": 7,
              "markers": {"length": 0, "data": [], "name": [], "startTime": [], "endTime": [], "phase": [],
                          "category": []},
              "samples": {"length": 4, "time": [1, 2, 3, 4], "stack": [1, 1, 2, 0], "weight": None,
                          "weightType": "samples"}, **tables}
    profile = {
        "meta": {"interval": 1, "startTime": 0, "processType": 0, "product": "prog", "stackwalk": 1,
                 "version": 28, "preprocessedProfileVersion": version, "categories": CATEGORIES,
                 "markerSchema": [], "symbolicated": True},
        "libs": [{"arch": "", "name": "prog", "path": "/bin/prog", "debugName": "prog", "debugPath": "/bin/prog",
                  "breakpadId": "0" * 33, "codeId": None}],
        "pages": [], "threads": [thread, {**thread, "tid": 8, "name": "worker", "isMainThread": False}]}
    if shared:
        profile["shared"] = shared
    return profile


def main():
    folder = Path(sys.argv[1])
    whole = gecko(100, 1e12, [gecko_thread("GeckoMain", 100, 100), gecko_thread("Worker", 100, 101)])
    whole["processes"] = [gecko(200, 1e12 + 50, [gecko_thread("GeckoMain", 200, 200)])]
    (folder / "gecko-28.json").write_text(json.dumps(whole))
    (folder / "gecko-old.json").write_text(json.dumps(gecko_old()))
    for version in (50, 56, 57, 58, 59, 61):
        (folder / f"processed-{version}.json").write_text(json.dumps(processed(version)))


main()
