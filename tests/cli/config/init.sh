# A file to begin with: it passes the strict check, sits where the program looks, and overwrites nothing.
"$FAILSLOW" config init new/job.json
"$FAILSLOW" config check --strict new/job.json
python3 -c 'import json; print(sorted(json.load(open("new/job.json"))))'
echo mine > mine.json
"$FAILSLOW" config init mine.json || echo "code $?"
cat mine.json
export FAILSLOW_CONFIG=$PWD/etc/own.json
"$FAILSLOW" config init
"$FAILSLOW" config check
