"$FAILSLOW" list --format=yaml metrics
