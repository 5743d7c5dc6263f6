# All others wait for the rank that hangs, which left no data: the verdict points at it.
"$FAILSLOW" simulate job tp=8 dp=1 steps=60 fault="missing ranks=2" fault="hang ranks=2 onset=20" >/dev/null
"$FAILSLOW" detect job --output out --now 2025-06-15T16:10:00Z | sed -n "/^HANG/,/these first/p; /^  next/,\$p"
