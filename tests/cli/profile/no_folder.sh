"$FAILSLOW" profile
