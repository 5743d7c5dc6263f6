"$FAILSLOW" frobnicate
