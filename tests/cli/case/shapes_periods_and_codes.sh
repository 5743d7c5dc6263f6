# What the data tell of a culprit: shape, period, device, a code among the findings; the groups of captures.
tell() {
	"$FAILSLOW" "$1" --format json | python3 -c '
import json, sys
case = json.load(sys.stdin)
print(sys.argv[1], case["verdict"])
for culprit in case["culprits"]:
    print("  rank", *[culprit[key] for key in ("rank", "shape", "everySteps", "device")])
print("  losses", [loss["everySteps"] for loss in case["losses"]])
print("  findings", [(item["code"], item["rank"], item["gainMs"], bool(item["advice"])) for item in case["findings"][:2]])
' "$1"
}
job() { # NAME FAULT
	"$FAILSLOW" simulate "$1" steps=120 tp=1 dp=8 pp=1 fault="$2" > told
	tell "$1"
}
job step "compute ranks=2 factor=1.6 onset=30"
job from-start "compute ranks=2 factor=1.6 onset=0"
job ramp "compute ranks=2 factor=1.6 onset=30 ramp=60"
job short-ramp "compute ranks=5 factor=1.4 onset=40 ramp=70"
job every-6th "compute ranks=2 factor=2.5 onset=20 period=6 on=1"
job every-10th "compute ranks=4 factor=3.5 onset=15 period=10 on=1"
job in-twos "compute ranks=2 factor=2.5 onset=20 period=9 on=2"
job loader "dataloader ranks=3 extra_ms=300 onset=40"
job healthy "compute ranks=2 factor=1 onset=30"
for folder in profile/slow_rank faults/slow_link faults/clean; do
	ln -s "$DATASETS/$folder" "$(basename "$folder")"
	tell "$(basename "$folder")"
done
"$FAILSLOW" slow_rank --format json | python3 -c '
import json, sys
topology = json.load(sys.stdin)["topology"]
print(topology["groupsTotal"], {kind: [group["ranks"] for group in groups] for kind, groups in topology["groups"].items()})'
