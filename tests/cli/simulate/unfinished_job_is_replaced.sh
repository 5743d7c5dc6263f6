# No room for the job, as on a full disk; then there is.
(
	ulimit -f 16
	"$FAILSLOW" simulate job tp=4 dp=1 steps=60 || echo "exit code $?"
)
cat job/truth.json
"$FAILSLOW" simulate job tp=2 dp=1 steps=20
ls job/mspti
grep -c unfinished job/truth.json || true
