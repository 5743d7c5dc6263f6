# A log of each form tells that its steps take longer since step 41 (or what that is where it counts more).
cd "$DATASETS/logs"
for log in *.log *.jsonl mindformers_new; do
	[ "$log" = unknown.log ] || printf '%s: %s\n' "$log" "$("$FAILSLOW" "$log" --format line)"
done
