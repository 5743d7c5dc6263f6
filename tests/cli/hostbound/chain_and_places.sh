# Who woke whom in the worst step, interrupts on a rank's CPUs, and where ranks should run by the topology of the host.
python3 "$CASES/hostbound/traces.py" job marks loader irq
printf '# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,0,0,0,,0,0,0,0\n2,1,1,1,,1,1,1,1\n' > job/ftrace/topology.txt
"$FAILSLOW" hostbound job --format json | python3 -c '
import json, sys
trace = json.load(sys.stdin)["traces"][0]
rank = next(rank for rank in trace["ranks"] if rank["rank"] == 1)
print(rank["chain"]["text"], [link["wokenBy"] for link in rank["chain"]["links"]])
print(rank["nodes"], rank["nodeMigrations"])
print(*rank["interrupts"], sep="\n")
print(*[advice["text"] for advice in trace["advice"]], sep="\n")'
"$FAILSLOW" hostbound job --topology job/ftrace/sched.txt || echo "exit code $?"
