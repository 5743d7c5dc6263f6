"$FAILSLOW" config
