# Jobs of one name in one folder of results do not replace each other's case.
for place in a b; do
	mkdir -p "$place/job"
	cp -r "$DATASETS/faults/clean/mspti" "$place/job"
	"$FAILSLOW" "$place/job" --now 1750000066892495774 --output results --format line 2>>warnings
done
"$FAILSLOW" a/job --now 1750000066892495774 --output results --quiet
sed "s/job-[0-9a-f]*/job-HASH/" warnings
ls results | sed 's/_[0-9]*\.json$/_N.json/; s/-[0-9a-f]\{8\}\.json/-HASH.json/' | sort -u
