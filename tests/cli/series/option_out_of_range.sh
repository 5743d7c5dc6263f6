"$FAILSLOW" series x.csv --p-max 2
