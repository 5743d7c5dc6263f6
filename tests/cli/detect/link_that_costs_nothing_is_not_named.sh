# The transfer of the pair grows by 100 ms in the bubble of the pipeline: steps take no longer.
"$FAILSLOW" simulate job tp=2 dp=4 pp=2 ranks_per_host=4 steps=60 seed=3 pairs=1 "fault=link ranks=9,15 extra_ms=100 onset=20" | grep "without it"
"$FAILSLOW" detect job --now 1750000186781752436 --output out | sed -n 1,1p
