#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a test program's truths against `assay report --json --tree`.

truth.py REPORT --chain main,a,b,hot --share hot=80+-10 [--inlined mix] [--source FILE --lines-share 70]
                [--complete 99] [--repeated shop::descend=50]
Names match a function by its last segment without arguments, templates and Rust hashes, or in full.
"""
import argparse
import json
import re
import sys


def plain(name):
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    depth, out = 0, ""
    for c in name:
        depth += c in "<("
        if depth == 0:
            out += c
        depth -= c in ">)"
    return out.strip().removesuffix(" const")


def matches(name, wanted):
    short = plain(name)
    return wanted in (name, short) or short.split("::")[-1].split(" ")[-1] == wanted


def paths(nodes):
    """Each node with its ancestors, outermost first."""
    stack = []
    for node in nodes:
        del stack[node["depth"]:]
        yield stack, node
        stack.append(node)


def chain_of(ancestors, node):
    return [n["name"] for n in ancestors[1:]] + [node["name"]]


def is_chain(names, wanted):
    """The wanted names follow each other directly, at the end of the chain."""
    if len(names) < len(wanted):
        return False
    return all(matches(n, w) for n, w in zip(names[-len(wanted):], wanted))


def check(args, report):
    problems = []
    whole = report["metric"]["total"]
    nodes = report["tree"]["nodes"]
    if not whole:
        return ["the recording is empty"]

    def share_of_function(wanted):
        total = 0
        for ancestors, node in paths(nodes):
            if matches(node["name"], wanted) and not any(matches(n["name"], wanted) for n in ancestors):
                total += node["total"]
        return 100 * total / whole

    for text in args.share:
        name, _, bounds = text.partition("=")
        middle, _, tolerance = bounds.partition("+-")
        got = share_of_function(name)
        if abs(got - float(middle)) > float(tolerance):
            problems.append(f"'{name}' has {got:.1f} %, expected {bounds}")

    for text in args.chain:
        wanted = text.split(",")
        leaf = wanted[-1]
        right = wrong = 0
        example = None
        for ancestors, node in paths(nodes):
            if matches(node["name"], leaf) and not any(matches(n["name"], leaf) for n in ancestors):
                if is_chain(chain_of(ancestors, node), wanted):
                    right += node["total"]
                else:
                    wrong += node["total"]
                    example = " > ".join(chain_of(ancestors, node))
        if right == 0 or right < 0.99 * (right + wrong):
            problems.append(f"chain {text}: {right} right, {wrong} wrong, for example {example}")

    for text in args.inlined:
        if not any(matches(n["name"], text) and n.get("inlined") for n in nodes):
            problems.append(f"'{text}' is nowhere named as inlined")

    for text in args.repeated:
        name, _, times = text.partition("=")
        most = max((sum(matches(n["name"], name) for n in ancestors) for ancestors, _ in paths(nodes)),
                   default=0)
        if most != int(times):
            problems.append(f"'{name}' stands {most} times in the deepest stack, expected {times}")

    if args.source:
        with open(args.source, encoding="utf-8") as f:
            lines = f.read().splitlines()
        first = next(i for i, line in enumerate(lines, 1) if line == "// HOT BEGIN")
        last = next(i for i, line in enumerate(lines, 1) if line == "// HOT END")
        base = args.source.rsplit("/", 1)[-1]
        inside = sum(row["self"] for row in report["lines"]
                     if row["file"].endswith(base) and first < row["line"] < last)
        if 100 * inside < args.lines_share * whole:
            top = [(r["file"], r["line"], r["self_share"]) for r in report["lines"][:3]]
            problems.append(f"lines {first}..{last} have {100 * inside / whole:.1f} %, hottest are {top}")

    complete = report["truth"]["complete_stacks"]
    if complete is None or 100 * complete < args.complete:
        problems.append(f"complete stacks {complete}, expected {args.complete} %; {report['truth']['stacks']}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("--chain", action="append", default=[])
    parser.add_argument("--share", action="append", default=[])
    parser.add_argument("--inlined", action="append", default=[])
    parser.add_argument("--repeated", action="append", default=[])
    parser.add_argument("--source")
    parser.add_argument("--lines-share", type=float, default=70)
    parser.add_argument("--complete", type=float, default=99)
    args = parser.parse_args()
    with open(args.report, encoding="utf-8") as f:
        problems = check(args, json.load(f))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
