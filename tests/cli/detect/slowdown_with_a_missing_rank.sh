# The slow rank left no data: nobody who did can be named, and the verdict says where to look.
"$FAILSLOW" simulate job tp=4 dp=4 steps=100 fault="missing ranks=7" fault="compute ranks=7 factor=1.3 onset=50" >/dev/null
"$FAILSLOW" detect job --output out --now 2025-06-15T15:10:00Z --long | grep -vE "rows|verdict|perception|coverage"
