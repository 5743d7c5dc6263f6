# Buckets beside the groups of a layer come in another order on ranks that wait: what they follow is learned from those that do not.
"$FAILSLOW" simulate job tp=4 dp=2 steps=80 step_ms=300 timelines=none overlap=true buckets=8 hetero=0.01 fault="compute ranks=4 factor=1.3 onset=40" >truth
grep -o "with it.*" truth
"$FAILSLOW" detect job --now 1750000091109691210 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 step_ms=300 timelines=none overlap=true buckets=16 pairs=2 fault="dataloader ranks=5 extra_ms=80 onset=10" >truth
grep -o "with it.*" truth
"$FAILSLOW" detect job --now 1750000084406115440 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
