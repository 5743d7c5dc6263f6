"$FAILSLOW" simulate job tp=8 dp=1 steps=60 >simulate.log
"$FAILSLOW" bench --case csv job/mspti
