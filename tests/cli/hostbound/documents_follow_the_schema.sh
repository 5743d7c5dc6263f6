# Documents of all kinds of verdicts, against docs/hostbound.schema.json; states sum to the window.
python3 -c 'import jsonschema' 2> /dev/null || exit 77
python3 "$CASES/hostbound/traces.py" hog markers hog=12-23
python3 "$CASES/hostbound/traces.py" quota marks quota=8-15 irq lost
python3 "$CASES/hostbound/traces.py" none
for folder in hog quota none; do
	"$FAILSLOW" hostbound $folder --format json > $folder.json
done
python3 - "$CASES/../../docs/hostbound.schema.json" ./*.json << 'END'
import json
import sys

import jsonschema

STATES = ("runMs", "queueAfterWakeupMs", "queuePreemptedMs", "sleepMs", "diskMs", "idleMs", "stopMs", "unknownMs")
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    document = json.load(open(name))
    jsonschema.validate(document, schema)
    for trace in document["traces"]:
        print(name, trace["verdict"], [(rank["rank"], rank["cause"]) for rank in trace["ranks"]])
        for thread in trace["threads"]:
            assert abs(sum(thread[key] for key in STATES) - thread["windowMs"]) < 1e-5, (name, thread["tid"])
        for rank in trace["ranks"]:
            held_ms = sum(holder["seenMsPerStep"] + holder["likelyMsPerStep"] for holder in rank["holders"])
            assert not rank["isNamed"] or abs(held_ms - rank["waitMsPerStep"]) < 1e-5, (name, rank["rank"])
    del document["traces"][0]["verdict"]
    assert not jsonschema.Draft202012Validator(schema).is_valid(document), name
END
