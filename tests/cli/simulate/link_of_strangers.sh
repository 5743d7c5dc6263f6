"$FAILSLOW" simulate job fault="link ranks=0,5"
