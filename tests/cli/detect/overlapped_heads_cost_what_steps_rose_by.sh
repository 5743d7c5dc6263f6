# What the others did beneath their buckets holds them up in the replay, too, and hardly anything came back of what rank 6 costs: the job was told normal.
"$FAILSLOW" simulate job tp=8 dp=4 steps=100 step_ms=300 timelines=none overlap=true buckets=4 noise=0.01 hetero=0.03 fault="dataloader ranks=6 extra_ms=30 onset=50" | grep -o "with it.*"
"$FAILSLOW" detect job --now 1750000096920335537 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
