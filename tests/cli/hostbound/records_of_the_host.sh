# Records of sysTrace in place of a kernel trace: the process is told, no CPU; without markers the threads alone.
mkdir -p job/osprobe healthy/osprobe
cp -r "$DATASETS"/faults/clean/mspti "$DATASETS"/faults/clean/timeline job
cp -r job/mspti job/timeline healthy
python3 "$CASES/hostbound/records.py" job/osprobe 1
"$FAILSLOW" hostbound job --exit-code || echo "exit code $?"
python3 "$CASES/hostbound/records.py" healthy/osprobe -1
"$FAILSLOW" hostbound healthy
"$FAILSLOW" hostbound job/osprobe/*_4001.pb
