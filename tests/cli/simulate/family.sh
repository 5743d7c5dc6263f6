"$FAILSLOW" simulate job family=hsdp steps=20 fault="compute ranks=3 factor=1.3 onset=5"
