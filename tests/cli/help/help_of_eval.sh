"$FAILSLOW" eval --help
