# A slow worker, a slow last stage, a healthy job, the document by its schema, and a table that lacks a row.
python3 "$CASES/functions/optable.py" table.csv 4=2
"$FAILSLOW" functions table.csv
"$FAILSLOW" functions table.csv --exit-code > /dev/null || echo "exit code $?"
LANG=zh_CN.UTF-8 LC_ALL=zh_CN.UTF-8 "$FAILSLOW" functions table.csv
echo
python3 "$CASES/functions/optable.py" last.csv 1=1.5 3=1.5 5=1.5 7=1.5
echo "0,0,0,0,data-loading,0,1,0,0,0,0" >> last.csv
"$FAILSLOW" functions last.csv --exit-code
echo
python3 "$CASES/functions/optable.py" healthy.csv
"$FAILSLOW" functions healthy.csv
echo
python3 -c 'import jsonschema' 2> /dev/null || exit 77
for name in table last healthy; do
	"$FAILSLOW" functions $name.csv --format json > $name.json
done
python3 - "$CASES/../../docs/what_if.schema.json" table.json last.json healthy.json << 'END'
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    document = json.load(open(name))
    jsonschema.validate(document, schema)
    print(name, document["slowdown"], document["slowestWorkersShare"], document["lastStageShare"], document["byStep"])
END
sed -i '$d' table.csv
"$FAILSLOW" functions table.csv || echo "exit code $?"
# Options of functions are refused, as nothing would come of them.
"$FAILSLOW" functions healthy.csv --report page.html || echo "exit code $?"
"$FAILSLOW" functions healthy.csv --worker 3 || echo "exit code $?"
[ ! -e page.html ] && echo "no page"
