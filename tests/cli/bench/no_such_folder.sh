"$FAILSLOW" bench --dir absent
