# The other replicas of the stage wait in the first of a row of buckets for rank 4, and have nothing else to do.
"$FAILSLOW" simulate job tp=1 dp=4 pp=2 ranks_per_host=2 buckets=8 overlap=true micro_batches=4 pairs=1 schedule=1f1b steps=140 noise=0.005 hetero=0.005 timelines=none step_ms=1500 fault="host ranks=4 factor=1.26771 onset=36" >truth
grep -o "with it.*" truth
"$FAILSLOW" detect job --now 1750000371173805129 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
