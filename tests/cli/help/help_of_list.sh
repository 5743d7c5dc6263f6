"$FAILSLOW" list --help
