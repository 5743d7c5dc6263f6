# The link of the first data group is slow: its members wait longer, nobody's own work explains it.
PYTHONPATH="$CASES/../kineto" python3 -B -c '
import jobs
jobs.write("traces", jobs.Job(tp=4, dp=2), jobs.Fault(link={frozenset((0, 4)): 4.0}))
jobs.write("healthy", jobs.Job(tp=4, dp=2, noise=0.05))
jobs.write("device", jobs.Job(tp=4, dp=2, noise=0.05), jobs.Fault(kernels={5: 1.2}))
jobs.write("host", jobs.Job(tp=4, dp=2, noise=0.05), jobs.Fault(host_us={3: 900.0}))'
for folder in traces healthy device host; do
	"$FAILSLOW" functions $folder --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["headline"])'
done
