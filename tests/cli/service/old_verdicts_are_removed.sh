# A run that wrote removes old verdict files; the newest failSlow file and files of others stay.
cp -r "$DATASETS/faults/slow_rank/." .
python3 - << 'END'
import json
config = json.load(open("model_config.json"))
config.update({"fail_slow_perception_path": "results", "slow_node_detection_path": "results", "keep_days": 3,
               "keep_files": 2, "job_name": "mine"})
json.dump(config, open("model_config.json", "w"))
END
mkdir results
for name in slow_node_result_100 slow_node_result_mine fail_slow_perception_result_normal_200; do
	touch -d "4 days ago" "results/$name.json"
done
for second in 1750000066 1750000067 1750000068; do
	"$FAILSLOW" --config model_config.json --now $second --quiet
done
ls results
