# Layers repeat within the steps that the timeline tells: they are no steps, and too few are no evidence.
"$FAILSLOW" simulate job tp=8 dp=1 steps=80 fault="compute ranks=3 factor=1.3 onset=40" >/dev/null
for to in 15:08:03 15:08:09 15:08:20; do
	"$FAILSLOW" detect job --output out --now 2025-06-15T15:09:00Z \
		--from 2025-06-15T15:08:00Z --to 2025-06-15T${to}Z | grep -oE "^[A-Z]+ [A-Z]+|[0-9]+ steps? \([a-z ]+\)"
done
