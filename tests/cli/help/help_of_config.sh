"$FAILSLOW" config --help
