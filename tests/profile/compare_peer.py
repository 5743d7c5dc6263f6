#!/usr/bin/env python3
"""Compares files of `failslow profile --export msprof-analyze` with those of msprof-analyze.

usage: compare_peer.py ours theirs [--ours-right KIND]...

Both are folders. Documents are compared as parsed trees: the order of keys and rows is not looked
at, numbers may differ by 1e-6 of their size. Only files that theirs has are compared. A difference
that is wanted, because the other tool is wrong there, is named by KIND:
  db-ratios   wait and synchronisation ratios of single operators are 0 there
  db-names    group ids and names are missing there, and with them the rows of stages
  db-places   DP, PP and TP are 0 there when nobody told them
  db-steps    rows of steps come from analysis.db there, from step_trace_time.csv here
  db-paths    folders are named as they were given
"""
import argparse
import csv
import json
import os
import sqlite3
import sys

RELATIVE = 1e-6
MISSES_SHOWN = 20


def number(value):
    """The number a text or value is, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    return None


class Comparison:
    def __init__(self):
        self.misses = []
        self.n_numbers = 0
        self.greatest = 0.0

    def miss(self, where, ours, theirs):
        self.misses.append(f"{where}: ours={ours!r:.200}, theirs={theirs!r:.200}")

    def numbers(self, where, ours, theirs):
        self.n_numbers += 1
        difference = abs(ours - theirs)
        if difference == 0:
            return
        relative = difference / max(abs(ours), abs(theirs))
        self.greatest = max(self.greatest, relative)
        if relative > RELATIVE:
            self.miss(where, ours, theirs)

    def values(self, where, ours, theirs):
        if isinstance(theirs, dict) and isinstance(ours, dict):
            for key in sorted(set(ours) | set(theirs)):
                if key not in ours or key not in theirs:
                    self.miss(f"{where}/{key}", key in ours, key in theirs)
                else:
                    self.values(f"{where}/{key}", ours[key], theirs[key])
        elif isinstance(theirs, list) and isinstance(ours, list):
            if len(ours) != len(theirs):
                self.miss(f"{where} length", len(ours), len(theirs))
            for i, (own, other) in enumerate(zip(ours, theirs)):
                self.values(f"{where}[{i}]", own, other)
        elif number(theirs) is not None and number(ours) is not None:
            self.numbers(where, number(ours), number(theirs))
        elif ours != theirs:
            self.miss(where, ours, theirs)

    def rows(self, where, ours, theirs, n_keys):
        """Rows beside each other by their first n_keys columns."""
        own, other = ({tuple(map(str, row[:n_keys])): row for row in rows} for rows in (ours, theirs))
        if len(own) != len(ours) or len(other) != len(theirs):
            self.miss(f"{where} keys", len(own), len(ours))
        for key in sorted(set(own) | set(other)):
            if key not in own or key not in other:
                self.miss(f"{where}{key}", key in own, key in other)
            else:
                self.values(f"{where}{key}", list(own[key][n_keys:]), list(other[key][n_keys:]))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))

    def cell(text):
        try:
            return float(text)
        except ValueError:
            return text
    return rows[0], [[*row[:3], *map(cell, row[3:])] for row in rows[1:]]


def compare_csv(to, ours, theirs):
    (own_head, own), (other_head, other) = read_csv(ours), read_csv(theirs)
    to.values("header", own_head, other_head)
    to.rows("", own, other, 3)


def read_json(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def compare_groups(to, ours, theirs):
    """Lists in the order in which ranks were listed: no order is right."""
    own, other = read_json(ours), read_json(theirs)
    for document in (own, other):
        for key in ("collective", "p2p"):
            document[key] = sorted(document[key])
        document["comm_group_parallel_info"] = {
            (group["type"], group["group_name"]): group
            for group in document["comm_group_parallel_info"]}
    to.values("", own.pop("comm_group_parallel_info"), other.pop("comm_group_parallel_info"))
    to.values("", own, other)


# Tables, and by how many columns a row is told.
KEYS = {
    "CommunicationGroupMapping": ("type", "group_name"),
    "ClusterCommunicationTime": ("step", "rank_id", "hccl_op_name", "group_name"),
    "ClusterCommunicationBandwidth": (
        "step", "rank_id", "hccl_op_name", "group_name", "band_type", "package_size"),
    "ClusterCommunicationMatrix": ("step", "hccl_op_name", "group_name", "src_rank", "dst_rank"),
    "ClusterStepTraceTime": ("step", "type", "index"),
    "HostInfo": ("hostUid",),
    "RankDeviceMap": ("rankId",),
    "ClusterBaseInfo": ("key",),
}


def read_table(path, table):
    """Names of columns in their order, and rows as dicts."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    cursor = connection.execute(f'SELECT * FROM "{table}"')
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row)) for row in cursor]
    connection.close()
    return names, rows


