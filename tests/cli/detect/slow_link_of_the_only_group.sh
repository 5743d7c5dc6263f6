# One group of eight whose transfer grows for 50 steps: nothing to compare with but its own past.
"$FAILSLOW" simulate job tp=1 dp=8 ranks_per_host=2 buckets=4 steps=120 step_ms=600 seed=7 \
	fault="link ranks=2-3 extra_ms=17 onset=50 until=100" >/dev/null
"$FAILSLOW" detect job --now 1750000100000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|among all|own past"
