"$FAILSLOW" simulate job tp=8 dp=1 steps=100 fault="compute ranks=3 factor=1.3 onset=40"
"$FAILSLOW" detect job --now 1750000182062150779 --output out | sed -n 1,2p
