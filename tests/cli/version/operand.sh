"$FAILSLOW" version please
