# While another run looks at the job, a run over it ends with 0 and one message; a look is no such run.
mkdir results
python3 - << 'END'
import fcntl, os, subprocess
program, job = os.environ["FAILSLOW"], os.environ["DATASETS"] + "/faults/slow_rank"
with open("results/failslow_state.lock", "w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    for more in (["--output", "results"], ["--output", "results", "--lock-wait", "1"], ["--output", "others"], []):
        result = subprocess.run([program, job, "--now", "1750000066", "--format", "line", "--exit-code", *more],
                                capture_output=True, text=True, check=False)
        print(" ".join(more), result.returncode, len(result.stdout.splitlines()), sep=": ")
        print(result.stderr.replace(str(os.getpid()), "PID").replace(job, "JOB"), end="")
print(os.listdir("results"))
END
"$FAILSLOW" "$DATASETS/faults/slow_rank" --now 1750000066 --output results --format line
