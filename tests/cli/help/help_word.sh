# `failslow help` is --help, also of a command.
"$FAILSLOW" --help > option
"$FAILSLOW" help > word
cmp option word
"$FAILSLOW" list --help > option
"$FAILSLOW" help list > word
cmp option word
