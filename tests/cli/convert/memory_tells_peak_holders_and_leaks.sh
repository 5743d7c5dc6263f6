# Records of device memory: a block of 1 GiB stays, each step leaves 256 MiB behind.
record() { # TAG BODY: a field of the message, its length in front
	local body
	body=$(printf "$2" | wc -c)
	printf "$1\\x$(printf %x "$body")$2"
}
library='\x12\x09libnn.so;'
{
	printf '\x08\x05'
	record '\x12' "\x08\x01\x10\x00\x20\x80\x80\x80\x80\x04\x2a\x0d\x08\x10$library\x2a\x0d\x08\x20$library"
	for step in 1 2 3 4 5 6; do
		printf '\x08\x05'
		record '\x12' "\x08\x0$((step + 1))\x10\x0$step\x20\x80\x80\x80\x80\x01\x2a\x0d\x08\x30$library"
		record '\x12' "\x08\x10\x10\x0$step\x20\x80\x80\x80\x80\x02"
		record '\x1a' "\x08\x10\x10\x0$step"
	done
	record '\x12' '\x10\x06\x20\x80\x80\x80\x80\x40' # no pointer: it failed
} >hbm_trace_trace_rank5_77.pb
"$FAILSLOW" convert hbm_trace_trace_rank5_77.pb -o job.json
grep -o '"name":"[^"]*","args":{"bytes".*\|"i".*' job.json
for form in folded speedscope.json; do
	"$FAILSLOW" convert hbm_trace_trace_rank5_77.pb -o job.$form -q
	cat job.$form
done
"$FAILSLOW" convert hbm_trace_trace_rank5_77.pb --ranks 4 -o job.folded
echo "$(wc -c <job.folded) bytes"
