# A pause is the host's also where it lies inside a recorded stage; checkpoints show in the other ranks also where none is recorded.
"$FAILSLOW" simulate gc tp=4 dp=2 pp=1 ranks_per_host=2 micro_batches=2 steps=120 timelines=all seed=2 \
	fault="gc factor=0.1 ranks=5 extra_ms=1500 onset=20" >/dev/null
"$FAILSLOW" detect gc --now 1750000200000000000 --output out | grep -E "^ +[0-9]+ +10"
"$FAILSLOW" simulate storage tp=4 dp=2 pp=1 ranks_per_host=2 micro_batches=2 steps=120 timelines=none ckpt=10 step_ms=4000 seed=2 \
	fault="storage ranks=5 extra_ms=3000 onset=20" >/dev/null
"$FAILSLOW" detect storage --now 1750000600000000000 --output out | grep -E "^ +[0-9]+ +10"
