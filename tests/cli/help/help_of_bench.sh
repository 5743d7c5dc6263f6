"$FAILSLOW" bench --help
