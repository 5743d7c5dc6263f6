# Shared by quickstart.sh, test.sh and .ci/run: packages, stages, build. POSIX sh, to be sourced.
# shellcheck shell=sh

root=$(cd -P "$(dirname "$0")/.." && pwd)
# As many tests run at once as there are processors: a thread that waits leaves its processor to the others.
export OMP_WAIT_POLICY=passive
build=${FAILSLOW_BUILD:-$root/build} # where to build; the tests of the documentation set it
log_dir=$build/log

# What is needed: for what | Debian, Ubuntu | Fedora, openEuler. Several names in a column are alternatives for
# different releases; the ones that the release does not know are passed over. Packages for "extra" belong to "build",
# and are left out if the release has none of their names.
package_table() {
	cat <<'TABLE'
build | gcc                  | gcc
build | libc6-dev            | glibc-devel
build | cmake                | cmake
build | ninja-build          | ninja-build
build | pkg-config           | pkgconf-pkg-config pkgconf
build | libgsl-dev           | gsl-devel
build | libcjson-dev         | cjson-devel
build | libprotobuf-c-dev    | protobuf-c-devel
build | protobuf-c-compiler  | protobuf-c-compiler protobuf-c
build | libcsv-dev           | libcsv-devel
build | gettext              | gettext
build | libpcre2-dev         | pcre2-devel
build | libopenblas-serial-dev | openblas-devel
build | libsqlite3-dev       | sqlite-devel
build | zlib1g-dev           | zlib-devel zlib-ng-compat-devel
build | libzstd-dev          | libzstd-devel zstd-devel
build | libcurl4-openssl-dev | libcurl-devel
build | libssl-dev           | openssl-devel
build | librdkafka-dev       | librdkafka-devel
build | libdw-dev            | elfutils-devel
build | libisal-dev          | isa-l-devel
extra | libtracecmd-dev      | libtracecmd-devel
extra | libtracefs-dev       | libtracefs-devel
extra | libtraceevent-dev    | libtraceevent-devel
test  | libcmocka-dev        | libcmocka-devel
test  | python3              | python3
test  | python3-jsonschema   | python3-jsonschema
test  | gzip                 | gzip
test  | zstd                 | zstd
ci    | clang                | clang
ci    | libclang-rt-dev libclang-rt-14-dev | compiler-rt
ci    | libomp-dev           | libomp-devel
ci    | clang-format         | clang-tools-extra
ci    | cppcheck             | cppcheck
ci    | shellcheck           | ShellCheck
ci    | valgrind             | valgrind
ci    | libopenmpi-dev       | openmpi-devel
ci    | openmpi-bin          | openmpi
TABLE
}

# fail MESSAGE HINT: what went wrong and what to do about it; ends the script.
fail() {
	printf '\nfailed: %s\n  what to do: %s\n' "$1" "$2" >&2
	exit 1
}

# failed_tests LOG: the first lines of what each failed test said, from a log of ctest; nothing from other logs.
failed_tests() {
	awk '/ Test +#[0-9]+: / { n_left = /\*\*\*/ ? 40 : 0 } n_left-- > 0' "$1"
}

# stage NAME HINT COMMAND...: one line on the terminal, everything else into a log.
stage() {
	stage_name=$1
	stage_hint=$2
	shift 2
	mkdir -p "$log_dir"
	stage_log=$log_dir/$(printf '%s' "$stage_name" | tr ' /' '--').log
	stage_begin=$(date +%s)
	printf '%-32s ' "$stage_name"
	if "$@" >"$stage_log" 2>&1 </dev/null; then
		printf 'ok   %4d s\n' "$(($(date +%s) - stage_begin))"
		return 0
	fi
	printf 'FAILED  %d s\n\n' "$(($(date +%s) - stage_begin))"
	printf 'last lines of %s:\n' "$stage_log"
	{
		failed_tests "$stage_log"
		tail -n 25 "$stage_log"
	} | sed 's/^/  | /'
	fail "$stage_name" "$stage_hint"
}

package_manager() {
	if command -v apt-get >/dev/null 2>&1; then
		echo apt
	elif command -v dnf >/dev/null 2>&1; then
		echo dnf
	elif command -v yum >/dev/null 2>&1; then
		echo yum
	else
		echo none
	fi
}

