# Replicas alone: no other operator shows that the rank works under its buckets. In truth 87 ms are lost; the replay has 217.
"$FAILSLOW" simulate job dp=8 tp=1 step_ms=300 steps=120 timelines=first overlap=true buckets=16 fault="compute ranks=3 factor=1.3 onset=40" >/dev/null
"$FAILSLOW" detect job --now 1750000104778165351 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
