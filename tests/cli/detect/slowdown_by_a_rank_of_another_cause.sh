# A rank that is not named for the configuration's sake is no reason to look for what all ranks share.
"$FAILSLOW" simulate job tp=8 dp=1 steps=60 fault="compute ranks=3 factor=1.3 onset=30" >/dev/null
for config in '{"causes": ["network"]}' '{"slow_ratio_min": 1.5}'; do
	echo "$config" >config.json
	"$FAILSLOW" detect job --config config.json --output out --now 2025-06-15T15:08:51Z |
		sed -n '/^JOB/,/unconfirmed/p'
done
