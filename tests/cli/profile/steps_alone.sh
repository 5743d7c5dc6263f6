# No capture but the tables of steps.
mkdir set
for folder in "$DATASETS"/profile/slow_rank/*_ascend_pt; do
	output=set/$(basename "$folder")/ASCEND_PROFILER_OUTPUT
	mkdir -p "$output"
	cp "$folder/ASCEND_PROFILER_OUTPUT/step_trace_time.csv" "$output"
	cp "$folder"/profiler_info_*.json "$output/.."
done
"$FAILSLOW" profile set
