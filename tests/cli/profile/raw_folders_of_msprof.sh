# Folders that msprof exported itself (PROF_*): kernels are op_summary_*.csv in slices, the trace is msprof_*.json, communication lies in
# analyze/ without steps. The slow rank is found there as in what the framework's profiler makes of the same.
python3 - "$DATASETS/profile/slow_rank" << 'END'
import csv, glob, json, os, shutil, sys

NAMES = {"Name": "Op Name", "Type": "OP Type", "Accelerator Core": "Task Type", "Start Time(us)": "Task Start Time(us)",
         "Duration(us)": "Task Duration(us)", "Wait Time(us)": "Task Wait Time(us)"}
STAMP = "20260528203100"


def flat(document):
    return {name: op for step in document.values() for kind in step.values() for name, op in kind.items() if not name.startswith("Total")}


for rank, folder in enumerate(sorted(glob.glob(sys.argv[1] + "/*_ascend_pt"))):
    source = folder + "/ASCEND_PROFILER_OUTPUT/"
    prof = f"set/PROF_{rank:06}_2026052820300000{rank}_ABCDEFGH"
    output = prof + "/mindstudio_profiler_output/"
    for path in (output, prof + f"/device_{rank}", prof + "/host", prof + "/analyze"):
        os.makedirs(path)
    with open(f"{prof}/device_{rank}/info.json.{rank}", "w") as file:
        json.dump({"rank_id": rank, "hostUid": "7"}, file)
    with open(source + "kernel_details.csv", newline="") as file:
        rows = [row[1:] for row in csv.reader(file)]
    for part, chunk in enumerate((rows[1:60], rows[60:])):
        with open(f"{output}op_summary_slice_{part}_{STAMP}.csv", "w", newline="") as file:
            csv.writer(file).writerows([[NAMES.get(name, name) for name in rows[0]], *chunk])
    for kind in ("op_statistic", "api_statistic"):
        shutil.copyfile(f"{source}{kind}.csv", f"{output}{kind}_{STAMP}.csv")
    for kind in ("communication", "communication_matrix"):
        with open(f"{source}{kind}.json") as file, open(f"{prof}/analyze/{kind}.json", "w") as to:
            json.dump(flat(json.load(file)), to)
    shutil.copyfile(source + "trace_view.json", f"{output}msprof_{STAMP}.json")
END
"$FAILSLOW" profile set --long

# With the iterations of the graph that the device ran, steps are told apart.
python3 - "$DATASETS/profile/slow_rank" << 'END'
import csv, glob, sys
from decimal import Decimal

for rank, folder in enumerate(sorted(glob.glob(sys.argv[1] + "/*_ascend_pt"))):
    steps = {}
    with open(folder + "/ASCEND_PROFILER_OUTPUT/kernel_details.csv", newline="") as file:
        for row in csv.DictReader(file):
            begin = Decimal(row["Start Time(us)"].strip())
            steps.setdefault(int(row["Step Id"]), []).append((begin, begin + Decimal(row["Duration(us)"])))
    output, = glob.glob(f"set/PROF_{rank:06}_*/mindstudio_profiler_output")
    with open(output + "/step_trace_20260528203100.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Device_id", "Iteration ID", "Iteration End(us)", "Iteration Time(us)", "Model ID"])
        for step, tasks in sorted(steps.items()):
            begin, end = min(tasks)[0], max(task[1] for task in tasks)
            rows.writerow([rank, step, f"{end}\t", end - begin, 1])
END
"$FAILSLOW" profile set --long
"$FAILSLOW" profile set --steps 11 | sed -n '/coverage/p'
