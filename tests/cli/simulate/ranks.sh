"$FAILSLOW" simulate --dry-run --preset gpt-7b --ranks 64 job steps=5
