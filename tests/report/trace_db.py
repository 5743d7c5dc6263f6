"""Reads a database of MindStudio, and says what is wrong with it."""
import decimal
import json
import sqlite3

from trace_json import require

COLUMNS = {
    "process": ["pid", "process_name", "label", "process_sort_index", "parentPid"],
    "thread": ["track_id", "tid", "pid", "thread_name", "thread_sort_index"],
    "slice": ["id", "timestamp", "duration", "name", "depth", "track_id", "cat", "args", "cname", "end_time", "flag_id"],
    "counter": ["id", "name", "pid", "timestamp", "cat", "args"],
    "flow": ["id", "flow_id", "name", "cat", "track_id", "timestamp", "type"],
}
TASKS = ("comm", "pid", "cpu_id", "running_ns", "sleeping_ns", "runnable_ns", "cs_count", "cs_involuntary_count",
         "soft_irq_count", "soft_irq_duration", "hard_irq_count", "hard_irq_duration")


class Trace:
    """The same as trace_json.Trace, of the other form; flows stand apart: (track, time, number)."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        require(self.rows("PRAGMA integrity_check") == [("ok",)], "database is damaged")
        for table, columns in COLUMNS.items():
            require([row[1] for row in self.rows(f"PRAGMA table_info({table})")] == columns, "columns of", table)
        names = self.rows("SELECT pid, process_name, label FROM process")
        self.processes = {int(pid): name for pid, name, _ in names}
        self.labels = {int(pid): label for pid, _, label in names if label is not None}
        threads = self.rows("SELECT track_id, tid, pid, thread_name FROM thread")
        require(all(track == int(tid) for track, tid, _, _ in threads), "tracks and threads differ")
        self.tracks = {track: (int(pid), name) for track, _, pid, name in threads}
        self.events = [self.event(*row) for row in self.rows(
            "SELECT timestamp, duration, end_time, depth, name, cat, args, track_id FROM slice ORDER BY id")]
        self.counters = [(int(pid), name, unit, time, decimal.Decimal(value))
                         for name, pid, time, args in self.rows("SELECT name, pid, timestamp, args FROM counter ORDER BY id")
                         for unit, value in json.loads(args, parse_float=decimal.Decimal).items()]
        self.flows = [(track, time, int(number, 0)) for track, time, number in
                      self.rows("SELECT track_id, timestamp, flow_id FROM flow")]
        self.check()
        self.db.close()

    def rows(self, query):
        return self.db.execute(query).fetchall()

    def event(self, begin, length, end, depth, name, category, args, track):
        require(end == begin + length, "end of", name)
        return [self.tracks[track][0], track, begin, end, name, category, json.loads(args) if args else {}, depth]

    def check(self):
        """Depth is the number of slices around; each arrow has one begin and one end."""
        open_slices = {}
        for _, track, begin, end, name, _, _, depth in self.events:
            stack = open_slices.setdefault(track, [])
            while stack and stack[-1] <= begin:
                stack.pop()
            require(depth == len(stack), "depth of", name, begin, depth)
            if end > begin:
                stack.append(end)
        bad = self.rows("SELECT flow_id FROM flow GROUP BY name, flow_id"
                        " HAVING sum(type = 's') != 1 OR sum(type = 'f') != 1")
        require(not bad, "arrows without both ends", bad[:3])
        tables = {name for name, in self.rows("SELECT name FROM sqlite_master")}
        self.tasks = self.rows(f"SELECT {', '.join(TASKS)} FROM trace_task_summary"
                               " ORDER BY comm, cpu_id") if "trace_task_summary" in tables else []
        self.irqs = self.rows("SELECT comm, pid, cpu_id, irq_type, irq_name, count, time_ns FROM trace_irq_detail"
                              " ORDER BY comm, irq_name") if "trace_irq_detail" in tables else []
