# A path is needed.
"$FAILSLOW" hostbound
