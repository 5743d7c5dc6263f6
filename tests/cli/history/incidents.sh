# A host with an incident in each of three jobs, and one with none.
say() {
	"$FAILSLOW" history --output out "$@" | sed 's/\t/ /g; s/"id": "[0-9A-Z]*"/"id": "ID"/'
}
"$FAILSLOW" history --output out || echo "exit $?"
for i in 1 2 3; do
	"$FAILSLOW" simulate "job$i" tp=4 dp=2 steps=60 ranks_per_host=4 seed=$i fault="compute ranks=2 factor=1.5" >/dev/null
	"$FAILSLOW" detect "job$i" --now "$((1750000100 + i))" --output out --quiet
done
say --now 1750090000
say --now 1750090000 --job job2 --format json
say --now 1750090000 --host 10.1.0.2
say --open --since 1750000000 --now 1750090000
say --repeat
