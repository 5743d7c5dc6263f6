#!/usr/bin/env python3
"""A trace.dat gives the answer of the text of the same run; its clock, losses and hostile names come with it; damaged
ones are refused. Writes the files itself, in version 6. Arguments: the program, and a folder with recorded traces, which
may be missing. Skips without libtracecmd."""
import gzip
import itertools
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
KERNEL_LINES = (91000, 95000)  # there are most of the switches
PAGE = 4096
KERNEL = pathlib.Path(sys.argv[2]) / "data/ftrace/trainsim2_hog_tracefs_tracecmd_perf/trace.txt.gz"
COMM, ID, LONG, DYNAMIC = "char {}[16]", "pid_t {}", "long {}", "__data_loc char[] {}"
TASK = [("comm", COMM), ("pid", ID), ("prio", ID)]
# id, system, name, fields: as kernels print them, some names of tasks are 16 bytes, others stand at the end.
EVENTS = {
    "print": (5, "ftrace", [("ip", LONG), ("buf", "char {}[]")]),
    "sched_switch": (300, "sched", [("prev_comm", COMM), ("prev_pid", ID), ("prev_prio", ID), ("prev_state", LONG),
                                    ("next_comm", COMM), ("next_pid", ID), ("next_prio", ID)]),
    "sched_wakeup": (301, "sched", TASK + [("target_cpu", ID)]),
    "sched_waking": (302, "sched", TASK + [("target_cpu", ID)]),
    "sched_wakeup_new": (303, "sched", TASK + [("target_cpu", ID)]),
    "sched_migrate_task": (304, "sched", TASK + [("orig_cpu", ID), ("dest_cpu", ID)]),
    "sched_stat_runtime": (305, "sched", [("comm", DYNAMIC), ("pid", ID), ("runtime", LONG)]),
    "sched_process_fork": (306, "sched", [("parent_comm", COMM), ("parent_pid", ID), ("child_comm", COMM),
                                          ("child_pid", ID)]),
    "irq_handler_entry": (307, "irq", [("irq", ID), ("name", DYNAMIC)]),
    "irq_handler_exit": (308, "irq", [("irq", ID), ("ret", ID)]),
    "softirq_entry": (309, "irq", [("vec", ID)]),
    "softirq_exit": (310, "irq", [("vec", ID)]),
    "softirq_raise": (311, "irq", [("vec", ID)]),
    "sched_process_exec": (312, "sched", [("filename", DYNAMIC), ("pid", ID), ("old_pid", ID)]),
    "sched_process_exit": (313, "sched", TASK + [("group_dead", ID)]),
}
SIZES = {COMM: 16, ID: 4, LONG: 8, DYNAMIC: 4, "char {}[]": 0}
LINE = re.compile(rb"^(.{16})-(\d+) +\[(\d+)\] +(?:([^ ]{5}) +)?(\d+)\.(\d{6,9}): ([a-z_]+): *(.*)$")
VALUE = re.compile(rb"(?:^| )(?:==> )?([a-z_]+)=(.*?)(?= (?:==> )?[a-z_]+=|$)")
STATES = {b"R": 0, b"R+": 256, b"S": 1, b"D": 2, b"T": 4, b"X": 16, b"Z": 32, b"I": 128}
program = sys.argv[1]
faults = []


def check(is_right, text):
    if not is_right:
        faults.append(text)


def layout(name):
    """Fields of an event with their offsets, behind the common ones."""
    at = 8
    for field, kind in EVENTS[name][2]:
        size = SIZES[kind]
        at += -at % (8 if kind in (LONG,) else 4)
        yield field, kind, at, size
        at += size


def form(name):
    common = [("unsigned short common_type", 0, 2), ("unsigned char common_flags", 2, 1),
              ("unsigned char common_preempt_count", 3, 1), ("int common_pid", 4, 4)]
    fields = common + [(kind.format(field), at, size) for field, kind, at, size in layout(name)]
    lines = [f"\tfield:{text};\toffset:{at};\tsize:{size};\tsigned:{int(text[:3] in ('int', 'pid', 'lon'))};\n"
             for text, at, size in fields]
    return f"name: {name}\nID: {EVENTS[name][0]}\nformat:\n{''.join(lines)}\nprint fmt: \"x\"\n".encode()


