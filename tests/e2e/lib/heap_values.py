#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values of a recording of the heap, which `assay export -f json` writes, read from stdin.

heap_values.py METRIC FUNCTION            the sum over the stacks in which FUNCTION is
heap_values.py --as-dhat FILE FUNCTION…   each FUNCTION has the totals that DHAT found; else status 1
"""
import json
import sys


class Recording:
    def __init__(self, document):
        self.strings = document["strings"]
        self.metrics = [self.strings[i] for i in document["metrics"]["name"]]
        self.values = document["samples"]["values"]
        frames, stacks = document["frame places"], document["stacks"]
        names = [self.strings[i] for i in document["functions"]["name"]]
        self.functions = []
        for leaf in document["samples"]["stack"]:
            found = set()
            while leaf:
                frame = stacks["frame"][leaf]
                while frame:
                    found.add(names[frames["function"][frame]])
                    frame = frames["inlined_in"][frame]
                leaf = stacks["parent"][leaf]
            self.functions.append(found)

    def sum(self, metric, function):
        column = self.values[self.metrics.index(metric)]
        return sum(v for v, found in zip(column, self.functions) if function in found)


def dhat_sums(path, function):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    sums = dict.fromkeys(("tb", "tbk", "gb", "gbk", "eb", "ebk"), 0)
    for point in document["pps"]:
        if any(f": {function} (" in document["ftbl"][i] for i in point["fs"]):
            for key in sums:
                sums[key] += point[key]
    return sums


def main():
    recording = Recording(json.load(sys.stdin))
    if sys.argv[1] != "--as-dhat":
        print(recording.sum(*sys.argv[1:3]))
        return 0
    ours = {"tb": "bytes allocated", "tbk": "blocks allocated", "gb": "bytes at peak", "gbk": "blocks at peak",
            "eb": "bytes at end", "ebk": "blocks at end"}
    status = 0
    for function in sys.argv[3:]:
        theirs = dhat_sums(sys.argv[2], function)
        for key, metric in ours.items():
            value = recording.sum(metric, function)
            print(f"{function} {metric}: {value}, DHAT {theirs[key]}")
            status |= value != theirs[key]
    return status


sys.exit(main())
