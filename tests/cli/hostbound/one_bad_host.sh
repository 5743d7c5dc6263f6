# Traces of three hosts, of which one is a bomb and one is cut: the good one is judged and drawn, and the
# others are told. A trace with more ranks than a host has is told with the file, too.
python3 "$CASES/hostbound/traces.py" good marks hog=10-20
mkdir traces
cp good/ftrace/sched.txt traces/host1.txt
python3 - <<'END'
import gzip, json, pathlib
member = gzip.compress(b" " * 2**20)
pathlib.Path("traces/host0.txt.gz").write_bytes(gzip.compress(b"# tracer: nop\n") + 66 * member)
text = pathlib.Path("traces/host1.txt").read_bytes()
pathlib.Path("traces/host2.txt.gz").write_bytes(gzip.compress(text)[:-600])
pathlib.Path("many").mkdir()
pathlib.Path("many/trace.txt").write_bytes(text)
pathlib.Path("many/ranks.json").write_text(json.dumps({"pids": {str(1000 + k): k for k in range(1025)}}))
END
"$FAILSLOW" hostbound traces many
"$FAILSLOW" hostbound many 2>&1 || echo "exit code $?"
"$FAILSLOW" convert traces -o traces.json
"$FAILSLOW" convert traces/host0.txt.gz traces/host2.txt.gz -o bad.json 2>&1 || echo "exit code $?"
