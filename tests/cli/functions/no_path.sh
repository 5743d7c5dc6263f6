# A path is needed.
"$FAILSLOW" functions
