# The form of ACK AI Profiling: a rank reads its data slowly, and the share of system calls in its call path is told.
python3 "$CASES/functions/ack.py" traces reads=2
"$FAILSLOW" functions traces
"$FAILSLOW" functions traces --format json > document.json
python3 - "$CASES/../../docs/functions.schema.json" << 'END'
import json
import sys
document = json.load(open("document.json"))
try:
    import jsonschema
    jsonschema.validate(document, json.load(open(sys.argv[1])))
except ImportError:
    pass
(path, function), = document["python"].items()
print(path, round(function["systemCallRatio"], 3), "not verified" in document["remarks"][0])
print({name: values["systemCallRatio"] for name, values in document["cudaRuntime"].items()})
END
"$FAILSLOW" profile traces --format line
