# Overwritten events, and interrupts that take a fortieth of each step.
python3 "$CASES/hostbound/traces.py" job marks irq lost
"$FAILSLOW" hostbound job
