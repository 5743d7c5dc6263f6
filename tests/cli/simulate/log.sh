"$FAILSLOW" simulate job write=log steps=100 ckpt=50 fault="spike onset=12 period=25 extra_ms=2500"
head -n 2 job/log/training.log
grep -A 9 '"stops"' job/truth.json
