"$FAILSLOW" eval huge
