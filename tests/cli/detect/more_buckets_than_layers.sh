# Gradients of buckets that share a layer were ready with the step before: steps of one operator each, and a slow link.
"$FAILSLOW" simulate job dp=8 tp=1 step_ms=300 steps=120 timelines=none overlap=true buckets=32 fault="compute ranks=3 factor=1.3 onset=40" >/dev/null
"$FAILSLOW" detect job --now 1750000104778165351 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$|steps \("
