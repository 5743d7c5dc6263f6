# The rank pauses in one of ten steps from step 86 of 240 on: what these cost is measured from there on.
"$FAILSLOW" simulate job tp=4 dp=2 pp=1 ranks_per_host=2 micro_batches=2 steps=240 noise=0.01 hetero=0.01 spikes=0.002 warm_up=0.5 \
	timelines=first step_ms=4000 seed=268145328123228 fault="gc factor=0.1 ranks=6 extra_ms=2179.92 onset=86" >/dev/null
"$FAILSLOW" detect job --now 1750001099443886576 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
