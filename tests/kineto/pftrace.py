"""Writes the events of a Chrome trace as packets of Perfetto, in two styles.

"interned": names are told once, times are those of the boot clock, a snapshot relates it to the time of day. "plain": names
stand in each event, times are differences on a clock of the sequence's own, args are one dictionary, with gzip.
"compressed": as "interned", and most packets stand in compressed ones, as Perfetto's service writes them.
"""
import gzip
import struct
import zlib

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
BOOT, REAL, OWN = 6, 1, 64


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(int(value))


def message(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


class Writer:
    def __init__(self, style, base_ns):
        self.style, self.base_ns, self.out, self.ids, self.now = style, base_ns, [], {}, 0
        self.first = True
        if style != "plain":
            self.packet(message(6, b"".join(message(1, number(1, clock) + number(2, time))
                                            for clock, time in ((BOOT, 1), (REAL, base_ns + 1)))))
        else:
            self.packet(number(13, 1) + message(59, number(58, OWN)) + message(6, b"".join([
                message(1, number(1, BOOT) + number(2, base_ns)), message(1, number(1, REAL) + number(2, base_ns)),
                message(1, number(1, OWN) + number(2, 0) + number(3, 1) + number(4, 1))])))

    def packet(self, data):
        self.out.append(message(1, number(10, 1) + data))

    def text(self, field, use, text):
        """(field of the event, packet's InternedData): the text itself, or its number and what tells it."""
        if self.style == "plain":
            return message({3: 22, 10: 23, 1: 10, 17: 6}[field], text), b""
        known = self.ids.setdefault((use, text), len(self.ids) + 1)
        new = known == len(self.ids) and (use, text, "told") not in self.ids
        if new:
            self.ids[(use, text, "told")] = 0
            return number(field, known), message(use, number(1, known) + message(2, text))
        return number(field, known), b""

    def annotation(self, key, value):
        name, told = self.text(1, 3, ("debug." if self.style == "plain" else "") + key)
        if isinstance(value, list):
            return name + b"".join(message(12, number(4, item)) for item in value if isinstance(item, int)), told
        if isinstance(value, int):
            return name + number(4 if self.style == "plain" else 3, value), told
        if isinstance(value, float):
            return name + varint(5 << 3 | 1) + struct.pack("<d", value), told
        text, more = self.text(17, 29, str(value))
        return name + text, told + more

    def event(self, time_ns, data, told):
        if self.style != "plain":
            flags, time = (3 if self.first else 2), time_ns
        else:
            flags, time = 2, time_ns - self.now
        self.first, self.now = False, time_ns
        self.packet(number(8, time) + number(13, flags) + message(11, data) + (message(12, told) if told else b""))


def tracks_of(events):
    """{(pid, tid): number} and what names them."""
    tracks = {}
    for event in events:
        tracks.setdefault((event.get("pid"), event.get("tid")), len(tracks) + 10)
    return tracks


def order(events):
    """[(time, is_begin, event)]: slices of a track lie in each other; one that outlasts its caller is cut."""
    rows, open_slices = [], {}

    def close(stack, until):
        while stack and stack[-1][0] <= until:
            end, event = stack.pop()
            rows.append((end, 0, event))

    def begin_of(event):
        return round(event["ts"] * 1000)

    def length_of(event):
        return round(event.get("dur", 0) * 1000)

    for event in sorted(events, key=lambda event: (begin_of(event), -length_of(event))):
        begin, end = begin_of(event), begin_of(event) + length_of(event)
        stack = open_slices.setdefault((event.get("pid"), event.get("tid")), [])
        close(stack, begin)
        while stack and stack[-1][0] < end:  # times are rounded: kernels of one stream overlap by 1 ns
            _, outer = stack.pop()
            rows.append((begin, 0, outer))
        rows.append((begin, 1, event))
        if event["ph"] == "X":
            stack.append((end, event))
    for stack in open_slices.values():
        close(stack, 1 << 62)
    return sorted(rows, key=lambda row: row[0])


def add_counters(writer, events):
    """Counters of the first device, each on a track of its own."""
    own = [event for event in events if event["ph"] == "C" and "GPU 0" in str(event["pid"])]
    for track, name in enumerate(sorted({event["name"] for event in own}), 1 << 20):
        writer.packet(message(60, number(1, track) + message(2, name) + message(8, b"")))
        for event in own:
            if event["name"] == name:
                value = varint(44 << 3 | 1) + struct.pack("<d", event["args"][""])
                writer.event(round(event["ts"] * 1000), number(9, COUNTER) + number(11, track) + value, b"")


def convert(document, style):
    events = [event for event in document["traceEvents"] if event["ph"] in "Xi"]
    base_ns = document.get("baseTimeNanoseconds", 1700000000000000000)
    writer = Writer(style, base_ns)
    tracks = tracks_of(events)
    for (pid, tid), track in tracks.items():
        thread = number(1, pid) + number(2, tid) + message(5, "thread %s" % tid)
        writer.packet(message(60, number(1, track) + message(4, thread)))
    for time_ns, is_begin, event in order(events):
        track = number(11, tracks[(event.get("pid"), event.get("tid"))])
        if not is_begin:
            writer.event(time_ns, number(9, END) + track, b"")
            continue
        name, told = writer.text(10, 2, event["name"])
        category, more = writer.text(3, 1, event.get("cat", ""))
        args, told = b"", told + more
        for key, value in event.get("args", {}).items():
            if value is not None:
                annotation, more = writer.annotation(key, value)
                args += message(11 if style == "plain" else 4, annotation)
                told += more
        if style == "plain" and args:
            args = message(4, message(10, "args") + args)
        kind = BEGIN if event["ph"] == "X" else INSTANT
        writer.event(time_ns, number(9, kind) + track + name + category + args, told)
    if style != "plain":
        add_counters(writer, document["traceEvents"])
    if style == "compressed":
        blocks = [writer.out[at:at + 300] for at in range(0, len(writer.out), 300)]
        return b"".join(b"".join(block) if number % 5 == 0 else message(1, message(50, zlib.compress(b"".join(block))))
                        for number, block in enumerate(blocks))
    data = b"".join(writer.out)
    return gzip.compress(data, 6, mtime=0) if style == "plain" else data


if __name__ == "__main__":
    import json
    import pathlib
    import sys
    folder, target, chosen = sys.argv[1:]
    pathlib.Path(target).mkdir(parents=True, exist_ok=True)
    for path in sorted(pathlib.Path(folder).iterdir()):
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        name = path.name.split(".")[0] + ".pftrace" + (".gz" if chosen == "plain" else "")
        (pathlib.Path(target) / name).write_bytes(convert(json.loads(data), chosen))
