# A loader that is late in every fourth step is named beneath sequences that differ in every step, with its period;
# without it nobody is.
job='tp=1 dp=8 pp=1 ranks_per_host=4 family=varlen steps=80 noise=0.008 hetero=0.003 tails=0.001 step_ms=300'
# shellcheck disable=SC2086
"$FAILSLOW" simulate late $job seed=78111038545387 \
	fault="dataloader period=4 on=1 ranks=0 extra_ms=521.824 onset=18" >/dev/null
# shellcheck disable=SC2086
"$FAILSLOW" simulate other $job evaluation=20 item=10 seed=95072204031717 \
	fault="dataloader period=4 on=1 ranks=6 extra_ms=481.653 onset=17" >/dev/null
# shellcheck disable=SC2086
"$FAILSLOW" simulate healthy $job seed=78111038545387 >/dev/null
for job in late other healthy; do
	"$FAILSLOW" "$job" | sed -n 1,2p
done
"$FAILSLOW" late --format json | grep -c "everySteps\": 4"
