# Both replicas get longer and shorter sequences in turn; all ranks of a tensor group share them, so that four of them are slow together.
"$FAILSLOW" simulate job tp=4 dp=2 pp=1 ranks_per_host=2 micro_batches=2 steps=120 timelines=none seed=3 \
	fault="sequence factor=0.3 onset=0" >/dev/null
"$FAILSLOW" detect job --now 1750000200000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10"
