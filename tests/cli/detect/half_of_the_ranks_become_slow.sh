# The level of the others rises with them, but their own time does not change: they were not slower before.
"$FAILSLOW" simulate job tp=1 dp=8 pp=1 ranks_per_host=2 buckets=4 steps=300 noise=0.02 hetero=0.03 spikes=0.005 warm_up=1 timelines=first \
	step_ms=1500 seed=140039921653698 fault="compute ranks=0,2,4,6 factor=1.28674 onset=103" >/dev/null
"$FAILSLOW" detect job --now 1750000546000000000 --output out | grep -oE "^[A-Z ]+: ranks [0-9, ]+[0-9]"
