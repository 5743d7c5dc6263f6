"$FAILSLOW" series
