"$FAILSLOW" bench --only csv,jsn
