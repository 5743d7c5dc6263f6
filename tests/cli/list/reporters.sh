"$FAILSLOW" list reporters
