# While another run judges the captures into a folder, a run with this folder ends with 0 and one message; one without it,
# and one with another, do not wait. A run ends itself if it takes too long.
mkdir results
python3 - << 'END'
import fcntl, os, subprocess
program, captures = os.environ["FAILSLOW"], os.environ["DATASETS"] + "/profile/slow_rank"
with open("results/failslow_state.lock", "w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    for more in (["--output", "results"], ["--output", "results", "--lock-wait", "1"], ["--output", "others"], []):
        result = subprocess.run([program, "profile", captures, "--format", "line", "--exit-code", *more],
                                capture_output=True, text=True, check=False)
        print(" ".join(more), result.returncode, len(result.stdout.splitlines()), sep=": ")
        print(result.stderr.replace(str(os.getpid()), "PID").replace(captures, "CAPTURES"), end="")
print(os.listdir("results"))
END
ls results others
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --output results --format line
ls results
echo '{"max_run_minutes": 0.000001}' >hurried.json
for output in "--output results" ""; do
	code=0
	"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --config hurried.json --quiet $output 2>told || code=$?
	echo "exit code $code"
	sed 's/, stage=.*//' told
done
