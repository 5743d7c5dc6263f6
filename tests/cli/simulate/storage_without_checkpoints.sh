"$FAILSLOW" simulate job fault="storage ranks=3"
