# The packages of rpm, built and tried on Debian. POSIX sh, to be sourced by package_test.sh.
# The libraries come from Debian's packages, so rpm knows none of them: it builds and installs with --nodeps. rpm of the
# root file system installs: systemd answers only those who live in its namespace of processes. The macros of systemd are
# those of its macros.systemd. The folder of state is that of Fedora and openEuler; rpm of Debian takes /usr/com.
# shellcheck shell=sh disable=SC2154 # package_test.sh sets root, work, version and commit

# rpm_build OPTION...
rpm_build() {
	# shellcheck disable=SC2016 # rpm and its scripts expand it
	rpmbuild -bb --nodeps --noclean --without check --buildroot "$work/rpm/buildroot" --define "_topdir $work/rpm" \
		--define '_unitdir /usr/lib/systemd/system' --define '_sharedstatedir /var/lib' \
		--define 'systemd_post() if [ $1 -eq 1 ]; then systemctl --no-reload preset %* || :; fi' \
		--define 'systemd_preun() if [ $1 -eq 0 ]; then systemctl --no-reload disable --now %* || :; fi' \
		--define 'systemd_postun_with_restart() if [ $1 -ge 1 ]; then systemctl try-restart %* || :; fi' \
		"$@" "$root/packaging/failslow.spec"
}

# Then the same content once more as a later release. rpm lists only those folders of build-ids that it makes itself.
build_rpm() {
	rm -rf "$work/rpm" && mkdir -p "$work/rpm/SOURCES"
	git -C "$root" archive --prefix="failslow-$version/" -o "$work/rpm/SOURCES/failslow-$version.tar.gz" "$commit"
	rpm_build && rm -rf "$work/rpm/buildroot/usr/lib/.build-id" && rpm_build --short-circuit --define 'dist .later'
}

rpm_contents() {
	for package in "$work"/rpm/RPMS/*/*-1.[!l]*.rpm; do
		rpm -qip "$package" && rpm -qlp "$package" && rpm -qp --requires --recommends --scripts "$package" || return 1
	done
	rpm -qlp "$work"/rpm/RPMS/*/failslow-"$version"-1.x86_64.rpm | grep -qx /usr/bin/systrace-failslow &&
		rpm -qlp "$work"/rpm/RPMS/noarch/failslow-devel-"$version"-1.noarch.rpm |
		grep -qx /usr/include/failslow/detector.h &&
		rpm -qlp "$work"/rpm/RPMS/noarch/failslow-doc-"$version"-1.noarch.rpm |
		grep -qx /usr/share/doc/failslow/docs/operations/configuration.md &&
		! rpm -qp --requires "$work"/rpm/RPMS/*/failslow-"$version"-1.x86_64.rpm | grep -q openblas
}

# As on Fedora and openEuler, no unit is enabled unless somebody says so, and folders of many packages are there.
rpm_root() {
	halt
	fresh_debian "$work/root" systemd && in_root apt-get update &&
		in_root apt-get install -y --no-install-recommends libgsl27 libcjson1 libprotobuf-c1 libcsv3 libpcre2-8-0 \
			libsqlite3-0 zlib1g libzstd1 libgomp1 rpm || return 1
	mkdir -p "$chroot/usr/lib/systemd/system-preset" "$chroot/usr/share/bash-completion/completions" \
		"$chroot/usr/share/licenses" "$chroot/usr/share/locale/zh_CN/LC_MESSAGES" \
		"$chroot/usr/share/zsh/site-functions" "$chroot/var/lib/private"
	echo 'disable *' >"$chroot/usr/lib/systemd/system-preset/99-default-disable.preset"
	mkdir -p "$chroot/srv/first" "$chroot/srv/later"
	cp -r "$root/datasets/faults/slow_rank" "$chroot/srv/told"
	cp "$work"/rpm/RPMS/*/failslow*-1.[!l]*.rpm "$chroot/srv/first"
	cp "$work"/rpm/RPMS/*/failslow*-1.later.*.rpm "$chroot/srv/later"
	boot && in_booted rpm --initdb && paths >"$work/before"
}

rpm_install() {
	in_booted sh -c 'rpm --nodeps -ivh /srv/first/*.rpm' &&
		in_booted rpm --nodeps -V failslow failslow-devel failslow-doc &&
		! in_booted systemctl is-enabled failslow.timer failslow-watch.service &&
		verdict >"$work/rpm.txt" && cmp "$work/plain.txt" "$work/rpm.txt" && speaks_chinese &&
		[ "$(in_booted systrace-failslow --version)" = "failslow $version" ] &&
		in_booted failslow config check --strict /etc/failslow/model_config.json
}

rpm_upgrade() {
	sed -i 's|"root_path": "[^"]*"|"root_path": "/srv/told"|' "$chroot/etc/failslow/model_config.json"
	in_booted systemctl daemon-reload && in_booted systemctl enable --now failslow.timer failslow-watch.service || return 1
	pid=$(watch_pid)
	in_booted sh -c 'rpm --nodeps -Uvh /srv/later/*.rpm' && in_booted rpm -q failslow | grep later &&
		grep -q '"root_path": "/srv/told"' "$chroot/etc/failslow/model_config.json" &&
		in_booted systemctl is-enabled failslow.timer failslow-watch.service &&
		[ "$(watch_pid)" != 0 ] && [ "$(watch_pid)" != "$pid" ]
}

has_results() {
	[ -n "$(find "$chroot/var/lib/private/failslow" -type f)" ]
}

# rpm keeps a changed configuration as .rpmsave, and nothing else stays.
rpm_erase() {
	within 60 has_results &&
		in_booted rpm --nodeps -e failslow-doc failslow-devel failslow || return 1
	in_booted systemctl --no-pager --all list-units 'failslow*' | tee "$work/units"
	! in_booted sh -c 'cat /proc/[0-9]*/comm' | grep failslow &&
		! grep -q 'failslow.* \(active\|activating\|failed\) ' "$work/units" || return 1
	rm "$chroot/etc/failslow/model_config.json.rpmsave" && rmdir "$chroot/etc/failslow" || return 1
	paths | diff "$work/before" -
}
