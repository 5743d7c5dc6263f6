COLUMNS=200 "$FAILSLOW" list commands | tail -n +2 | while read -r command _; do
	"$FAILSLOW" "$command" --help | sed -n 1,1p | grep -q "^usage: failslow $command" ||
		echo "no usage line: $command"
done
