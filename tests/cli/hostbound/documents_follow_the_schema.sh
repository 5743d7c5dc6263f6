# Documents of all kinds of verdicts, against docs/hostbound.schema.json; states sum to the window, and pictures to the
# worst step.
python3 -c 'import jsonschema' 2> /dev/null || exit 77
python3 "$CASES/hostbound/traces.py" hog markers hog=12-23
python3 "$CASES/hostbound/traces.py" quota marks quota=8-15 irq lost
python3 "$CASES/hostbound/traces.py" none
gzip -c hog/ftrace/sched.txt > whole.gz
head -c 500 whole.gz > hog/ftrace/cut.txt.gz
for folder in hog quota none; do
	"$FAILSLOW" hostbound $folder --format json > $folder.json
done
python3 - "$CASES/../../docs/hostbound.schema.json" ./*.json << 'END'
import json
import sys

import jsonschema

STATES = ("runMs", "queueAfterWakeupMs", "queuePreemptedMs", "sleepMs", "diskMs", "idleMs", "stopMs", "unknownMs")
PARTS = ("runMs", "interruptMs", "queueAfterWakeupMs", "queuePreemptedMs", "diskMs", "sleepMs", "stopMs", "unknownMs")
HOLDERS = ("toldRankMs", "culpritMs", "likelyMs", "otherRanksMs", "processesMs", "kernelMs", "idleMs", "unknownMs")


def check_picture(picture, ranks):
    """Who held a CPU, and what a thread did, sums to the step; the told thread waited for one CPU."""
    length_ms = (picture["endNs"] - picture["beginNs"]) / 1e6
    for lane in picture["lanes"]:
        assert abs(sum(lane[key] for key in HOLDERS) - length_ms) < 1e-5, lane
        assert len(lane["holders"]) == len(lane["waits"]) == 480
        told = max("tclrpknu", key=lane["holders"].count)
        print("  CPU", lane["cpu"], "step", picture["step"], told, lane["waits"].count("w"), round(lane["waitMs"], 2),
              lane["holders"].count("i"), round(lane["interruptMs"], 2))
    for step in picture["steps"]:
        assert abs(sum(step[key] for key in PARTS) - step["stepMs"]) < 1e-5, step
    for rank in picture["ranks"][:1]:
        told = [step["stepMs"] for step in picture["steps"]
                if ranks[0]["firstStep"] <= step["step"] <= ranks[0]["lastStep"]]
        assert len(told) == rank["steps"], rank
        assert abs(sum(rank[key] for key in PARTS) - sum(told) / len(told)) < 1e-5, rank
    for waits in (picture["afterWakeup"]["toldRank"], picture["preempted"]["toldRank"]):
        assert waits is None or sum(bucket["count"] for bucket in waits["buckets"]) == waits["count"]


schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    document = json.load(open(name))
    print(name, "without", [trace["file"] for trace in document["notRead"]])
    jsonschema.validate(document, schema)
    for trace in document["traces"]:
        print(name, trace["verdict"], [(rank["rank"], rank["cause"]) for rank in trace["ranks"]])
        check_picture(trace["picture"], trace["ranks"])
        for thread in trace["threads"]:
            assert abs(sum(thread[key] for key in STATES) - thread["windowMs"]) < 1e-5, (name, thread["tid"])
        for rank in trace["ranks"]:
            held_ms = sum(holder["seenMsPerStep"] + holder["likelyMsPerStep"] for holder in rank["holders"])
            assert not rank["isNamed"] or abs(held_ms - rank["waitMsPerStep"]) < 1e-5, (name, rank["rank"])
    del document["traces"][0]["verdict"]
    assert not jsonschema.Draft202012Validator(schema).is_valid(document), name
END
