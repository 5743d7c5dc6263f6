"$FAILSLOW" simulate job step=5
