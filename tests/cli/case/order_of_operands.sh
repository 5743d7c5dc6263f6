# Several operands are one job, named by the nearest folder that holds all of them; their order changes no byte.
mkdir -p data/train
"$FAILSLOW" simulate data/train steps=60 tp=1 dp=8 pp=1 timelines=all fault="compute ranks=2 factor=1.6 onset=20" > told
cp -r "$DATASETS/profile/slow_rank" moe
tell() { # FILE OPERAND...
	local file=$1
	shift
	"$FAILSLOW" "$@" --format json --now 2025-06-15T15:08:00Z > "$file"
	python3 -c '
import json, sys
job = json.load(open(sys.argv[1]))["job"]
print(job["name"], job["id"].rsplit("-", 1)[0], job["root"], job["ranks"])' "$file"
}
tell a data/train/mspti data/train/timeline
tell b data/train/timeline ./data/train/mspti/
tell c data/train/timeline data/train/mspti
cmp a c
cd data/train/mspti
tell d ../timeline ./*.csv
cd ../../..
tell e data/train/mspti/*.csv
tell f moe/*ascend_pt
tell g $(ls -dr moe/*ascend_pt)
cmp f g
tell h moe/*_4000_*ascend_pt moe/*_4003_*ascend_pt/ASCEND_PROFILER_OUTPUT
tell i data/train/mspti data/train
for order in "data/train/mspti data/train/timeline" "data/train/timeline data/train/mspti"; do
	"$FAILSLOW" $order --output out --exit-code --now 2025-06-15T15:08:00Z --format line || echo "exit code $?"
done
ls out | grep -v result_
"$FAILSLOW" profile $(ls -dr moe/*ascend_pt) --output out --format line
ls out | grep -v result_
