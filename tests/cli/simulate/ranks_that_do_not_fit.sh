"$FAILSLOW" simulate --preset gpt-7b --ranks 60 job
