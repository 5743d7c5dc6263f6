# A run is confined or tells why not; a link to another disk is read in both cases, and verdicts are the same.
mkdir disk job
cp -r "$DATASETS/faults/slow_rank/." disk
ln -s ../disk/mspti job/mspti
ln -s ../disk/timeline job/timeline
echo '{"root_path": "job", "confine": "off"}' >off.json
echo '{"root_path": "job", "confine": "auto"}' >auto.json
for how in off auto; do
	"$FAILSLOW" detect -v --config "$how.json" --now 2025-06-15T15:08:00Z --output "new/$how" --format line \
		2>log
	echo "$how: $(grep -c 'info: confine: ' log) line, $(grep -c 'confine is off' log) by the key"
done
