# use_plot writes a picture of the steps and of each rank, as PNG, or SVG without librsvg. Pictures of an earlier run go.
cp -r "$DATASETS/faults/slow_rank" job
write() {
	printf '{"root_path": "mspti", "training_log": "timeline", "slow_node_detection_path": "%s", %s}' "$1" "$2" \
		>"job/$1.json"
	"$FAILSLOW" --config "job/$1.json" --now 1750000066892495774 --quiet 2>messages
	grep -v 'pictures are SVG' messages || true
}
mkdir -p job/out/image
touch job/out/image/mine-rank3.svg job/out/image/other-rank3.svg
write out '"fail_slow_perception_path": "out", "job_name": "mine", "use_plot": true'
ls job/out/image | sed 's/mine-\(.*\)\.[ps][nv]g/mine-\1/'
find job/out/image -name 'mine-*' -empty
# The folder alone draws nothing.
write none '"fail_slow_perception_path": "none", "save_image": "nothing"'
find job/none -name nothing
"$FAILSLOW" config check job/out.json
# Of more than 20 ranks the culprit is drawn with the costliest others.
"$FAILSLOW" simulate many tp=8 dp=3 steps=20 fault="compute ranks=21 factor=1.3 onset=8" >/dev/null
printf '{"root_path": "mspti", "slow_node_detection_path": "out", "fail_slow_perception_path": "out", "use_plot": true, "save_image": "%s"}' \
	"$PWD/pictures" >many/many.json
"$FAILSLOW" --config many/many.json --now 2025-06-15T15:07:10Z --quiet 2>/dev/null
echo "$(ls pictures | wc -l) pictures, $(ls pictures | grep -c 'rank21\.') of the culprit"
sed -i 's|"save_image": "[^"]*"|"save_image": "/dev/null/image"|' many/many.json
"$FAILSLOW" --config many/many.json --now 2025-06-15T15:07:20Z --quiet 2>&1 || echo "exit code $?"
