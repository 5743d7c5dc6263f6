"$FAILSLOW" bench --scale ranks --only csv
