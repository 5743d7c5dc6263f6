"$FAILSLOW" series --help
