#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the JDK's own listing of execution samples with our folded stacks.

jfr_samples.py LISTING FOLDED: LISTING is `jfr print --events jdk.ExecutionSample --stack-depth 2048`,
FOLDED is `assay export --format folded` of the same file. Fails unless each stack has the same count.
"""
import collections
import re
import sys

listing, folded = sys.argv[1:]
theirs = collections.Counter()
for event in open(listing).read().split("jdk.ExecutionSample {")[1:]:
    thread = re.search(r'sampledThread = "([^"]*)"', event)
    # A native method has no line.
    frames = re.findall(r"^ {4}(\S.*?)\([^()]*\)(?: +line:.*)?$", event, re.MULTILINE)
    # A generic's parameters and the class loader's word stand before the name.
    frames = [f.split()[-1].replace(";", ":") for f in frames]
    theirs[";".join([thread.group(1) if thread else "java"] + frames[::-1])] += 1
ours = collections.Counter()
for line in open(folded):
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    ours[stack.replace("[stack cut: too deep];", "")] += int(count)
print(f"{sum(theirs.values())} samples, {len(theirs)} stacks")
for stack in [s for s in sorted(ours.keys() | theirs.keys()) if ours[s] != theirs[s]][:5]:
    print(f"{ours[stack]} not {theirs[stack]}: {stack[-300:]}")
sys.exit(not theirs or ours != theirs)
