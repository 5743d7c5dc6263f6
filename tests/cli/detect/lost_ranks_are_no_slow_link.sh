# One rank in eight left no file; rank 5 is slow from step 30 to 60. The groups of the lost ranks wait for them.
"$FAILSLOW" simulate job tp=4 dp=4 pp=2 lost=8 seed=4 steps=80 schedule=1f1b micro_batches=4 pairs=1 timelines=none \
	fault="compute ranks=5 factor=1.5 onset=30 until=60" >/dev/null
"$FAILSLOW" detect job --now 1750000200000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$|^ .*links:|told from"
