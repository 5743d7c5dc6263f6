"$FAILSLOW" list formats
