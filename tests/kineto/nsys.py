"""Writes the events of a Chrome trace as Nsight Systems exports them to SQLite."""
import sqlite3

PROCESS = 0x11 << 56 | 4000 << 24
COPIES = {"HtoD": 1, "DtoH": 2, "DtoD": 8}


def write(path, document, other_process=False, step="ProfilerStep#%d"):
    """@other_process: some of the kernels ran in another one."""
    base_ns = document.get("baseTimeNanoseconds", 0)
    database = sqlite3.connect(path)
    run = database.execute
    run("PRAGMA synchronous = OFF")
    run("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
    run("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT, utcTime TEXT, localTime TEXT)")
    run("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INT, devStateName TEXT, name TEXT, nameEnum INT, value TEXT)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, demangledName INT NOT NULL, shortName INT, gridX INT, gridY INT,"
        " gridZ INT, blockX INT, blockY INT, blockZ INT)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, correlationId INT,"
        " globalPid INT, bytes INT, copyKind INT)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT,"
        " nameId INT, returnValue INT)")
    run("CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT, text TEXT, globalTid INT, textId INT)")
    run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (base_ns,))
    run("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 1, 'node-7')")
    run("INSERT INTO NVTX_EVENTS VALUES (5, NULL, 34, 'a mark', ?, NULL)", (PROCESS | 4000,))
    texts = {}

    def text(value):
        if value not in texts:
            texts[value] = len(texts) + 1
            run("INSERT INTO StringIds VALUES (?, ?)", (texts[value], value))
        return texts[value]

    for number, event in enumerate(document["traceEvents"]):
        begin, args = round(event["ts"] * 1000), event.get("args", {})
        end = begin + round(event["dur"] * 1000)
        if event["cat"] == "kernel":
            process = PROCESS + (1 << 24) if other_process and number % 50 == 0 else PROCESS
            run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%s)" % ", ".join("?" * 15),
                (begin, end, 0, 1, args["stream"], args["correlation"], process, text(event["name"]), text("short"),
                 *args.get("grid", (1, 1, 1)), *args.get("block", (1, 1, 1))))
        elif event["cat"] == "gpu_memcpy":
            run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 7, ?, ?, ?, ?)",
                (begin, end, args["correlation"], PROCESS, args.get("bytes", 0), COPIES[event["name"].split()[1]]))
        elif event["cat"] == "cuda_runtime":
            run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)",
                (begin, end, PROCESS | 4000, args["correlation"], text(event["name"] + "_v7000")))
        elif event["cat"] == "user_annotation":
            name = step % int(event["name"].split("#")[1])
            run("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?)", (begin, end, PROCESS | 4000, text(name)))
        elif event["cat"] == "python_function":
            run("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL)", (begin, end, event["name"], PROCESS | 4000))
    database.commit()
    database.close()
