# Files of a profiler that are not read are refused by their kind, in a folder and one by one.
refuse() {
	"$FAILSLOW" "$1" 2> /dev/null | sed -n 1,3p || true
	"$FAILSLOW" "$1" --format json 2> /dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["verdict"])'
}
mkdir peer legacy part unknown
for name in cluster_step_trace_time.csv cluster_communication.json communication_group.json cluster_analysis.db; do
	echo '{}' > peer/$name
	refuse peer/$name
done
refuse peer
echo '1,2' > legacy/step_trace_raw_0_detail_time.csv
refuse legacy
refuse legacy/step_trace_raw_0_detail_time.csv
cp "$DATASETS"/profile/slow_rank/*0*_ascend_pt/profiler_info_0.json part
refuse part/profiler_info_0.json
echo '{}' > unknown/what.json
refuse unknown
refuse unknown/what.json
