"$FAILSLOW" list planets