# Lines of the table for the kinds asked for ("build test"), the column of this package manager alone.
wanted_packages() {
	column=3
	[ "$manager" = apt ] && column=2
	package_table | awk -F '|' -v kinds=" $* " -v column=$column \
		'{ kind = $1; gsub(/ /, "", kind); if (index(kinds, " " kind " ")) print $column }'
}

is_installed() {
	if [ "$manager" = apt ]; then
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
	else
		rpm -q --quiet --whatprovides "$1"
	fi
}

is_known() {
	if [ "$manager" = apt ]; then
		apt-cache show "$1" >/dev/null 2>&1
	else
		"$manager" -q info "$1" >/dev/null 2>&1
	fi
}

# Of the lines of "extra" those of which the release knows a name.
extra_packages() {
	wanted_packages extra | while read -r names; do
		for name in $names; do
			if is_installed "$name" || is_known "$name"; then
				echo "$name"
				break
			fi
		done
	done
}

# Names of packages that are not there yet; nothing when all is well.
missing_packages() {
	{
		wanted_packages "$@"
		case " $* " in *" build "*) extra_packages ;; esac
	} | while read -r names; do
		first=
		for name in $names; do
			if is_installed "$name"; then
				first=
				continue 2
			fi
			first=${first:-$name}
		done
		for name in $names; do
			if is_known "$name"; then
				first=$name
				break
			fi
		done
		echo "$first"
	done | sort -u
}

# Runs a command as root: directly, or through sudo after become_root has asked for the password.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

# become_root PACKAGES: makes sure that as_root will work without asking.
become_root() {
	[ "$(id -u)" = 0 ] && return 0
	hint="as root, run: $manager install -y $*"
	command -v sudo >/dev/null 2>&1 || fail "packages are missing and there is no sudo" "$hint"
	if [ -t 0 ]; then
		sudo -v || fail "packages are missing and sudo refuses" "$hint"
	else
		sudo -n true || fail "packages are missing and sudo wants a password" "$hint"
	fi
}

# Another package run may hold the lock of the lists: apt-get waits for dpkg's lock itself, not for this one.
apt_update() {
	for pause in 2 5 10 20 30 60; do
		as_root apt-get update >"$log_dir/apt-update.log" 2>&1 && return 0
		cat "$log_dir/apt-update.log"
		grep -q 'Could not get lock' "$log_dir/apt-update.log" || return 1
		sleep "$pause"
	done
	return 1
}

# Lists that cannot be fetched are no reason to stop: the packages may be in the cache.
install_packages() {
	kinds=$*
	if [ "$manager" = apt ]; then
		apt_update || echo "the package lists could not be fetched"
		# shellcheck disable=SC2046,SC2086 # one argument per kind and per package
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
			install -y --no-install-recommends $(missing_packages $kinds)
	else
		# shellcheck disable=SC2046,SC2086
		as_root "$manager" install -y $(missing_packages $kinds)
	fi
}

# ensure_packages KIND...: installs what is missing; costs a fraction of a second when nothing is.
ensure_packages() {
	manager=$(package_manager)
	if [ "$manager" = none ]; then
		echo "no apt, dnf or yum here: trusting that the libraries of docs/developers/architecture.md are installed"
		return 0
	fi
	mkdir -p "$log_dir"
	missing=$(missing_packages "$@" | tr '\n' ' ')
	[ -z "$missing" ] && return 0
	# shellcheck disable=SC2086
	become_root $missing
	stage "packages" "is the network there, and does the mirror answer? Behind a proxy set http_proxy and https_proxy. By hand, as root: $manager install -y $missing" \
		install_packages "$@"
}

# configure DIR OPTION...: CMake with Ninja.
configure() {
	dir=$1
	shift
	cmake -S "$root" -B "$dir" -G Ninja "$@"
}

# shellcheck disable=SC2034 # for those who source this file
configure_hint='the log names the library or the tool that is missing; after a change of compiler or generator remove the build folder'
# shellcheck disable=SC2034
compile_hint='the log names file and line; on a machine with little memory run: ninja -C build -j1'
