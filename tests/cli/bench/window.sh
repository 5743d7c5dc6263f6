"$FAILSLOW" bench --scale window --size 4 --runs 3
