# Pauses of 3.2 s in jobs with steps of 0.6 s: what they cost per step is more than a usual step takes.
"$FAILSLOW" simulate job tp=1 dp=8 pp=1 ranks_per_host=2 buckets=4 steps=150 noise=0.005 hetero=0.005 spikes=0 timelines=none step_ms=600 seed=215579850662419 \
	fault="pauses factor=0.02 extra_ms=3204.69 onset=0" | grep "without it"
"$FAILSLOW" detect job --now 1750000400000000000 --output out | grep -A1 "^[A-Z]"
