"""Reads a Chrome trace and says what is wrong with it. Times are exact integers, in ns since 1970."""
import decimal
import gzip
import json

PIDS_MAX = 1 << 32


class Fault(Exception):
    """The file breaks a rule."""


def require(condition, *words):
    if not condition:
        raise Fault(" ".join(str(word) for word in words))


def nanoseconds(microseconds):
    value = decimal.Decimal(microseconds) * 1000
    require(value == int(value), "time is no number of ns:", microseconds)
    return int(value)


def load(path):
    """(base, events) of the file; numbers with decimals stay exact."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as stream:
        document = json.loads(stream.read().decode("utf-8"), parse_float=decimal.Decimal)
    require(document["displayTimeUnit"] == "ns", "displayTimeUnit")
    require(isinstance(document["baseTimeNanoseconds"], int), "baseTimeNanoseconds")
    return document["baseTimeNanoseconds"], document["traceEvents"]


class Trace:
    """Names of processes and tracks, slices, counters and flows of one file. If it was written in windows, tracks of
    the whole job stand behind those of ranks: then each track alone is sorted."""

    def __init__(self, path, in_windows=False):
        self.processes, self.tracks, self.labels = {}, {}, {}
        self.events, self.counters = [], []
        self.launches, self.meetings = {}, {}
        base, events = load(path)
        last, has_begun = {}, False
        for event in events:
            require(0 < event["pid"] < PIDS_MAX and isinstance(event["pid"], int), "pid", event)
            if event["ph"] == "M":
                require(in_windows or not has_begun, "metadata behind events:", event)
                self.take_metadata(event)
                continue
            has_begun = True
            begin = base + nanoseconds(event["ts"])
            track = (event["pid"], event.get("tid"), event["name"] * (event["ph"] == "C")) if in_windows else None
            require(begin >= last.get(track, 0), "times go back:", event)
            last[track] = begin
            self.take(event, begin)
        self.check()

    def take_metadata(self, event):
        if event["name"] == "process_name":
            self.processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "process_labels":
            self.labels[event["pid"]] = event["args"]["labels"]
        elif event["name"] == "thread_name":
            require(event["tid"] not in self.tracks, "two tracks of one tid:", event)
            self.tracks[event["tid"]] = (event["pid"], event["args"]["name"])
        else:
            require(event["name"] in ("process_sort_index", "thread_sort_index"), "metadata", event)

    def take(self, event, begin):
        kind = event["ph"]
        require(event["pid"] in self.processes, "process without a name:", event)
        if kind == "C":
            for unit, value in event["args"].items():
                self.counters.append((event["pid"], event["name"], unit, begin, decimal.Decimal(value)))
            return
        require(self.tracks[event["tid"]][0] == event["pid"], "track of another process:", event)
        if kind in "stf":
            self.take_flow(event, begin)
            return
        require(kind in "Xi" and (kind == "X" or event["s"] == "t"), "unknown event:", event)
        length = nanoseconds(event["dur"]) if kind == "X" else 0
        require(length > 0 or kind == "i", "slice without length:", event)
        flows = set()
        if "bind_id" in event:
            number = int(event["bind_id"], 16)
            flows.add(number)
            ends = self.launches.setdefault(number, {})
            side = "out" if event.get("flow_out") else "in"
            require(side not in ends and (side == "out" or event["flow_in"]), "flow:", event)
            ends[side] = begin
        self.events.append([event["pid"], event["tid"], begin, begin + length, event["name"], event["cat"],
                            dict(event.get("args", {})), flows])

    def take_flow(self, event, begin):
        slice_of = self.events[-1]
        require(slice_of[1] == event["tid"] and slice_of[2] == begin < slice_of[3], "flow without a slice:", event)
        slice_of[7].add(event["id"])
        self.meetings.setdefault(event["id"], []).append((event["ph"], event["pid"]))

    def check(self):
        open_slices = {}
        for _, tid, begin, end, name, *_ in self.events:
            stack = open_slices.setdefault(tid, [])
            while stack and stack[-1] <= begin:
                stack.pop()
            require(not stack or end <= stack[-1], "slices of one track overlap:", tid, begin, name)
            if end > begin:
                stack.append(end)
        for number, ends in self.launches.items():
            require(set(ends) == {"in", "out"}, "flow without both ends:", number)
            require(ends["out"] <= ends["in"], "flow goes back in time:", number)
        for number, members in self.meetings.items():
            kinds = "".join(kind for kind, _ in members)
            require(kinds == "s" + "t" * (len(kinds) - 2) + "f", "flow of a collective:", number, kinds)
            require(len({pid for _, pid in members}) == len(members), "collective meets a rank twice:", number)
        last = {}
        for pid, name, _, begin, _ in self.counters:
            require(begin >= last.get((pid, name), 0), "counter goes back in time:", pid, name)
            last[pid, name] = begin
