# Nobody has data there: no rank lacks any, and nobody is called at night for a job that is over.
"$FAILSLOW" simulate job tp=4 dp=1 steps=40 >/dev/null
for algorithm in failslow systrace; do
	echo "{\"algorithm\": \"$algorithm\"}" >config.json
	"$FAILSLOW" detect job --config config.json --output out --now 2026-06-15T15:09:00Z \
		--from 2026-06-15T15:00:00Z --exit-code --format json >verdict.json
	echo "exit $?"
	grep -E '"(resultCode|verdict)"' verdict.json
done
# One rank that left no data among others is one.
rm job/mspti/*.2.csv
"$FAILSLOW" detect job --output out --now 2025-06-15T15:09:00Z --exit-code --quiet || echo "exit $?"
