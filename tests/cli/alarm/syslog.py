"""Prints datagrams as they come until a file is there, and what they hold: fields of the journal, or a line of syslog.

usage: syslog.py SOCKET UNTIL [journal]
"""
import os
import re
import socket
import sys

address, until, *forms = sys.argv[1:]


def fields(data):
    """Of the journal's native protocol: NAME=value, or NAME and a length of eight bytes before the value."""
    while data:
        name, data = data.split(b"\n", 1)
        if b"=" in name:
            yield name.decode()
        else:
            n = int.from_bytes(data[:8], "little")
            value, end, data = data[8:8 + n], data[8 + n:9 + n], data[9 + n:]
            assert end == b"\n", end
            yield f"{name.decode()}={value!r}"


with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
    end.bind(address)
    end.settimeout(0.05)
    while True:
        try:
            data = end.recv(1 << 16)
        except TimeoutError:
            if os.path.exists(until):
                break
            continue
        lines = list(fields(data)) if any(forms) else [data.decode()]
        for line in lines:
            line = re.sub("[0-9A-HJKMNP-TV-Z]{26}", "ID", line)
            print(re.sub(r"^(<\d+>1) \S+ \S+ failslow \d+", r"\1 TIME HOST failslow PID", line))
        print(flush=True)
