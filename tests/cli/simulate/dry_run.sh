"$FAILSLOW" simulate --dry-run --preset gpt-22b job steps=5
