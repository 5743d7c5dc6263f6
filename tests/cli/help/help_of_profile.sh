"$FAILSLOW" profile --help
