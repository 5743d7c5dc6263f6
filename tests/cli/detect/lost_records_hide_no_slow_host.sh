# One row in a hundred is lost: one of 30 operators of each rank, several in every step. Ranks 4 to 7 are slow from step 40 on.
"$FAILSLOW" simulate job tp=2 dp=2 pp=4 ranks_per_host=4 micro_batches=8 pairs=1 schedule=interleaved chunks=2 steps=100 noise=0.005 \
	timelines=first step_ms=2000 seed=7 drop=0.01 fault="compute ranks=4-7 factor=1.25 onset=40" >/dev/null
"$FAILSLOW" detect job --now 1750001000000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
