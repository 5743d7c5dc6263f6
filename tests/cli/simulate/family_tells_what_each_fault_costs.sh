"$FAILSLOW" simulate job family=hsdp steps=20 fault="compute ranks=3 factor=1.3 onset=5" > /dev/null
cut -d, -f4 job/mspti/hccl_activity-10.1.0.1-.3.csv | grep -c Allreduce!replicate
grep per_step job/truth.json
