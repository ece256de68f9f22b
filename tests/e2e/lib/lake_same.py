#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lake_same.py ONE OTHER: two engines' answers, of check_parquet.py and lake_queries.py, are the same: rows in order, numbers to
nine digits."""
import ast
import decimal
import sys


def read(path):
    answers = {}
    for line in open(path, encoding="utf-8"):
        name, *rows = line.rstrip("\n").split("\t")
        answers[name] = [tuple(shown(v) for v in eval_row(row)) for row in rows]
    return answers


def eval_row(row):
    node = ast.parse(row.replace("Decimal(", "("), mode="eval").body
    return [ast.literal_eval(element) for element in node.elts]


def shown(value):
    if isinstance(value, str):
        try:
            value = decimal.Decimal(value)
        except decimal.InvalidOperation:
            return value
    return value if value is None else f"{float(value):.9g}"


one, other = (read(path) for path in sys.argv[1:])
assert len(one) >= 6, one
for name in one:
    assert one[name] == other.get(name), (name, one[name], other.get(name))
print(f"{len(one)} answers are equal")
