# The process holds 7 GiB, the device has 8, then 7.
cp -R "$DATASETS/profile/slow_rank" captures
cat >captures/node0_4003_20260528203000003_ascend_pt/ASCEND_PROFILER_OUTPUT/memory_record.csv <<'END'
Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type
APP,1780000000000500.250,,7168,NPU:0
END
for device in 8 7; do
	"$FAILSLOW" profile captures --device-memory $device --ranks 3 --long >told
	grep -A 2 hbm_oom told || echo "no finding with $device GiB"
done
