COLUMNS=200 "$FAILSLOW" list commands | tail -n +2 | while read -r command _; do
	"$FAILSLOW" "$command" --help | head -n 1 | grep -q "^usage: failslow $command" ||
		echo "no usage line: $command"
done
