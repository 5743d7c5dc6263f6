# Completion of failslow for bash; scripts/make_completion.py writes it.
# shellcheck shell=bash

_failslow()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} words=
	if [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	elif [ "$current" = = ]; then
		current=
	fi
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ] && [ "${current#-}" = "$current" ]; then
		mapfile -t COMPREPLY < <(compgen -W "detect watch profile functions hostbound convert record report check history series simulate eval bench list config version help" -- "$current"; compgen -f -- "$current")
		return
	fi
	case $command in
	help)
		mapfile -t COMPREPLY < <(compgen -W "detect watch profile functions hostbound convert record report check history series simulate eval bench list config version" -- "$current")
		return
		;;
	esac
	# Options without a command belong to detect.
	case $command in
	detect | watch | profile | functions | hostbound | convert | record | report | check | history | series | simulate | eval | bench | list | config | version) ;;
	*) command=detect ;;
	esac
	# Values of the option before the cursor.
	case $command:$previous in
	detect:--config | detect:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	detect:--output | detect:-o)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	detect:--report)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	detect:--from)
		:
		return
		;;
	detect:--to)
		:
		return
		;;
	detect:--now)
		:
		return
		;;
	detect:--jobs | detect:-j)
		:
		return
		;;
	detect:--lock-wait)
		:
		return
		;;
	detect:--every)
		:
		return
		;;
	detect:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json line" -- "$current")
		return
		;;
	detect:--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$current")
		return
		;;
	detect:--log-format)
		mapfile -t COMPREPLY < <(compgen -W "text logfmt json" -- "$current")
		return
		;;
	watch:--config | watch:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	watch:--every)
		:
		return
		;;
	watch:--log-format)
		mapfile -t COMPREPLY < <(compgen -W "text logfmt json" -- "$current")
		return
		;;
	profile:--output | profile:-o)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	profile:--export)
		mapfile -t COMPREPLY < <(compgen -W "msprof-analyze" -- "$current")
		return
		;;
	profile:--report)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	profile:--config | profile:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	profile:--baseline | profile:-b)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	profile:--device-memory)
		:
		return
		;;
	profile:--lane)
		:
		return
		;;
	profile:--ranks)
		:
		return
		;;
	profile:--steps)
		:
		return
		;;
	profile:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json line" -- "$current")
		return
		;;
	profile:--jobs | profile:-j)
		:
		return
		;;
	profile:--lock-wait)
		:
		return
		;;
	profile:--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$current")
		return
		;;
	functions:--section)
		mapfile -t COMPREPLY < <(compgen -W "compute memory communication runtime python workers" -- "$current")
		return
		;;
	functions:--function)
		:
		return
		;;
	functions:--class)
		:
		return
		;;
	functions:--worker)
		:
		return
		;;
	functions:--baseline | functions:-b)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	functions:--lane)
		:
		return
		;;
	functions:--delta)
		:
		return
		;;
	functions:--k)
		:
		return
		;;
	functions:--sample)
		:
		return
		;;
	functions:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	functions:--report)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	functions:--jobs | functions:-j)
		:
		return
		;;
	functions:--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$current")
		return
		;;
	hostbound:--markers | hostbound:-m)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	hostbound:--topology)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	hostbound:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	hostbound:--report)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	hostbound:--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$current")
		return
		;;
	convert:--output | convert:-o)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	convert:--ranks)
		:
		return
		;;
	convert:--cpus)
		:
		return
		;;
	convert:--from)
		:
		return
		;;
	convert:--to)
		:
		return
		;;
	convert:--now)
		:
		return
		;;
	convert:--device-memory)
		:
		return
		;;
	convert:--libraries)
		:
		return
		;;
	convert:--config | convert:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	convert:--jobs | convert:-j)
		:
		return
		;;
	record:--cpu)
		:
		return
		;;
	record:--record-time | record:-t)
		:
		return
		;;
	record:--output | record:-o)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	record:--pid | record:-p)
		:
		return
		;;
	record:--buffer-size | record:-b)
		:
		return
		;;
	record:--clock)
		mapfile -t COMPREPLY < <(compgen -W "mono_raw mono boot tai local global perf" -- "$current")
		return
		;;
	record:--keep-free)
		:
		return
		;;
	report:--output | report:-o)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	report:--svg)
		:
		return
		;;
	report:--png)
		:
		return
		;;
	check:--config | check:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	check:--output | check:-o)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	check:--job)
		:
		return
		;;
	check:--host)
		:
		return
		;;
	check:--now)
		:
		return
		;;
	history:--config | history:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	history:--output | history:-o)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	history:--job)
		:
		return
		;;
	history:--host)
		:
		return
		;;
	history:--since)
		:
		return
		;;
	history:--now)
		:
		return
		;;
	history:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	series:--column | series:-c)
		:
		return
		;;
	series:--profile)
		mapfile -t COMPREPLY < <(compgen -W "series steps" -- "$current")
		return
		;;
	series:--min-segment)
		:
		return
		;;
	series:--least-change)
		:
		return
		;;
	series:--p-max)
		:
		return
		;;
	series:--penalty)
		:
		return
		;;
	series:--max-points)
		:
		return
		;;
	series:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json csv" -- "$current")
		return
		;;
	simulate:--preset | simulate:-p)
		:
		return
		;;
	simulate:--ranks | simulate:-r)
		:
		return
		;;
	eval:--seeds | eval:-s)
		:
		return
		;;
	eval:--filter | eval:-f)
		:
		return
		;;
	eval:--limit | eval:-n)
		:
		return
		;;
	eval:--baselines | eval:-b)
		:
		return
		;;
	eval:--config | eval:-c)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	eval:--output | eval:-o)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	eval:--jobs | eval:-j)
		:
		return
		;;
	bench:--size | bench:-s)
		:
		return
		;;
	bench:--ranks | bench:-r)
		:
		return
		;;
	bench:--runs | bench:-n)
		:
		return
		;;
	bench:--jobs | bench:-j)
		:
		return
		;;
	bench:--only)
		:
		return
		;;
	bench:--scale)
		mapfile -t COMPREPLY < <(compgen -W "bytes ranks groups window" -- "$current")
		return
		;;
	bench:--dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	bench:--case)
		:
		return
		;;
	bench:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	bench:--output | bench:-o)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	list:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	config:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	version:--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
		return
		;;
	esac
	case $command in
	detect)
		words="-c --config -o --output --report --from --to --now -j --jobs --lock-wait --every --format --color -l --long --exit-code --exit-code=new --exit-code=state --log-format -q --quiet -v --verbose -h --help"
		;;
	watch)
		words="-c --config --every --once --log-format -q --quiet -v --verbose -h --help"
		;;
	profile)
		words="-o --output --export --report -c --config -b --baseline --device-memory --lane --ranks --steps --format -j --jobs --lock-wait --color -l --long --exit-code --exit-code=new --exit-code=state -q --quiet -h --help"
		;;
	functions)
		words="--section --function --class --worker -b --baseline --lane --delta --k --sample --format --report -j --jobs --color -l --long --exit-code -h --help"
		;;
	hostbound)
		words="-m --markers --topology --format --report --color -l --long --exit-code -h --help"
		;;
	convert)
		words="-o --output --ranks --cpus --from --to --now --clock-align --no-verdict --device-memory --libraries -c --config -j --jobs -q --quiet -h --help"
		;;
	record)
		words="--cpu -t --record-time -o --output -p --pid -b --buffer-size --clock --stat-runtime --keep-free -q --quiet -h --help"
		;;
	report)
		words="-o --output --svg --png -h --help"
		;;
	check)
		words="-c --config -o --output --job --host --nagios --now -h --help"
		;;
	history)
		words="-c --config -o --output --job --host --since --open --repeat --now --format -h --help"
		;;
	series)
		words="-c --column --profile --min-segment --least-change --p-max --penalty --max-points --format --exit-code -h --help"
		;;
	simulate)
		words="-p --preset -r --ranks -n --dry-run -k --keys -h --help"
		;;
	eval)
		words="-s --seeds -f --filter -n --limit -b --baselines -c --config -o --output -j --jobs -w --list-wrong -g --gates -q --quiet -h --help"
		;;
	bench)
		words="-s --size -r --ranks -n --runs -j --jobs --only --scale -i --instructions --dir --case --format -o --output -h --help"
		;;
	list)
		words="--format -h --help"
		;;
	config)
		words="--strict --format -h --help"
		;;
	version)
		words="--format -h --help"
		;;
	esac
	if [ "${current#-}" != "$current" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi
	if [ "$COMP_CWORD" = 2 ]; then
		case $command in
		record)
			mapfile -t COMPREPLY < <(compgen -W "start stop" -- "$current")
			return
			;;
		eval)
			mapfile -t COMPREPLY < <(compgen -W "quick full families" -- "$current")
			return
			;;
		list)
			mapfile -t COMPREPLY < <(compgen -W "detectors formats reporters metrics commands causes" -- "$current")
			return
			;;
		config)
			mapfile -t COMPREPLY < <(compgen -W "check explain init keys where" -- "$current")
			return
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

complete -o filenames -F _failslow failslow systrace-failslow
