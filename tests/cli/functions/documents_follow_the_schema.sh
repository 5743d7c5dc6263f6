# Documents of all kinds of verdicts and choices, against docs/functions.schema.json.
python3 -c 'import jsonschema' 2> /dev/null || exit 77
python3 "$CASES/functions/traces.py" culprits python=2 kernels=5
python3 "$CASES/functions/traces.py" none
python3 "$CASES/functions/traces.py" few ranks=2
for folder in culprits none few; do
	"$FAILSLOW" functions $folder --format json > $folder.json
done
"$FAILSLOW" functions culprits --section python --worker 1-3 --format json > python.json
"$FAILSLOW" functions culprits --function '|' --format json > function.json
"$FAILSLOW" functions culprits --baseline none --format json > grown.json
"$FAILSLOW" functions few --baseline "$DATASETS/profile/slow_rank" --format json > not_compared.json
python3 - "$CASES/../../docs/functions.schema.json" ./*.json << 'END'
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    document = json.load(open(name))
    jsonschema.validate(document, schema)
    for worker in document["workers"]:
        parts = worker["breakdown"]
        sum_ms = sum(parts[key] for key in ("computeMs", "exposedCommunicationMs", "exposedMemoryMs", "idleMs"))
        assert abs(sum_ms - parts["windowMs"]) < 1e-5, (name, worker["rank"])
    print(name, document["verdict"], [grown["section"] for grown in (document["baseline"] or {"grown": []})["grown"]])
    del document["verdict"]
    assert not jsonschema.Draft202012Validator(schema).is_valid(document), name
END
