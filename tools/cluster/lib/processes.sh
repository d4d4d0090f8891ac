# Starting daemons, knowing them again, and ending them: only ever by the pid and start time that were written down.

this_boot() { [ -e "$STATE/boot" ] && [ "$(cat "$STATE/boot")" = "$(cat /proc/sys/kernel/random/boot_id)" ]; }

start_time() { sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d ' ' -f 20; }   # in clock ticks since boot

# start NAME COMMAND...: a daemon in the cluster's network, in a session of its own.
# `ip netns exec` would remount /sys and so hide the cgroups; nsenter doesn't.
start() { start_outside "$1" nsenter --net="$NETNS" "${@:2}"; }

start_outside() { # NAME COMMAND...: the same, in the machine's network
  local name=$1; shift
  setsid "$@" > "$STATE/log/$name.log" 2>&1 < /dev/null 9>&- 8>&- &
  echo "$! $(start_time $!)" > "$STATE/pids/$name"
  if [ -e "$DAEMONS/cgroup.procs" ]; then echo $! > "$DAEMONS/cgroup.procs"; fi
}

# What cgroups share out is the time of processors. $CONTAINERS: all containers of the machine; $DAEMONS: this cluster's.
if [ -e /sys/fs/cgroup/cpu/cpu.shares ]; then CPU_CGROUP=/sys/fs/cgroup/cpu CPU_WEIGHT=cpu.shares CPU_HEAVY=16384
else CPU_CGROUP=/sys/fs/cgroup CPU_WEIGHT=cpu.weight CPU_HEAVY=1600; fi
CONTAINERS=$CPU_CGROUP/k8s.io DAEMONS=$CPU_CGROUP/dynatrain-$NAME

# By default the containers together weigh as much as a single other process: one compiler beside the cluster would slow a
# training job to a third. And each daemon, being a session (sched_autogroup), weighs that much too, with all its threads:
# beside containers that weigh more, API server and kubelets would get what a busy training job leaves.
weigh() {
  local group
  for group in "$CONTAINERS" "$DAEMONS"; do
    mkdir -p "$group"; [ ! -e "$group/$CPU_WEIGHT" ] || echo "$CPU_HEAVY" > "$group/$CPU_WEIGHT"
  done
}

unweigh() { # once the daemons are dead; the kernel may still be about to forget them
  local deadline=$((SECONDS + 5))
  while [ -d "$DAEMONS" ] && ! rmdir "$DAEMONS" 2> /dev/null && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
}

recorded() { # PATTERN: names of the daemons that were started
  local file
  for file in "$STATE"/pids/$1; do [ ! -e "$file" ] || basename "$file"; done
}

living() { # NAME: its pid, if it is still the process that was started, and not dead and waiting to be reaped
  local pid began
  [ -e "$STATE/pids/$1" ] && read -r pid began < "$STATE/pids/$1" && [ "$(start_time "$pid")" = "$began" ] &&
    ! is_zombie "$pid" && echo "$pid"
}

stop() { # SIGNAL NAMES...: signal each daemon's process group, then wait until they are gone (5 s at most)
  local signal=$1 name pid groups=() deadline=$((SECONDS + 5)); shift
  for name in "$@"; do if pid=$(living "$name"); then groups+=("$pid"); fi; done
  [ ${#groups[@]} -gt 0 ] || return 0
  for pid in "${groups[@]}"; do kill "-$signal" -- "-$pid" 2> /dev/null || true; done
  for pid in "${groups[@]}"; do
    while [ -e "/proc/$pid" ] && ! is_zombie "$pid" && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
  done
}

is_zombie() { [ "$(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -c 1)" = Z ]; }

descendants() { # PIDS...: all processes below them
  local child
  [ $# -gt 0 ] || return 0
  for child in $(pgrep -P "$(IFS=,; echo "$*")" || true); do echo "$child"; descendants "$child"; done
}

# end_containers FOLDER/: kill the containers whose containerd has its socket below FOLDER, and their shims. A shim
# leaves its containerd's process group on purpose, so it is known by the address in its arguments.
end_containers() {
  local shims
  shims=$(pgrep -f "^/usr/bin/containerd-shim-runc-v2 .*-address $1" || true)
  [ -n "$shims" ] || return 0
  kill -KILL $(descendants $shims) 2> /dev/null || true
  kill -KILL $shims 2> /dev/null || true
  remove_cgroups "$1"
}

remove_cgroups() { # FOLDER/: of the containers whose shims kept their state below it
  local task id group deadline=$((SECONDS + 5))
  for task in "$1"*/run/io.containerd.runtime.v2.task/k8s.io/*/ "$1"run/io.containerd.runtime.v2.task/k8s.io/*/; do
    id=$(basename "$task")
    for group in /sys/fs/cgroup/*/k8s.io/"$id" /sys/fs/cgroup/k8s.io/"$id"; do
      while [ -d "$group" ] && ! rmdir "$group" 2> /dev/null && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
    done
  done
}

# wait_for SECONDS WHAT NAME COMMAND...: until the command succeeds. Gives up at once if the daemon NAME has died.
wait_for() {
  local limit=$1 what=$2 name=$3 deadline=$((SECONDS + $1)); shift 3
  until "$@" > /dev/null 2>&1; do
    living "$name" > /dev/null || { tail -n 15 "$STATE/log/$name.log" >&2; die "waiting for $what: $name has died; its log: $STATE/log/$name.log"; }
    [ $SECONDS -lt $deadline ] || { tail -n 15 "$STATE/log/$name.log" >&2; die "waited $limit s for $what; log: $STATE/log/$name.log"; }
    sleep 0.2
  done
}

unmount_below() { # FOLDER
  local mount
  for mount in $(awk -v folder="$1/" 'index($2, folder) == 1 {print $2}' /proc/mounts | sort -r); do umount -l "$mount"; done
}
