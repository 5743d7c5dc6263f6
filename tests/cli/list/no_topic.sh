"$FAILSLOW" list
