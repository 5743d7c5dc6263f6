# The file of the slow rank ends before it becomes slow: it is not excluded, and the coverage tells it.
"$FAILSLOW" simulate job tp=4 dp=2 steps=100 fault="compute ranks=1 factor=1.3 onset=60" >/dev/null
file=job/mspti/hccl_activity-10.1.0.1-.1.csv
head -n 1800 "$file" >cut.csv && cp cut.csv "$file"
"$FAILSLOW" detect job --output out --now 2025-06-15T15:10:00Z --long | grep -A1 -E "^[A-Z]|^  (time|why|skipped)"
# The data of a slow rank ends: that is not the end of its fault.
"$FAILSLOW" simulate later tp=4 dp=2 steps=100 fault="compute ranks=1 factor=1.3 onset=30" >/dev/null
file=later/mspti/hccl_activity-10.1.0.1-.1.csv
head -n 2400 "$file" >cut.csv && cp cut.csv "$file"
"$FAILSLOW" detect later --output out --now 2025-06-15T15:10:00Z | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
