"$FAILSLOW" bench --ranks 3 --dir .
ls
