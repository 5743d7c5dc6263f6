"$FAILSLOW" simulate --keys
