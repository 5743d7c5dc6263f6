"$FAILSLOW" detect --help
