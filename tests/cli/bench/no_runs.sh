"$FAILSLOW" bench --runs 0
