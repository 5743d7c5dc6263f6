"$FAILSLOW" simulate "" tp=2 dp=1 steps=2
