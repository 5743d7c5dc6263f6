# Where callgrind can run this program there is a number, else the reason.
"$FAILSLOW" bench --size 1 --runs 1 --only newlines --instructions --dir . | tail -n 1 |
	grep -qE '^  newlines .* [0-9.]+$|^no instructions per byte: ' || echo "neither a count nor a reason"
