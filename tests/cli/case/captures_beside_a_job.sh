# Captures beside the files of a job have a case of their own.
mkdir job
cp -r "$DATASETS/faults/clean/mspti" job
cp -r "$DATASETS/profile/slow_rank" job/captures
"$FAILSLOW" job --now 1750000066892495774 --output results > text
grep -E '"(schema|verdict)": "' results/failslow_job.json results/failslow_job-captures.json |
	grep -v '^results/failslow_job.json:    '
