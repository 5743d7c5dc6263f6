"$FAILSLOW" verson
