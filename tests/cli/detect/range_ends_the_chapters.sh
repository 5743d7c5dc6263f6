# Behind the end of a range there are no chapters, although the files go on.
"$FAILSLOW" simulate job tp=4 dp=2 pairs=2 steps=800 step_ms=100 optimizer_ms=5 fault="compute ranks=1 factor=1.4 onset=200" >/dev/null
echo '{"chapter": {"hours": 0.004}}' >config.json
"$FAILSLOW" detect job --config config.json --output out --now 2025-06-15T15:09:00Z \
	--from 2025-06-15T15:06:40Z --to 2025-06-15T15:07:25Z --format json >verdict.json
grep -oE '"(from|to)": "2025[^"]*"|"isTold": true' verdict.json
