# Rank 3 alone uses a further operator, so that nobody does the same work. Where all wait for it, slow or not cannot be told; where nobody does, all is well.
for fault in "compute ranks=3 factor=1.3" ""; do
	"$FAILSLOW" simulate job tp=4 dp=2 pairs=24 steps=100 ${fault:+"fault=$fault"} >/dev/null
	file=job/mspti/hccl_activity-10.1.0.1-.3.csv
	awk -F, -v OFS=, '
		{ print }
		$1 == 16 && $4 ~ /AllGather/ { gather[$2] = 1 }
		$1 == 32 && $2 in gather && ++n % 4 == 0 {
			$1 = 16; $2 = 900000000 + n; $4 = "comm:HcclBroadcast!own!bfp16!8"; print
			$1 = 32; $4 = ""; print
		}' "$file" >more.csv
	mv more.csv "$file"
	"$FAILSLOW" detect job --now 1750000210819514701 --output out
	rm -r job out
done
