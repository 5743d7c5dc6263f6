"$FAILSLOW" eval --seeds 9-1
