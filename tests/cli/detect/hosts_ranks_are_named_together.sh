# Both ranks of a host are 5.5 % slower from step 40 to 90: noise alone lets one of them cost less than what counts.
"$FAILSLOW" simulate job tp=4 dp=2 ranks_per_host=2 steps=120 noise=0.02 hetero=0.03 timelines=none step_ms=1500 seed=5 \
	fault="compute ranks=6-7 factor=1.055 onset=40 until=90" >/dev/null
"$FAILSLOW" detect job --now 1750000463834462986 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
