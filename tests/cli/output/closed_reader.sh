# A reader that went away has seen what it wanted: silence, and the command's own exit code.
python3 - <<'PYTHON'
import os
import subprocess
for command in (["version"], ["config", "keys", "--format", "json"]):
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([os.environ["FAILSLOW"], *command], stdout=write_end,
                          stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    print(command[0], done.returncode, done.stderr)
PYTHON
