"$FAILSLOW" profile absent
