# Rank 3 is slow all along and lost 5 of its 101 AllReduce, which leaves fewer than one in a hundred of its operators: without them it would use other operators than its peers.
"$FAILSLOW" simulate job tp=2 dp=2 pairs=24 steps=100 fault="compute ranks=3 factor=1.3" >/dev/null
file=job/mspti/hccl_activity-10.1.0.1-.3.csv
awk -F, 'NR == FNR { if ($4 ~ /Allreduce!d0_1/ && ++n % 20 == 7) lost[$2] = 1; next } !($2 in lost)' "$file" "$file" >kept.csv
mv kept.csv "$file"
"$FAILSLOW" detect job --verbose --now 1750000210819514701 --output out 2>&1 | grep -E "put back|^[A-Z]|ms step$|^ +3 "
