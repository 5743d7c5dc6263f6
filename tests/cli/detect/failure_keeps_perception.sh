# Localisation fails after the steps were judged: the slowdown that was perceived is still told.
cp -r "$DATASETS/faults/slow_rank/." .
sed 's/^{/{"hccl_domain": {"tp": [[0, 1], [1, 2]]},/' model_config.json > wrong.json
code=0
"$FAILSLOW" detect --config wrong.json --now 1750000066892495774 --quiet || code=$?
echo "exit code $code"
ls out | sed 's/_[0-9]*\.json$/_SECONDS.json/; s/^failslow_failslow-cli-.*/failslow_JOB.json/'
python3 - <<'PYTHON'
import glob, json
perception, = (json.load(open(name)) for name in glob.glob("out/fail_slow*"))
localisation, = (json.load(open(name)) for name in glob.glob("out/slow_node*"))
print(perception["verdict"], perception["is_anomaly"], perception["errorMsg"] != "")
print(localisation["resultCode"], localisation["verdict"], localisation["culprits"])
PYTHON
