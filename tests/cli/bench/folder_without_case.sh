"$FAILSLOW" bench job/mspti
