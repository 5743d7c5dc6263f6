"$FAILSLOW" list formats metrics
