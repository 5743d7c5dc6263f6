# Cut, empty, a folder, garbage: each is told, and the slow rank is found all the same.
cp -r "$DATASETS/profile/slow_rank" set
cd set
output() { echo "$1"/node0_400"$2"_*/ASCEND_PROFILER_OUTPUT; }
truncate -s 9000 "$(output . 0)/kernel_details.csv"
truncate -s 3000 "$(output . 1)/communication.json"
truncate -s 100 "$(output . 2)/step_trace_time.csv"
truncate -s 0 "$(output . 3)/step_trace_time.csv"
rm "$(output . 4)/kernel_details.csv"
mkdir "$(output . 4)/kernel_details.csv"
echo garbage > "$(output . 4)/op_statistic.csv"
head -c 2000 /dev/zero > "$(output . 6)/communication_matrix.json"
truncate -s 300 node0_4007_*/profiler_metadata.json
cd ..
"$FAILSLOW" profile set --long
