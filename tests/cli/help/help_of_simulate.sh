"$FAILSLOW" simulate --help
