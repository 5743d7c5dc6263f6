"$FAILSLOW" list metrics
