"$FAILSLOW" eval --filter colour=red
