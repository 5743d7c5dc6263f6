# The manual's example: the verdict as JSON, and exit code 1 because something is wrong.
cp -r "$DATASETS/faults/slow_rank/." .
code=0
"$FAILSLOW" detect --config model_config.json --now 1750000066892495774 --format json --exit-code > verdict.json || code=$?
echo "exit code $code"
python3 - <<'PYTHON'
import json
verdict = json.load(open("verdict.json"))["localisation"]
print(verdict["verdict"], [culprit["rank"] for culprit in verdict["culprits"]])
PYTHON
