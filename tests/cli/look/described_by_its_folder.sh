# A model_config.json in the folder says what the job is: name, groups, log, thresholds. Of several folders none does.
mkdir data
"$FAILSLOW" simulate data/job steps=60 tp=1 dp=8 pp=1 timelines=all fault="compute ranks=2 factor=1.2 onset=20" > told
cat > data/job/model_config.json <<'JSON'
{"job_name": "pre training/7", "slow_ratio_min": 1.5, "training_log": "./mspti/../timeline",
 "hccl_domain": {"dp": [[0, 1, 2, 3, 4, 5, 6, 7]]}}
JSON
tell() {
	"$FAILSLOW" "$@" --format json | python3 -c '
import json, sys
case = json.load(sys.stdin)
job, groups = case["job"], sum(case["topology"]["groups"].values(), [])
print(job["name"], job["id"].rsplit("-", 1)[0], case["verdict"], case["coverage"].get("describedBy"),
      sorted({group["why"] for group in groups}))'
}
tell data/job
tell data/job/mspti data/job
tell data/job/mspti data/job/timeline
"$FAILSLOW" data/job | grep -A 2 coverage
cp data/job/model_config.json data/model_config.json
tell data data/job
tell data
cp data/job/model_config.json configured.json
sed -i 's|"./mspti/../timeline"|"data/job/timeline", "root_path": "data/job"|' configured.json
"$FAILSLOW" data/job --config configured.json --output out --quiet
ls out | grep -v _result_