def pack(name, tid, flags, values):
    """The record of an event."""
    record, tail = bytearray(struct.pack("<HBBi", EVENTS[name][0], flags, 0, tid)), b""
    end = max(at + size for _, _, at, size in layout(name))
    for field, kind, at, size in layout(name):
        value = values.get(field.encode(), b"0")
        record += bytes(at - len(record))
        if kind == COMM:
            record += value[:15].ljust(16, b"\0")
        elif kind == DYNAMIC:
            record += struct.pack("<HH", end + len(tail), len(value) + 1)
            tail += value + b"\0"
        elif kind == "char {}[]":
            tail += value + b"\n\0"
        else:
            number = STATES[value] if field == "prev_state" else int((re.match(rb"-?\d+", value) or [b"0"])[0])
            record += number.to_bytes(size, "little", signed=True)
    record += tail
    return bytes(record + bytes(-len(record) % 4))


def pages(events, lost):
    """The pages of one CPU; @lost events are missing before the second page."""
    made, body, begin, last = [], b"", 0, 0

    def close():
        commit = len(body)
        if lost and len(made) == 1:
            commit |= 3 << 30  # some are missing, and their number stands behind
            rest = struct.pack("<q", lost)
        else:
            rest = b""
        made.append((struct.pack("<QQ", begin, commit) + body + rest).ljust(PAGE, b"\0"))

    for ns, record in events:
        if body and len(body) + len(record) + 24 > PAGE - 16:
            close()
            body = b""
        if not body:
            begin = last = ns
        delta, last = ns - last, ns
        if delta >> 27:
            body += struct.pack("<II", 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
            delta = 0
        if len(record) <= 112:
            body += struct.pack("<I", len(record) // 4 | delta << 5) + record
        else:
            body += struct.pack("<II", delta << 5, len(record) + 4) + record
    close()
    return b"".join(made)


def sized(kind, data):
    return struct.pack(kind, len(data)) + data


def write_dat(path, by_cpu, comms, clock="mono_raw", overrun=0, lost=0):
    systems = sorted({system for _, system, _ in EVENTS.values()} - {"ftrace"})
    head = b"\x17\x08\x44tracing6\0" + struct.pack("<BBI", 0, 8, PAGE)
    head += b"header_page\0" + sized("<Q", (
        b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"))
    head += b"header_event\0" + sized("<Q", b"\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n")
    head += struct.pack("<I", 1) + sized("<Q", form("print")) + struct.pack("<I", len(systems))
    for system in systems:
        names = [name for name, event in EVENTS.items() if event[1] == system]
        head += system.encode() + b"\0" + struct.pack("<I", len(names)) + b"".join(sized("<Q", form(n)) for n in names)
    head += struct.pack("<II", 0, 0)
    head += sized("<Q", b"".join(b"%d %s\n" % pair for pair in sorted(comms.items())))
    n = max(by_cpu) + 1
    head += struct.pack("<I", n) + b"options  \0"
    for cpu in range(n):
        stats = f"CPU: {cpu}\nentries: 0\noverrun: {overrun}\nread events: {len(by_cpu.get(cpu, []))}\n\n".encode() + b"\0"
        head += struct.pack("<H", 2) + sized("<I", stats)
    head += struct.pack("<H", 4) + sized("<I", f"local [{clock}]".encode() + b"\0")
    head += struct.pack("<H", 0) + b"flyrecord\0"
    bodies = [pages(by_cpu.get(cpu, []), lost) for cpu in range(n)]
    clock_text = sized("<Q", f"local [{clock}]".encode())
    at = len(head) + 16 * n + len(clock_text)
    gap, table = -at % PAGE, b""
    at += gap
    for body in bodies:
        table += struct.pack("<QQ", at, len(body))
        at += len(body)
    path.write_bytes(head + table + clock_text + bytes(gap) + b"".join(bodies))


def read_text(text):
    """Events by CPU and the names of tasks, from lines of ftrace or of trace-cmd report -N."""
    by_cpu, comms = {}, {}
    for line in text.split(b"\n"):
        match = LINE.match(line)
        if not match:
            continue
        comm, tid, cpu, flags, seconds, fraction, name, payload = match.groups()
        name = {b"tracing_mark_write": "print"}.get(name, name.decode())
        values = {b"buf": payload} if name == "print" else dict(VALUE.findall(payload))
        if name == "sched_process_fork":
            values |= {b"parent_comm": values[b"comm"], b"parent_pid": values[b"pid"]}
        if name not in EVENTS:
            continue
        bits = 8 if flags and flags[2:3] in b"hH" else 16 if flags and flags[2:3] == b"s" else 0
        ns = int(seconds) * 10**9 + int(fraction) * 10 ** (9 - len(fraction))
        by_cpu.setdefault(int(cpu), []).append((ns, pack(name, int(tid), bits, values)))
        comms[int(tid)] = comm.strip()
    return by_cpu, comms


def hostbound(path):
    made = subprocess.run([program, "hostbound", path, "--format", "json"], capture_output=True, text=True, check=False)
    return (json.loads(made.stdout)["traces"][0] if made.returncode == 0 else None), made


def same(left, right):
    """What both say, without names of files and numbers of lines."""
    for trace in (left, right):
        trace.pop("files", None)
        trace.get("coverage", {}).pop("lines", None)
        trace.pop("clock", None)
    return left == right


def check_same(folder, text):
    (folder / "a.txt").write_bytes(text)
    write_dat(folder / "a.dat", *read_text(text))
    ours, made = hostbound(folder / "a.dat")
    theirs, _ = hostbound(folder / "a.txt")
    check(ours is not None, f"not read: {made.stderr}")
    if ours is not None:
        check(ours["clock"]["name"] == "mono_raw" and ours["clock"]["isTold"], f"clock: {ours['clock']}")
        check(ours["coverage"]["switches"] > 20, f"few switches: {ours['coverage']}")
        for trace in (ours, theirs):  # text of trace-cmd does not tell them
            for key in ("entriesKept", "entriesWritten"):
                trace["coverage"].pop(key, None)
        check(same(ours, theirs), "a trace.dat and its text give different answers")


def check_names(folder):
    names = [b"==> next_comm=z", b"a b c", b"pid=7 prio=0", b"-0", b" lead", "训练-1".encode(), b"x: y"]
    events, ns = [], 10**12
    for i, name in enumerate([*names, b"last"]):
        values = {b"prev_comm": b"before", b"prev_pid": b"%d" % (50 + i), b"prev_state": b"S", b"next_comm": name,
                  b"next_pid": b"%d" % (100 + i)}
        events.append((ns := ns + 3 * 10**8, pack("sched_switch", 50 + i, 0, values)))
    write_dat(folder / "names.dat", {1: events}, {})
    trace, made = hostbound(folder / "names.dat")
    got = {thread["tid"]: thread["name"] for thread in trace["threads"]} if trace else made.stderr
    check(trace and all(got.get(100 + i) == name.decode() for i, name in enumerate(names)), f"names: {got}")


def check_losses(folder, text):
    by_cpu, comms = read_text(text)
    write_dat(folder / "lost.dat", by_cpu, comms, overrun=7, lost=40)
    coverage = (hostbound(folder / "lost.dat")[0] or {}).get("coverage", {})
    n = sum(map(len, by_cpu.values()))
    check((coverage.get("entriesKept"), coverage.get("entriesWritten")) == (n, n + 7 * len(by_cpu)), f"kept: {coverage}")
    check(coverage.get("isLossy") and coverage.get("lostEvents", 0) >= 40, f"losses: {coverage}")


def check_clock(folder):
    """A profile tells CLOCK_MONOTONIC_RAW, which is no help for a trace that has another clock."""
    begin_us = 1_700_000_000_000_000
    for clock, wanted in (("mono_raw", True), ("mono", False), ("local", False)):
        own = folder / clock
        own.mkdir()
        write_dat(own / "a.dat", *read_text((folder / "a.txt").read_bytes()), clock=clock)
        (own / "start_info").write_text(json.dumps({"collectionTimeBegin": str(begin_us),
                                                    "clockMonotonicRaw": str(5 * 10**12)}))
        told = (hostbound(own / "a.dat")[0] or {}).get("clock", {})
        check((told.get("utcMinusClockNs") is not None) == wanted, f"clock {clock}: {told}")


def check_refused(folder):
    whole = (folder / "a.dat").read_bytes()
    for name, data, wanted in (("cut", whole[:300], "damaged"),
                               ("changed", whole[:40] + b"\xff" * 900 + whole[940:], "damaged"),
                               ("clock", None, "counts events")):
        if data is None:
            write_dat(folder / f"{name}.dat", *read_text((folder / "a.txt").read_bytes()), clock="counter")
        else:
            (folder / f"{name}.dat").write_bytes(data)
        _, made = hostbound(folder / f"{name}.dat")
        check(made.returncode == 3 and wanted in made.stderr, f"{name}: {made.returncode} {made.stderr}")


def main():
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    if not re.search(r"libtracecmd +\d", version):
        print("skipped: no libtracecmd")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        traces = pathlib.Path(__file__).parent / "hostbound" / "traces.py"
        subprocess.run([sys.executable, traces, folder / "job", "hog=8-15", "marks", "irq"], check=True)
        text = (folder / "job/ftrace/sched.txt").read_bytes()
        check_same(folder, text)
        check_names(folder)
        check_losses(folder, text)
        check_refused(folder)
        check_clock(folder)
        if KERNEL.exists():
            with gzip.open(KERNEL) as stream:
                check_same(folder, b"".join(itertools.islice(stream, *KERNEL_LINES)))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main())
