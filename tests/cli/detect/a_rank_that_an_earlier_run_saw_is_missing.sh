# The files of the highest rank are gone: no other rank tells of it, but the run before saw it. The verdict of a job whose
# ranks are all there is the same with the state of earlier runs, without it, and after it was deleted.
look() {
	"$FAILSLOW" detect "$@" --format json | python3 -c '
import json, sys
case = json.load(sys.stdin)
coverage = case["coverage"]
print(case["verdict"], [c["rank"] for c in case["culprits"]], coverage["ranksSeen"], "of", coverage["ranksExpected"],
      "missing", coverage["ranksMissing"])'
}
job() {
	"$FAILSLOW" simulate "$@" format=json timelines=first >/dev/null
}
job four tp=4 dp=1 steps=20 fault="host ranks=3 factor=1.5 onset=8"
look four --now 1750000080 --output o
look four --now 1750000090 --output o
rm o/failslow_state.db
look four --now 1750000080 --output o
rm four/mspti/*.3.json
look four --now 1750000090 --output o
look four --now 1750000090
echo "a job of eight"
job eight tp=8 dp=1 steps=30 seed=5 fault="host ranks=7 factor=1.4 onset=10"
look eight --now 1750000080 --output o
rm eight/mspti/*.[67].json
look eight --now 1750000090 --output o
echo "the same job, started again later with fewer ranks"
rm -r four
job four tp=3 dp=1 steps=20 start_ns=1750003600000000000 fault="host ranks=2 factor=1.5 onset=8"
look four --now 1750003680 --output o
rm four/mspti/*.2.json
look four --now 1750003690 --output o
echo "long after the ranks were seen last"
rm -r eight
job eight tp=8 dp=1 steps=60 seed=5 fault="host ranks=7 factor=1.4 onset=10"
rm eight/mspti/*.[67].json
look eight --now 1750000130 --output o
echo '{"root_path": "eight", "slow_node_detection_path": "o", "fail_slow_perception_path": "o",
	"hang_forget_hours": 0.001, "hang_times_mins_thr": 0.001}' >model_config.json
look --config model_config.json --now 1750000140
