"$FAILSLOW" --help
