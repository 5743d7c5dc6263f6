"$FAILSLOW" list causes
