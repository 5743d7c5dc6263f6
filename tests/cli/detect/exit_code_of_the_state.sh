# A fault that lasts exits with 1 in each run, also if it was alarmed before; one that is over exits with 0.
ask() {
	code=0
	"$FAILSLOW" detect "$1" --output out --now 2025-06-15T15:10:00Z --quiet --exit-code$2 || code=$?
	echo "$1 ${2:-bare}: $code"
}
"$FAILSLOW" simulate lasts tp=4 dp=2 steps=100 fault="compute ranks=3 factor=1.3 onset=40" >/dev/null
"$FAILSLOW" simulate over tp=4 dp=2 steps=100 fault="spike ranks=2 extra_ms=9000 onset=40" >/dev/null
for mode in "" "=new" "=state" "=state"; do
	ask lasts "$mode"
done
ask over ""
ask over =state
ask over =tomorrow 2>/dev/null
