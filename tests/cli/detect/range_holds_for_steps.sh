# A range before the fault is normal, one that ends in the fault does not end it, and one without data is no slowdown.
"$FAILSLOW" simulate job tp=4 dp=2 steps=100 fault="compute ranks=1 factor=1.3 onset=50" >/dev/null
rm job/model_config.json
show() {
	"$FAILSLOW" detect job --output out --now 2025-06-15T15:09:00Z --long "$@" |
		grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$|threshold|steps|since step|significant|missing|dropped" || true
}
show --from 2025-06-15T15:06:40Z --to 2025-06-15T15:07:25Z
show --to 2025-06-15T15:08:20Z
show --from 2026-06-15T15:09:00Z
