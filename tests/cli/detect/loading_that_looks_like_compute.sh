# Where all work of a step lies in one gap, a rank without its timeline may compute or load slowly: both are to be checked.
"$FAILSLOW" simulate job tp=1 dp=8 steps=100 buckets=1 timelines=all fault="dataloader ranks=3 extra_ms=300 onset=40" >/dev/null
rm job/model_config.json
show() {
	"$FAILSLOW" detect job --output out --now 2025-06-15T15:09:00Z |
		grep -A4 -E "^[A-Z]|^ +[0-9]+ +10|^ +why|^ +next" | grep -vE "evidence|replay"
}
show
rm job/timeline/*-00003.timeline
show
grep -h -o '"otherCause":[^,]*' out/slow_node_result_*.json
