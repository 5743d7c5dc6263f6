"$FAILSLOW" bench --scale hosts
