# The summary of every source fits a terminal of 24 lines; --long has more to say.
for folder in "$DATASETS"/faults/* "$DATASETS"/profile/*; do
	"$FAILSLOW" "$folder" > short
	"$FAILSLOW" "$folder" --long > long
	echo "$(basename "$folder") $(($(wc -l < short) <= 24)) $(grep -c '^  more  ' long || true)" \
		"$(($(wc -l < long) >= $(wc -l < short) - 1)) $(awk 'length > 80' short long | wc -l)"
done
