# A file that is no case, or breaks its rules, is refused with a reason.
printf '{"schema": "failslow.case/1"}' >old.json
printf '[1, 2' >cut.json
printf '{"schema": "failslow.case/2", "pictures": {"ranks": {"rank": [3, 1]}}}' >order.json
printf '{"schema": "failslow.case/2", "culprits": 7, "account": {"a": 1}, "pictures": {"ranks": {"rank": ["x"], "parts": 3}, "overTime": {"columns": 1e300, "own": "eJ!"}}}' >odd.json
for file in old cut order absent; do
	"$FAILSLOW" report $file.json -o page.html || echo "$file $?"
done
"$FAILSLOW" report odd.json -o page.html
"$FAILSLOW" report odd.json --svg grid -o grid.svg || echo "$?"
"$FAILSLOW" report odd.json --svg pie -o grid.svg || echo "$?"
ls
