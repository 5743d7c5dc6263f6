"$FAILSLOW" version --help
