"$FAILSLOW" simulate job fault="restart onset=10 back=11"
