# Kernels whose operations and bytes the traces tell stand on a roofline; a kernel without operations does not.
python3 "$CASES/functions/traces.py" traces kernels=5
python3 - <<'END'
import json, pathlib
for path in pathlib.Path("traces").iterdir():
    trace = json.loads(path.read_text())
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel" and "gemm" in event["name"]:
            event["args"].update(kernel_flop=250000000000, kernel_num_gb=0.5)
        elif event["cat"] == "kernel" and "vectorized" in event["name"]:
            event["args"].update(kernel_flop=0, kernel_num_gb=0.012583424)
        elif event["cat"] == "kernel":
            event["args"].update(kernel_flop="many", kernel_num_gb=-1)
    path.write_text(json.dumps(trace))
END
"$FAILSLOW" functions traces --report page.html --format json >document.json
python3 - <<'END'
import json, re
kernels = json.load(open("document.json"))["gpuCompute"]["majorKernels"].values()
print([(kernel["name"][:20], kernel["flops"], kernel["bytes"]) for kernel in kernels])
picture = re.search('<svg class="c roof".*?</svg>', open("page.html").read(), re.S)[0]
print([re.sub("<[^>]*>", "", title) for title in re.findall("<title>(.*?)</title>", picture)])
END
python3 "$CASES/functions/traces.py" healthy
"$FAILSLOW" functions healthy --report page.html --format json >document.json
grep -c roofline page.html || grep -c '"flops":	null' document.json
