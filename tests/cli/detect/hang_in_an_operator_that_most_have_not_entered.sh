# Ranks wait in an operator in which most of the others were not seen: both are told by their numbers, and nobody is accused.
open() { # FILE: one more operator that begins on the device and does not end
	awk -F, -v OFS=, 'NR > 1 && $4 ~ /comm:/ { line = $0 } { last = $2 > last ? $2 : last } END {
		$0 = line; $2 = last + 1000; $6 = "1750000043000000000"; print
		$1 = 32; $4 = ""; $6 = "1750000043000010000"; print
		$1 = 16; $5 = 1; $6 = "1750000043000020000"; print
	}' "$1" >rows.csv
	cat rows.csv >>"$1"
}
"$FAILSLOW" simulate job tp=1 dp=16 steps=40 timelines=none >/dev/null
open job/mspti/*.2.csv
open job/mspti/*.3.csv
"$FAILSLOW" detect job --output out --now 2025-06-15T16:10:00Z | sed -n "/^HANG/,/time/p; /waiting/p"
open job/mspti/*.9.csv
"$FAILSLOW" detect job --output out --now 2025-06-15T16:10:00Z | sed -n "/waiting/p"
