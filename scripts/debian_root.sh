# Root file systems of Debian 12, commands in them, and systemd as their first process. POSIX sh, to be sourced after
# lib.sh. As root; all mounts are in namespaces of their own, so none is left behind.
# shellcheck shell=sh disable=SC2154 # lib.sh and its user set log_dir

debian_mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
booted=    # process that systemd runs below
boot_group= # its control group

# fresh_debian DIR PACKAGE...: a new root file system in DIR, from a copy that is kept in DIR.base.
fresh_debian() {
	chroot=$1
	shift
	if [ ! -e "$chroot.base.done" ]; then
		rm -rf "$chroot.base"
		debootstrap --variant=minbase --include="$(printf '%s,' ca-certificates "$@" | sed 's/,$//')" bookworm \
			"$chroot.base" "$debian_mirror" || return 1
		: >"$chroot.base.done"
	fi
	rm -rf "$chroot"
	cp -a --reflink=auto "$chroot.base" "$chroot"
}

# in_root COMMAND...: in $chroot, with a clean environment.
in_root() {
	# shellcheck disable=SC2016 # the shell in the namespace expands it
	unshare --mount --fork sh -ec '
		mount -t proc proc "$0/proc"
		mount --bind /dev "$0/dev"
		exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
			DEBIAN_FRONTEND=noninteractive "$@"' "$chroot" "$@"
}

# boot: systemd of $chroot becomes the first process of new namespaces. The network is that of this machine.
boot() {
	groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -z "$groups" ]; then
		echo "no control groups of version 2 are mounted here"
		return 1
	fi
	boot_group=$groups/failslow-test-$$
	mkdir "$boot_group" || return 1
	# shellcheck disable=SC2016 # the shell in the namespace expands it
	sh -c 'echo $$ >"$1/cgroup.procs" && exec unshare --pid --mount --fork --kill-child --cgroup --uts --ipc \
		sh -euc "$2" "$3"' sh "$boot_group" "$boot_steps" "$chroot" >"$log_dir/systemd.log" 2>&1 </dev/null &
	booted=$!
	for _ in $(seq 60); do
		sleep 1
		state=$(in_booted systemctl is-system-running 2>/dev/null)
		[ "$state" = running ] && return 0
	done
	echo "systemd did not get ready: ${state:-no answer}"
	in_booted systemctl --no-pager list-units --failed
	cat "$log_dir/systemd.log"
	return 1
}

# From the namespaces to systemd; $0 is the root file system.
# shellcheck disable=SC2016 # the shell in the namespace expands it
boot_steps='
mount --make-rprivate /
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
	: >dev/$name
	mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=755 tmpfs run
mkdir run/old
pivot_root . run/old
umount -l /run/old
exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --unit=multi-user.target --log-target=console --show-status=0'

# in_booted COMMAND...: beside systemd of boot.
in_booted() {
	first=$(cat "/proc/$booted/task/$booted/children") && first=${first%% *}
	[ -n "$first" ] && nsenter -t "$first" -m -p -u -i -C --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

# Ends what boot began. unshare takes no other signal; the kernel ends all processes with the first one.
halt() {
	[ -n "$booted" ] && kill -KILL "$booted" && { wait "$booted" 2>/dev/null || true; }
	booted=
	[ -d "$boot_group" ] || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		find "$boot_group" -depth -type d -exec rmdir {} + 2>/dev/null || true # processes are still ending
		[ -d "$boot_group" ] || return 0
		sleep 1
	done
	echo "the control group $boot_group has stayed" >&2
}
