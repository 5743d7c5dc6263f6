"$FAILSLOW" eval --baselines fixed-1.2x
