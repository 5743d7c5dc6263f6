# Sixteen ranks pause in one of fifty steps each; by chance some of these steps stand beside each other.
"$FAILSLOW" simulate job tp=2 dp=4 pp=2 ranks_per_host=4 micro_batches=4 pairs=1 schedule=1f1b steps=240 timelines=first \
	step_ms=600 noise=0.005 seed=138266762197395 fault="pauses factor=0.02 extra_ms=314.652 onset=0" >/dev/null
"$FAILSLOW" detect job --now 1750000300000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10"
# 64 ranks pause in one of fifty steps each: seven of ten steps have a pause.
"$FAILSLOW" simulate job64 tp=8 dp=8 pp=1 ranks_per_host=8 micro_batches=1 pairs=1 steps=100 timelines=none \
	step_ms=600 seed=5 fault="pauses factor=0.02 extra_ms=200 onset=0" >/dev/null
"$FAILSLOW" detect job64 --now 1750000200000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10"
