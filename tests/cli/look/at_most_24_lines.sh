# The summary of every source fits a terminal of 24 lines; --long has more to say.
for folder in "$DATASETS"/faults/* "$DATASETS"/profile/*; do
	"$FAILSLOW" "$folder" > short
	"$FAILSLOW" "$folder" --long > long
	echo "$(basename "$folder") $(($(wc -l < short) <= 24)) $(grep -c '^  more  ' long || true)" \
		"$(($(wc -l < long) >= $(wc -l < short) - 1)) $(awk 'length > 80' short long | wc -l)"
done
# So does a job with captures beside it, which are told by their headline.
for job in clean hang slow_rank; do
	mkdir "$job"
	cp -r "$DATASETS/faults/$job" "$job/markers"
	cp -r "$DATASETS/profile/slow_rank" "$job/captures"
	"$FAILSLOW" "$job" > short
	"$FAILSLOW" "$job" --long > long
	echo "$job and captures $(($(wc -l < short) <= 24)) $(awk 'length > 80' short long | wc -l)" \
		"$(grep -c '^  why  ' short) of $(grep -c '^  why  ' long) reasons"
	grep -A 3 'Captures of the profiler' short
done
