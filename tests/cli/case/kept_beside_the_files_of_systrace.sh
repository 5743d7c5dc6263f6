# Every run replaces the case, which has one name; the files with sysTrace's keys are kept.
for now in 1750000066892495774 1750000067892495774; do
	"$FAILSLOW" "$DATASETS/faults/slow_rank" --now "$now" --output results --format json > printed.json
done
ls results
cmp printed.json results/failslow_slow_rank.json
python3 - << 'END'
import glob, json
case = json.load(open("printed.json"))
newest = sorted(glob.glob("results/slow_node_result_*"))[-1]
print(json.load(open(newest)) == case["localisation"], case["state"], case["job"]["phase"], case["job"]["now"])
END
