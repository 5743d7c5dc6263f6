"""Reads a Perfetto trace with a small protobuf reader of its own, and says what is wrong with it."""
import decimal
import struct

from trace_json import require


def fields(data):
    """(number, value) of each field of a message: int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        else:
            require(tag & 7 == 2, "wire type", tag & 7)
            length = varint()
            require(at + length <= len(data), "message is cut")
            yield tag >> 3, data[at:at + length]
            at += length


def collect(data):
    """number -> list of values."""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


# Fields of the kernel's events: those of an event, and the names of those of its message.
KERNEL = {
    4: ("sched_switch", {1: "prev_comm", 2: "prev_pid", 3: "prev_prio", 4: "prev_state", 5: "next_comm", 6: "next_pid",
                         7: "next_prio"}),
    17: ("sched_wakeup", {1: "comm", 2: "pid", 3: "prio", 4: "success", 5: "target_cpu"}),
    20: ("sched_waking", {1: "comm", 2: "pid", 3: "prio", 4: "success", 5: "target_cpu"}),
    114: ("sched_wakeup_new", {1: "comm", 2: "pid", 3: "prio", 4: "success", 5: "target_cpu"}),
    24: ("softirq_entry", {1: "vec"}),
    25: ("softirq_exit", {1: "vec"}),
    36: ("irq_handler_entry", {1: "irq", 2: "name"}),
    37: ("irq_handler_exit", {1: "irq"}),
}
BEYOND_TASKS = 1 << 29  # added to ids of tracks beside the kernel's events


def named(names, data):
    """{name: value} of a message without repeated fields."""
    return {names[number]: value.decode("utf-8") if isinstance(value, bytes) else signed(value)
            for number, value in fields(data)}


class Trace:
    """The same as trace_json.Trace, of the other form. If it holds the kernel's own events: (time, cpu, pid, name, fields)
    in `kernel`, threads in `tasks` {(machine, tid): (name, tgid)}, and numbers of bundles behind lost events in `losses`."""

    def __init__(self, path, in_windows=False):
        self.in_windows = in_windows
        self.processes, self.tracks, self.labels = {}, {}, {}
        self.events, self.counters = [], []
        self.by_uuid, self.interned = {}, {1: {}, 2: {}, 3: {}, 29: {}}
        self.open, self.base, self.last, self.has_begun = {}, None, {}, False
        self.kernel, self.tasks, self.commands, self.losses, self.machines = [], {}, {}, 0, set()
        with open(path, "rb") as stream:
            data = stream.read()
        for number, packet in fields(data):
            require(number == 1, "field of the trace:", number)
            self.take_packet(collect(packet))
        require(not any(self.open.values()), "slices that do not end")
        self.events.sort(key=lambda event: event.pop(0))
        self.kernel.sort(key=lambda event: event[0])
        if self.kernel:
            self.take_shift()

    def take_shift(self):
        """Ids of tracks are none of tasks."""
        require(all(pid > BEYOND_TASKS for pid in self.processes), "ids of processes are those of tasks")
        self.processes = {pid - BEYOND_TASKS: name for pid, name in self.processes.items()}
        self.labels = {pid - BEYOND_TASKS: label for pid, label in self.labels.items()}
        self.tracks = {tid - BEYOND_TASKS: (pid - BEYOND_TASKS, name) for tid, (pid, name) in self.tracks.items()}
        self.counters = [(pid - BEYOND_TASKS, *rest) for pid, *rest in self.counters]
        for event in self.events:
            event[0] -= BEYOND_TASKS
            event[1] -= BEYOND_TASKS

    def take_kernel(self, packet):
        machine = packet.get(98, [0])[0]
        if 6 in packet:
            clocks = {c[1][0]: c[2][0] for c in map(collect, collect(packet[6][0])[1])}
            require(machine > 0 and clocks[1] - clocks[6] == self.base, "clock of a machine")
            self.machines.add(machine)
        require(machine == 0 or machine in self.machines, "machine without a clock")
        for bundle in map(collect, packet.get(1, [])):
            self.losses += bundle.get(3, [0])[0]
            last = 0
            for event in map(collect, bundle[2]):
                field, = set(event) & set(KERNEL)
                name, names = KERNEL[field]
                require(event[1][0] >= last, "times of a bundle go back")
                last = event[1][0]
                self.kernel.append((self.base + last, bundle[1][0], event[2][0], name, named(names, event[field][0])))
        for tree in map(collect, packet.get(2, [])):
            for process in map(collect, tree.get(1, [])):
                self.commands[machine, process[1][0]] = process[3][0].decode("utf-8")
            for thread in map(collect, tree.get(2, [])):
                self.tasks[machine, thread[1][0]] = (thread[2][0].decode("utf-8"), thread.get(3, [None])[0])

    def take_packet(self, packet):
        if packet[10] == [2]:
            self.take_kernel(packet)
            return
        require(packet[10] == [1], "sequence")
        if 6 in packet:
            snapshot = collect(packet[6][0])
            clocks = {c[1][0]: c[2][0] for c in map(collect, snapshot[1])}
            require(snapshot[2] == [6], "primary clock", snapshot[2])
            self.base = clocks[1] - clocks[6]
        elif 60 in packet:
            require(self.in_windows or not self.has_begun, "track behind events")
            self.take_track(collect(packet[60][0]))
        else:
            require(packet[13] == [2 if self.has_begun else 3], "flags", packet[13])
            self.has_begun = True
            for data in packet.get(12, []):
                for number, entry in fields(data):
                    text = collect(entry)
                    require(text[1][0] not in self.interned[number], "interned twice")
                    self.interned[number][text[1][0]] = text[2][0].decode("utf-8")
            time = self.base + packet[8][0]
            event = collect(packet[11][0])
            track = event[11][0] if self.in_windows else None
            require(time >= self.last.get(track, 0), "times go back:", time)
            self.last[track] = time
            self.take_event(event, time)

    def take_track(self, track):
        uuid = track[1][0]
        require(uuid not in self.by_uuid, "two tracks of one uuid")
        if 3 in track:
            process = collect(track[3][0])
            pid = process[1][0]
            self.processes[pid] = process[6][0].decode("utf-8")
            self.by_uuid[uuid] = (pid, None)
            for label in process.get(8, []):
                self.labels[pid] = label.decode("utf-8")
            return
        pid = self.by_uuid[track[5][0]][0]
        if 4 in track:
            thread = collect(track[4][0])
            require(thread[1][0] == pid, "thread of another process")
            self.tracks[thread[2][0]] = (pid, thread[5][0].decode("utf-8"))
            self.by_uuid[uuid] = (pid, thread[2][0])
        else:
            unit = collect(track[8][0])[6][0].decode("utf-8")
            self.by_uuid[uuid] = (pid, (track[2][0].decode("utf-8"), unit))

    def argument(self, data):
        annotation = collect(data)
        key = self.interned[3][annotation[1][0]]
        return key, self.interned[29][annotation[17][0]] if 17 in annotation else signed(annotation[4][0])

    def take_event(self, event, time):
        pid, place = self.by_uuid[event[11][0]]
        kind = event[9][0]
        stack = self.open.setdefault(place, []) if kind != 4 else None
        if kind == 4:
            value = decimal.Decimal(signed(event[30][0])) if 30 in event else decimal.Decimal(
                round(struct.unpack("<d", struct.pack("<Q", event[44][0]))[0] * 1000)) / 1000
            self.counters.append((pid, *place, time, value))
            return
        if kind == 2:
            stack.pop()[4] = time
            return
        require(kind in (1, 3), "type", kind)
        flows = set(event.get(47, [])) | set(event.get(48, []))
        made = [len(self.events), pid, place, time, time, self.interned[2][event[10][0]],
                self.interned[1][event[3][0]], dict(map(self.argument, event.get(4, []))), flows]
        self.events.append(made)
        if kind == 1:
            stack.append(made)
