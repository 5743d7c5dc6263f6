"$FAILSLOW" simulate job tp=2 dp=1 steps=2 >/dev/null
"$FAILSLOW" detect job -o "" -q
