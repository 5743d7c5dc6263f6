# Twenty minutes of silence are no hang yet, but the screen says who waits; after thirty-one it is one.
"$FAILSLOW" simulate job tp=4 dp=2 steps=200 step_ms=1000 fault="hang ranks=3 onset=150" >/dev/null
for now in 1750000165 1750001361 1750002061; do
	"$FAILSLOW" detect job --output out --now $now > screen
	sed -n '1,2p' screen
	grep -A 2 '  silence' screen || true
done
