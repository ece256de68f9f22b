#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""read_otlp.py FILE: the self values of the first metric of an OTLP profile as
JSON, decoded by protobuf with OpenTelemetry's published schema."""
import collections
import json
import sys

from opentelemetry.proto.profiles.v1development import profiles_pb2

data = profiles_pb2.ProfilesData()
with open(sys.argv[1], "rb") as file:
    data.ParseFromString(file.read())

tables = data.dictionary
values = collections.Counter()
profile = data.resource_profiles[0].scope_profiles[0].profiles[0]
assert tables.string_table[profile.sample_type.unit_strindex] in ("nanoseconds", "count", "bytes")
for sample in profile.samples:
    assert not sample.timestamps_unix_nano or len(sample.timestamps_unix_nano) == len(sample.values)
    keys = [tables.string_table[tables.attribute_table[i].key_strindex] for i in sample.attribute_indices]
    assert keys == ["thread.name", "thread.id", "process.pid"], keys
    stack = tables.stack_table[sample.stack_index].location_indices
    name = "[unknown]"
    if stack:
        line = tables.location_table[stack[0]].lines[0]
        name = tables.string_table[tables.function_table[line.function_index].name_strindex]
    values[name] += sum(sample.values)
# What the schema does not know would be lost to every collector.
before = data.ByteSize()
data.DiscardUnknownFields()
assert data.ByteSize() == before, "fields that the schema does not have"
json.dump([values], sys.stdout)
