# Rank 1 is slow and reported; then rank 6 stops. That is another incident, told once, and the slow rank stands behind the one that stopped.
"$FAILSLOW" simulate job tp=4 dp=2 steps=100 fault="compute ranks=1 factor=1.3 onset=50" fault="hang ranks=6 onset=90" >/dev/null
for now in 2025-06-15T15:30:00Z 2025-06-15T15:40:00Z 2025-06-15T15:41:00Z; do
	code=0
	"$FAILSLOW" detect job --output out --now $now --exit-code | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$|known|again" || true
	"$FAILSLOW" detect job --output out2 --now $now --exit-code --quiet --quiet || code=$?
	echo "exit code $code"
done
grep -oE '"verdict": "[a-z_]*"' out2/slow_node_result_*.json | sed 's/.*json://'