def tables_of(path):
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    connection.close()
    return names


def drop_wanted(table, row, ours_right):
    """Without the columns in which the other tool is wrong."""
    dropped = set()
    if "db-ratios" in ours_right and table == "ClusterCommunicationTime" and \
            row["hccl_op_name"] != "Total Op Info":
        dropped |= {"wait_time_ratio", "synchronization_time_ratio"}
    if "db-names" in ours_right and table == "CommunicationGroupMapping":
        dropped |= {"group_id", "pg_name"}
    if "db-places" in ours_right and table == "ClusterStepTraceTime":
        dropped |= {"dp_index", "pp_index", "tp_index"}
    if "db-steps" in ours_right and table == "ClusterStepTraceTime":
        dropped |= {"preparing"}
    if "db-paths" in ours_right and table == "RankDeviceMap":
        row = dict(row, profilePath=os.path.basename(row["profilePath"]))
    if table == "ClusterBaseInfo":
        row = dict(row, value=json.loads(row["value"]))
    return {name: value for name, value in row.items() if name not in dropped}


def compare_table(to, table, ours, theirs, ours_right):
    (own_names, own), (other_names, other) = read_table(ours, table), read_table(theirs, table)
    to.values(f"{table} columns", own_names, other_names)
    if "db-names" in ours_right and table == "ClusterStepTraceTime":
        own = [row for row in own if row["type"] != "stage"]
    keys = KEYS[table]

    def keyed(rows):
        packed = []
        for row in rows:
            key = [round(row[name], 9) if isinstance(row[name], float) else row[name] for name in keys]
            packed.append([*key, drop_wanted(table, row, ours_right)])
        return packed
    to.rows(table, keyed(own), keyed(other), len(keys))


def compare_db(to, ours, theirs, ours_right):
    there = tables_of(ours)
    for table in tables_of(theirs):
        if table not in there:
            to.miss(table, "no table", "a table")
        else:
            compare_table(to, table, ours, theirs, ours_right)


def compare_file(name, ours, theirs, ours_right):
    to = Comparison()
    if not os.path.exists(ours):
        to.miss(name, "no file", "a file")
    elif name.endswith(".csv"):
        compare_csv(to, ours, theirs)
    elif name.endswith(".db"):
        compare_db(to, ours, theirs, ours_right)
    elif name == "communication_group.json":
        compare_groups(to, ours, theirs)
    else:
        to.values("", read_json(ours), read_json(theirs))
    print(f"{name}: {to.n_numbers} numbers, greatest difference {to.greatest:.1e}, "
          f"{len(to.misses)} misses")
    for miss in to.misses[:MISSES_SHOWN]:
        print(f"  {miss}")
    return not to.misses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--ours-right", action="append", default=[])
    arguments = parser.parse_args()
    names = [name for name in sorted(os.listdir(arguments.theirs))
             if name.endswith((".csv", ".json", ".db"))]
    good = [compare_file(name, os.path.join(arguments.ours, name),
                         os.path.join(arguments.theirs, name), set(arguments.ours_right))
            for name in names]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
