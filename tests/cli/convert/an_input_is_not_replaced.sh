"$FAILSLOW" simulate job tp=2 dp=1 steps=5 > /dev/null
cp job/mspti/hccl_activity-10.1.0.1-.0.csv markers.json
"$FAILSLOW" convert markers.json -o markers.json
