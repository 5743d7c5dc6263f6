# The tensor-parallel neighbour of rank 6 waits in no bucket and seemed to work more than all others, who wait in theirs and go on beneath. Nobody's work changed but that of rank 6.
"$FAILSLOW" simulate job tp=2 dp=4 steps=240 step_ms=600 ranks_per_host=2 timelines=first overlap=true buckets=8 noise=0.02 hetero=0.03 spikes=0.005 warm_up=1 seed=73544818746843 fault="compute ranks=6 factor=1.73102 onset=88 until=138" | grep -o "with it.*"
"$FAILSLOW" detect job --now 1750000240531429586 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$|own work"
# A rank that is slow by a tenth at the head of its steps was not found: the others seemed to work as much.
"$FAILSLOW" simulate head tp=2 dp=4 steps=100 step_ms=300 ranks_per_host=2 timelines=first overlap=true buckets=8 noise=0.01 hetero=0.02 fault="dataloader ranks=6 extra_ms=40 onset=40" | grep -o "with it.*"
"$FAILSLOW" detect head --now 1750000096300738311 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
