# Two jobs share a folder for their results: each has its own alarm, once, by whatever path it is given.
"$FAILSLOW" simulate a tp=8 dp=1 steps=60 fault="compute ranks=3 factor=1.3 onset=30" >/dev/null
"$FAILSLOW" simulate b tp=8 dp=1 steps=60 seed=5 fault="compute ranks=3 factor=1.5 onset=20" >/dev/null
for job in a b a ./b; do
	code=0
	"$FAILSLOW" detect $job --output results --now 2025-06-15T15:08:00Z --exit-code --quiet || code=$?
	echo "$job $code"
done
