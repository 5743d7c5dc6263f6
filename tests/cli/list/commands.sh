"$FAILSLOW" list commands
