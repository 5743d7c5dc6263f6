# A case of 4,096 ranks, made up, makes a page of at most 1.2 MB; one of 64 at most 200 kB.
cat >make.py <<'END'
import base64, json, sys, zlib
n = int(sys.argv[1])
cells, seed = bytearray(), 1
for r in range(n):
    for c in range(256):
        seed = (seed * 1103515245 + 12345) % 2**31
        cells.append(100 + seed // 65536 % 90 if r != 77 % n else 170)
text = base64.b64encode(zlib.compress(bytes(cells))).decode()
some = [round(1.0 + r % 17 / 7, 3) for r in range(n)]
ranks = {"rank": list(range(n)), "host": [r // 8 for r in range(n)], "hosts": [f"node-{h:04d}" for h in range(n // 8)],
         "stage": [0] * n, "peers": [0] * n, "costMs": some, "ownMs": some, "peersMs": some, "lateMs": some,
         "waitMs": some, "parts": [{"part": "body", "ms": some}]}
steps = {"fromNs": 1750000000000000000, "every": 1, "step": list(range(2000)), "atMs": list(range(0, 200000, 100)),
         "ms": [100.0] * 2000, "checkpoints": []}
print(json.dumps({"schema": "failslow.case/2", "headline": "made up", "stepMs": 100.0, "pictures": {
    "steps": steps, "ranks": ranks, "overTime": {"columns": 256, "own": text, "loss": text}}}))
END
for n in 64 4096; do
	python3 make.py $n | "$FAILSLOW" report - -o page.html
	python3 -c "print($n, len(open('page.html', 'rb').read()) <= (200000 if $n == 64 else 1200000))"
done
