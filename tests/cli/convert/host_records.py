#!/usr/bin/env python3
"""Writes a file of sysTrace's host events. Arguments: file, then one event each: "KEY TYPE START DUR DELAY RANK NAME NEXT
PID", times in us (START since 2025-06-15T15:06:40Z, DELAY in ns), NEXT may be -."""
import sys

BASE_US = 1_750_000_000_000_000


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def entry(text):
    key, kind, start, dur, delay, rank, name, following, pid = text.split(" ")
    values = [int(key), BASE_US + int(start), int(dur), int(delay), int(kind), int(rank), name.encode(),
              b"" if following == "-" else following.encode(), int(pid)]
    return field(1, b"".join(field(number, value) for number, value in enumerate(values, 1) if value))


with open(sys.argv[1], "wb") as stream:
    for event in sys.argv[2:]:
        stream.write(entry(event))
