"$FAILSLOW" list --fromat json metrics
