"$FAILSLOW" help confog
