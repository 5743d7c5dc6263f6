# The name of the job is that of the nearest folder that holds more than files of one kind.
mkdir -p "run 7/mspti"
cp "$DATASETS"/faults/clean/mspti/* "run 7/mspti"
for path in "run 7" "run 7/mspti" "run 7/mspti/"; do
	"$FAILSLOW" "$path" --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["job"]["name"])'
done
