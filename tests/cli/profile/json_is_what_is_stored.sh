"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --format json --output results > printed.json
cmp printed.json results/profile_result.json
python3 - << 'END'
import json
result = json.load(open("printed.json"))
print(list(result))
print(result["verdict"]["verdict"], [c["rank"] for c in result["verdict"]["culprits"]])
print(result["steps"][0])
print(result["stages"])
END
