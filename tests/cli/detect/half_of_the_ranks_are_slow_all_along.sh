# The level of the ranks is slow with them, so that arrival arcs tell a few percent of what each of them takes longer.
"$FAILSLOW" simulate even tp=1 dp=8 pp=1 ranks_per_host=2 buckets=4 steps=120 noise=0.01 hetero=0.01 spikes=0.002 gc=0 \
	timelines=none step_ms=4000 seed=118370863704657 fault="compute ranks=0,2,4,6 factor=2.04 onset=0" >/dev/null
"$FAILSLOW" even | grep -oE "^[A-Z ]+: ranks [0-9, ]+[0-9]"
"$FAILSLOW" simulate odd tp=1 dp=8 pp=1 ranks_per_host=2 buckets=8 overlap=true steps=120 noise=0.01 hetero=0.01 \
	spikes=0.002 gc=0 timelines=all step_ms=15000 seed=88574088608155 fault="compute ranks=1,3,5,7 factor=1.53 onset=0" >/dev/null
"$FAILSLOW" odd | grep -oE "^[A-Z ]+: ranks [0-9, ]+[0-9]"
