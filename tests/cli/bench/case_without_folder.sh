"$FAILSLOW" bench --case csv
