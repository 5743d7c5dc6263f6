# For most of the capture the others wait beneath their buckets, and seem to work less than before: it is rank 4 that changed, at step 30.
"$FAILSLOW" simulate job dp=8 tp=1 step_ms=300 timelines=none overlap=true buckets=8 steps=100 fault="compute ranks=4 factor=1.3 onset=30" >truth
grep -o "with it.*" truth
"$FAILSLOW" detect job --now 1750000098216198116 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
