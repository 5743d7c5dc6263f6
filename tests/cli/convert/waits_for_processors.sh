# Rank 2 shares its processor with stress-ng, rank 1 has its own. Steps of 50 ms begin 20 ms after the records.
write() { python3 "$CASES/convert/host_records.py" "$@"; }
mkdir job
write job/os_trace_20250615_15_rank_2_4711.pb \
	"4711 4 0 40000 5000000 2 python3 stress-ng 9182" \
	"4711 4 50000 10000 43000000 2 python3 kworker/0:1 17" \
	"4720 4 0 100000 7 2 acl_thread swapper/0 0" \
	"4711 4 100000 30000 45000000 2 python3 stress-ng 9182" \
	"4711 4 140000 1000 75000000 2 python3 swapper/0 0" \
	"1 3 100 50 0 0 kswapd0 - 0" "1 3 0 500 0 0 kswapd0 - 0" "3 1 7 20 0 0 python3 - 0"
write job/os_trace_20250615_15_rank_1_4700.pb \
	"4700 4 0 40000 1000 1 python3 swapper/1 0" "4700 4 100000 40000 2000 1 python3 swapper/1 0"
{
	echo step_id,step_start_time,step_end_time,step_exec_time
	for step in 41 42 43; do
		begin=$((1750000000020000000 + (step - 41) * 50000000))
		echo "$step,$begin,$((begin + 50000000)),50000000"
	done
} >job/training-step-time-10.0.0.1-2.csv
"$FAILSLOW" convert job --no-verdict -o job.json
"$FAILSLOW" convert job --no-verdict --ranks 1 -o job.json
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" convert job --no-verdict -o job.json
