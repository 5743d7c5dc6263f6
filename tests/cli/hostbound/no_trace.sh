# A folder without kernel traces.
mkdir empty
"$FAILSLOW" hostbound empty
