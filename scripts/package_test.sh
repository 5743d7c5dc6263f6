#!/bin/sh
# Builds the packages of Debian and of rpm, and tries them in fresh root file systems of Debian 12: install, run, upgrade,
# remove. Debian's run there under systemd, with a receiver of alarms.
# As root, with network; takes about ten minutes on two processors. CI does not run it.
#   package_test.sh [FOLDER]    FOLDER keeps the packages and the root file systems (default: build/packages)
set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/debian_root.sh"
. "$(dirname "$0")/package_rpm.sh"

work=${1:-$build/packages}
mkdir -p "$work"
work=$(cd "$work" && pwd)
log_dir=$work/log
version=$(sed -n 's/^project(failslow VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
commit=$(git -C "$root" rev-parse HEAD)
[ "$(id -u)" = 0 ] || fail "debootstrap and chroot need root" "run it as root"
export PATH="/usr/lib/ccache:$PATH" DEBIAN_FRONTEND=noninteractive
export CCACHE_DIR="${CCACHE_DIR:-$HOME/.cache/ccache}" # debhelper gives each build a home of its own

packaging_tools() {
	apt-get install -y --no-install-recommends debhelper debootstrap dpkg-dev lintian python3 rpm cpio
}

# sources FOLDER: the tree as it is committed.
sources() {
	rm -rf "$1"
	mkdir -p "$1"
	git -C "$root" archive "$commit" | tar -x -C "$1"
}

# build_deb NAME: packages in $work/NAME.
build_deb() {
	rm -rf "${work:?}/$1"
	sources "$work/$1/failslow-$version"
	cp -r "$work/$1/failslow-$version/packaging/debian" "$work/$1/failslow-$version"
	(cd "$work/$1/failslow-$version" && DEB_BUILD_OPTIONS="nocheck noautodbgsym" dpkg-buildpackage -us -uc -b)
}

# Two builds in two folders give the same bytes.
same_bytes() {
	for package in "$work"/one/*.deb; do
		cmp "$package" "$work/two/$(basename "$package")" || return 1
		echo "same: $(basename "$package")"
	done
}

contents() {
	for package in "$work"/one/*.deb; do
		dpkg-deb --info "$package" && dpkg-deb --contents "$package" || return 1
	done
	dpkg-deb --contents "$work/one/failslow_"*.deb | grep -q 'usr/bin/systrace-failslow' &&
		! dpkg-deb --contents "$work/one/failslow_"*.deb | grep -q '/usr/include/' &&
		dpkg-deb --contents "$work/one/failslow-dev_"*.deb | grep -q '/usr/include/failslow/detector.h' &&
		dpkg-deb --contents "$work/one/failslow-doc_"*.deb | grep -q 'doc/failslow/docs/operations/configuration.md$' &&
		! dpkg-deb --field "$work/one/failslow_"*.deb Depends | grep -q openblas
}

# Paths of the root file system, and who may log in; without what systemd, apt and rpm keep for themselves.
paths() {
	(cd "$chroot" && find . -xdev \( -path ./var/log -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
		-o -path ./var/lib/rpm -o -path ./var/lib/systemd -o -path ./run -o -path ./tmp -o -path ./dev \) -prune -o -print | sort &&
		cat etc/passwd etc/group)
}

fresh_root() {
	fresh_debian "$work/root" systemd && in_root apt-get update && boot && paths >"$work/before"
}

# Without recommended packages, so without OpenBLAS.
install_deb() {
	mkdir -p "$chroot/srv/packages"
	cp "$work"/one/*.deb "$chroot/srv/packages"
	cp -r "$root/datasets/faults/slow_rank" "$chroot/srv/told"
	in_booted sh -c 'apt-get install -y --no-install-recommends /srv/packages/*.deb' &&
		! in_booted systemctl is-enabled failslow.timer failslow-watch.service
}

now=2025-06-15T15:08:00Z
verdict() {
	in_booted failslow detect /srv/told --now $now --format line
}

# The catalog of messages is where the program looks for it.
speaks_chinese() {
	in_booted env LC_ALL=zh_CN.UTF-8 failslow --help >"$work/chinese.txt" &&
		in_booted env LC_ALL=zh_CN.UTF-8 failslow history --help >>"$work/chinese.txt" &&
		diff "$root/tests/cli/language/help_in_chinese.stdout.exact" "$work/chinese.txt"
}

run_installed() {
	in_booted failslow version >"$work/version.txt" && cat "$work/version.txt" &&
		grep -q 'OpenBLAS *absent' "$work/version.txt" &&
		verdict >"$work/plain.txt" && cat "$work/plain.txt" &&
		grep -q '^SLOW RANK: rank 5 ' "$work/plain.txt" && speaks_chinese &&
		[ "$(in_booted systrace-failslow --version)" = "failslow $version" ] &&
		in_booted failslow config where >"$work/where.txt" && cat "$work/where.txt" &&
		grep -q '^/etc/failslow/model_config.json .*in use' "$work/where.txt" &&
		in_booted failslow config check --strict /etc/failslow/model_config.json &&
		in_booted bash -n /usr/share/bash-completion/completions/failslow
}

with_openblas() {
	in_booted apt-get install -y --no-install-recommends libopenblas0-serial &&
		in_booted failslow version | grep 'OpenBLAS *[0-9]' &&
		verdict >"$work/blas.txt" && cmp "$work/plain.txt" "$work/blas.txt"
}

# The same content under a later version: a changed configuration stays, and the service runs the new program.
upgrade() {
	rm -rf "$work/later" && mkdir -p "$work/later"
	for package in "$work"/one/*_*.deb; do
		name=$(basename "$package" | sed 's/_.*//')
		dpkg-deb --raw-extract "$package" "$work/later/$name" || return 1
		sed -i "s/^Version: .*/Version: $version-2/; s/>= $version-1/>= $version-2/" "$work/later/$name/DEBIAN/control"
		dpkg-deb --root-owner-group --build "$work/later/$name" "$chroot/srv/packages/later-$name.deb" || return 1
	done
	sed -i 's/"k_sigma": 3/"k_sigma": 4/' "$chroot/etc/failslow/model_config.json"
	pid=$(watch_pid)
	# shellcheck disable=SC2016 # dpkg-query expands it
	in_booted sh -c 'dpkg -i /srv/packages/later-*.deb' &&
		in_booted dpkg-query -W -f '${Version}\n' failslow | grep -qx "$version-2" &&
		grep -q '"k_sigma": 4' "$chroot/etc/failslow/model_config.json" &&
		[ "$(watch_pid)" != 0 ] && [ "$(watch_pid)" != "$pid" ] &&
		in_booted failslow detect /srv/told --config /etc/failslow/model_config.json --now $now --format line
}

receiver=
receive() {
	rm -f "$work/port" "$work/received"
	python3 "$root/tests/packages/receiver.py" "$work/port" "$work/received" &
	receiver=$!
	for _ in $(seq 50); do
		[ -s "$work/port" ] && port=$(cat "$work/port") && return 0
		sleep 0.1
	done
	return 1
}

stop_all() {
	[ -z "$receiver" ] || kill "$receiver" 2>/dev/null || true
	halt
}

# drop_in UNIT LINES: what an administrator writes with "systemctl edit".
drop_in() {
	mkdir -p "$chroot/etc/systemd/system/$1.d"
	printf '%b' "$2" >"$chroot/etc/systemd/system/$1.d/override.conf"
}

# A job of eight ranks that goes on, and in which rank 3 has been slow since its step 80. 200 steps are 285 s.
configure_job() {
	in_booted failslow simulate /srv/job tp=8 dp=1 steps=200 "start_ns=$(($(date +%s) - 285))000000000" \
		fault="compute ranks=3 factor=1.6 onset=80" || return 1
	sed -i 's|"root_path": "[^"]*"|"root_path": "/srv/job"|; s|"syslog": null|"syslog": "journald"|
		s|"webhook_url": null|"webhook_url": "http://127.0.0.1:'"$port"'/"|' "$chroot/etc/failslow/model_config.json"
	in_booted apt-get install -y --no-install-recommends libcurl4 &&
		in_booted failslow config check --strict /etc/failslow/model_config.json || return 1
	for unit in failslow.service failslow-watch.service; do
		drop_in $unit '[Service]\nPrivateNetwork=no\nIPAddressAllow=127.0.0.1\nRestrictAddressFamilies=AF_INET AF_INET6\n'
	done
	drop_in failslow.timer '[Timer]\nOnActiveSec=1s\n'
	in_booted systemctl daemon-reload
}

# within SECONDS COMMAND...: until it succeeds.
within() {
	tries=$1
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 1
	done
}

has_ended() {
	[ "$(in_booted systemctl show -P ExecMainExitTimestampMonotonic failslow.service)" != 0 ] &&
		[ "$(in_booted systemctl show -P ActiveState failslow.service)" = inactive ]
}

# The timer starts a run; both receivers are told once, and the results belong to the user of the service.
timer() {
	receive && configure_job && in_booted systemctl enable --now failslow.timer && within 60 has_ended
	in_booted systemctl --no-pager status failslow.timer failslow.service
	in_booted journalctl --no-pager -u failslow.service
	cat "$work/received"
	[ "$(in_booted systemctl show -P Result failslow.service)" = success ] &&
		[ "$(in_booted systemctl show -P ExecMainStatus failslow.service)" = 1 ] &&
		[ "$(grep -c . "$work/received")" = 1 ] &&
		grep -q '"edge": *"open"' "$work/received" && grep -q '"ranks": *\[3\]' "$work/received" &&
		in_booted journalctl --no-pager -o export -t failslow FAILSLOW_RANK=3 | grep -q '^FAILSLOW_INCIDENT=' &&
		ls -ln "$chroot"/var/lib/private/failslow/*/ &&
		[ -n "$(find "$chroot/var/lib/private/failslow" -name 'slow_node_result_*.json' ! -user 0)" ]
}

watch_pid() {
	in_booted systemctl show -P MainPID failslow-watch.service
}

says_the_headline() {
	in_booted systemctl show -P StatusText failslow-watch.service | tee "$work/status" | grep -q 'rank 3'
}

# The other form of the service, with the same state: nobody is told again.
watch() {
	in_booted systemctl disable --now failslow.timer && in_booted systemctl start failslow-watch.service || return 1
	within 60 says_the_headline
	in_booted journalctl --no-pager -u failslow-watch.service
	cat "$work/status"
	pid=$(watch_pid)
	[ "$pid" != 0 ] && says_the_headline && in_booted systemctl reload failslow-watch.service && within 60 says_the_headline &&
		[ "$(watch_pid)" = "$pid" ] && [ "$(grep -c . "$work/received")" = 1 ]
}

# An administrator who set up both forms, and removes the packages while they run. Nothing is left but sysTrace's file.
purge() {
	mkdir -p "$chroot/etc/systrace/result/slow_node"
	echo '{"resultCode": 200}' >"$chroot/etc/systrace/result/slow_node/slow_node_result_1.json"
	in_booted failslow /srv/job --output /etc/systrace/result/slow_node --quiet --exit-code=state
	[ $? -eq 1 ] && in_booted systemctl enable --now failslow.timer failslow-watch.service || return 1
	rm -r "$chroot"/etc/systemd/system/failslow*.d
	in_booted apt-get purge -y failslow-doc failslow-dev failslow libcurl4 libopenblas0-serial &&
		in_booted apt-get autoremove --purge -y || return 1
	in_booted systemctl --no-pager --all list-units 'failslow*' | tee "$work/units"
	! in_booted sh -c 'cat /proc/[0-9]*/comm' | grep failslow && ! grep -Eq 'failslow.* (active|activating|failed) ' "$work/units" || return 1
	rm "$chroot/etc/systrace/result/slow_node/slow_node_result_1.json" || return 1
	find "$chroot/etc/systrace" -type f
	[ -z "$(find "$chroot/etc/systrace" -type f)" ] || return 1
	rm -rf "$chroot/etc/systrace" "$chroot/srv/packages" "$chroot/srv/told" "$chroot/srv/job"
	paths | diff "$work/before" - || return 1
	left=$(find "$chroot" -xdev -iname '*failslow*' -not -path "$chroot/var/log/*" -not -path "$chroot/proc/*")
	echo "left: $left"
	[ -z "$left" ]
}

lint() {
	lintian --fail-on error --suppress-tags bad-distribution-in-changes-file,initial-upload-closes-no-bugs \
		"$work"/one/*.deb
}

trap stop_all EXIT
ensure_packages build
hint='read the log that is named above'
stage "packaging tools" "install debhelper debootstrap dpkg-dev lintian rpm" packaging_tools
stage "Debian packages" "$hint" build_deb one
stage "Debian packages once more" "$hint" build_deb two
stage "both builds have the same bytes" "compare them with diffoscope" same_bytes
stage "contents" "$hint" contents
stage "lintian" "$hint" lint
stage "fresh Debian 12 with systemd" "is the mirror there? DEBIAN_MIRROR names another one. May root make namespaces here?" \
	fresh_root
stage "install" "$hint" install_deb
stage "run without OpenBLAS" "$hint" run_installed
stage "run with OpenBLAS" "$hint" with_openblas
stage "timer and receivers" "$hint" timer
stage "watch" "$hint" watch
stage "upgrade" "$hint" upgrade
stage "purge" "what is left stands in the log" purge
stage "rpm packages" "$hint" build_rpm
stage "contents of the rpm packages" "$hint" rpm_contents
stage "fresh root for rpm" "$hint" rpm_root
stage "install by rpm" "$hint" rpm_install
stage "upgrade by rpm" "$hint" rpm_upgrade
stage "erase by rpm" "what is left stands in the log" rpm_erase
