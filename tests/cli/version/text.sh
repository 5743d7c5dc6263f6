"$FAILSLOW" version
