COLUMNS=120 "$FAILSLOW" bench --size 1 --runs 1 --dir .
ls
