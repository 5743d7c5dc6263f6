# Pauses of all hosts have an advice of their own; a stage with more to do asks nothing of the replay; what moving work costs is a part of the mean step.
"$FAILSLOW" simulate pauses tp=4 dp=2 steps=100 fault="pauses ranks=all factor=0.05 extra_ms=900" >/dev/null
"$FAILSLOW" detect pauses --output out --now 2025-06-15T15:10:00Z | sed -n '/next/,$p'
"$FAILSLOW" simulate stage tp=1 dp=4 pp=3 steps=100 fault="stage ranks=1 factor=1.3 onset=0" >/dev/null
"$FAILSLOW" detect stage --output out --now 2025-06-15T15:13:00Z | grep -E "^[A-Z]|replay"
"$FAILSLOW" simulate moving tp=4 dp=4 steps=150 fault="sequence ranks=all factor=0.5 onset=0" >/dev/null
"$FAILSLOW" detect moving --output out --now 2025-06-15T15:13:00Z --format json --quiet --quiet |
	grep -E '"(verdict|slowdown|stepMs|lostMsPerStep)"'
