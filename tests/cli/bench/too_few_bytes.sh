"$FAILSLOW" bench --size 1 --ranks 1024 --only csv --dir .
