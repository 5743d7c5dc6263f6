# Messages for programs: the option wins over the key, and an error is one line, too.
cp -r "$DATASETS/faults/slow_rank/." .
python3 - << 'END'
import json, os, re, subprocess
config = json.load(open("model_config.json"))
config.update({"log_format": "logfmt", "root_path": "absent \"folder\"", "fail_slow_perception_path": "results",
               "slow_node_detection_path": "results"})
json.dump(config, open("model_config.json", "w"))
for more in ([], ["--log-format", "json"], ["--log-format", "text"]):
    result = subprocess.run([os.environ["FAILSLOW"], "--config", "model_config.json", "--quiet", *more],
                            capture_output=True, text=True, check=False)
    print(result.returncode, re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME", result.stderr), end="")
    if "json" in more:
        print([json.loads(line)["level"] for line in result.stderr.splitlines()])
END
