"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --format json --output results > printed.json
cmp printed.json results/failslow_slow_rank.json
python3 - << 'END'
import json
case = json.load(open("printed.json"))
print(list(case))
print(case["verdict"], [culprit["rank"] for culprit in case["culprits"]])
print(case["capture"]["steps"][0])
print(case["capture"]["stages"])
END
