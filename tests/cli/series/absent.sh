"$FAILSLOW" series nowhere.csv
