# The peak is 3 GiB.
printf '\x12\x0c\x08\x01\x10\x01\x20\x80\x80\x80\x80\x0c\x30\x00' >hbm_trace_trace_rank0_77.pb
for device in 4 3 2; do
	"$FAILSLOW" convert hbm_trace_trace_rank0_77.pb --device-memory $device -o job.folded
done
