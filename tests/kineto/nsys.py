"""Writes the events of Chrome traces as Nsight Systems exports them to SQLite."""
import sqlite3

PROCESS = 0x11 << 56 | 4000 << 24
COPIES = {"HtoD": 1, "DtoH": 2, "DtoD": 8}
SCHEMA = [
    "StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)",
    "TARGET_INFO_SESSION_START_TIME (utcEpochNs INT, utcTime TEXT, localTime TEXT)",
    "TARGET_INFO_SYSTEM_ENV (globalVid INT, devStateName TEXT, name TEXT, nameEnum INT, value TEXT)",
    "CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT, contextId INT, streamId INT,"
    " correlationId INT, globalPid INT, demangledName INT NOT NULL, shortName INT, gridX INT, gridY INT, gridZ INT,"
    " blockX INT, blockY INT, blockZ INT)",
    "CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT,"
    " bytes INT, copyKind INT)",
    "CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT,"
    " returnValue INT)",
    "NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT, text TEXT, globalTid INT, textId INT)",
]


class Report:
    def __init__(self, path, base_ns):
        self.database = sqlite3.connect(path)
        self.run, self.texts = self.database.execute, {}
        self.run("PRAGMA synchronous = OFF")
        for table in SCHEMA:
            self.run("CREATE TABLE " + table)
        self.run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (base_ns,))
        self.run("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 1, 'node-7')")
        self.run("INSERT INTO NVTX_EVENTS VALUES (5, NULL, 34, 'a mark', ?, NULL)", (PROCESS | 4000,))

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = len(self.texts) + 1
            self.run("INSERT INTO StringIds VALUES (?, ?)", (self.texts[value], value))
        return self.texts[value]

    def add(self, document, process=PROCESS, device=0, other_process=False, step="ProfilerStep#%d"):
        run, text, thread = self.run, self.text, process | 4000
        for number, event in enumerate(document["traceEvents"]):
            begin, args = round(event["ts"] * 1000), event.get("args", {})
            end = begin + round(event["dur"] * 1000)
            if event["cat"] == "kernel":
                owners = [process] + [process + (1 << 24)] * (other_process and number % 50 == 0)
                for owner in reversed(owners):
                    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%s)" % ", ".join("?" * 15),
                        (begin, end, device, 1, args["stream"], args["correlation"], owner, text(event["name"]),
                         text("short"), *args.get("grid", (1, 1, 1)), *args.get("block", (1, 1, 1))))
            elif event["cat"] == "gpu_memcpy":
                run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, ?, 7, ?, ?, ?, ?)",
                    (begin, end, device, args["correlation"], process, args.get("bytes", 0),
                     COPIES[event["name"].split()[1]]))
            elif event["cat"] == "cuda_runtime":
                run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)",
                    (begin, end, thread, args["correlation"], text(event["name"] + "_v7000")))
            elif event["cat"] == "user_annotation":
                name = step % int(event["name"].split("#")[1])
                run("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?)", (begin, end, thread, text(name)))
            elif event["cat"] == "python_function":
                run("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL)", (begin, end, event["name"], thread))

    def close(self):
        self.database.commit()
        self.database.close()


def write(path, document, other_process=False, step="ProfilerStep#%d"):
    """@other_process: a helper of the rank runs a few kernels, too."""
    report = Report(path, document.get("baseTimeNanoseconds", 0))
    report.add(document, other_process=other_process, step=step)
    report.close()


def write_host(path, documents, order):
    """One report of all ranks of a host, in mixed order; @order: "device", "mpi" or "number" tells their ranks."""
    report = Report(path, documents[0].get("baseTimeNanoseconds", 0))
    n = len(documents)
    if order == "mpi":
        report.run("CREATE TABLE MPI_RANKS (globalTid INT NOT NULL, rank INT NOT NULL)")
    for place in sorted(range(n), key=lambda place: place * 5 % n):
        # Process numbers follow the ranks only if nothing else tells them.
        process = PROCESS + ((place if order == "number" else n - place) << 24)
        report.add(documents[place], process, place if order == "device" else 0)
        if order == "mpi":
            rank = documents[place]["distributedInfo"]["rank"]
            report.run("INSERT INTO MPI_RANKS VALUES (?, ?)", (process | 17, rank))
    report.close()
