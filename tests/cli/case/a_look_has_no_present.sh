# The files of a folder that is looked at may be old: the job's present is its last event, whatever the clock says.
"$FAILSLOW" "$DATASETS/faults/slow_rank" --format json > look.json
"$FAILSLOW" "$DATASETS/faults/slow_rank" --format json --now 2027-01-01 > later.json
python3 - << 'END'
import json
for name in ("look", "later"):
    case = json.load(open(name + ".json"))
    print(name, case["state"], case["job"]["phase"], case["job"]["now"], case["job"]["spanNs"])
END
