"$FAILSLOW" config keys
