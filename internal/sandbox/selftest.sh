# Tries what must not work inside, with builtins of bash only, and prints
# "key=value" lines. Arguments: the secret in two halves (so that this
# script's own arguments do not contain it), a control value that is in this
# process's own environment, the process id of the decoy, a file outside, a
# read-only and a writable directory, something in the operator's home or "",
# the port of a listener of the host, a line for each variable of toolchains.
secret=$1$2 control=$3 decoy=$4 outside=$5 readonly=$6 writable=$7 home=$8 port=$9 toolchains=${10}

environ=no seen=no found=no
for p in /proc/[0-9]*; do
	while IFS= read -r -d '' v; do
		case $v in *"$secret"*) environ=$p ;; *"$control"*) found=yes ;; esac
	done <"$p/environ"
	while IFS= read -r -d '' v; do
		case $v in *"$secret"*) seen=$p ;; esac
	done <"$p/cmdline"
done 2>/dev/null
echo "environ=$environ"
echo "control=$found"
echo "decoy=$seen"

v=empty
IFS= read -r -d '' v 2>/dev/null </proc/1/environ && [ -n "$v" ] || v=empty
echo "init_environ=$v"

# Low numbers may be processes of the sandbox itself.
[ "$decoy" -gt 32 ] && kill -9 "$decoy" 2>/dev/null

if { IFS= read -r v <"$outside"; } 2>/dev/null; then echo outside=read; else echo outside=no; fi
if { echo x >"$readonly/canary"; } 2>/dev/null; then echo write=yes; else echo write=no; fi
{ echo x >"$writable/canary"; } 2>/dev/null
if [ -z "$home" ]; then echo home=skipped; elif [ -e "$home" ]; then echo home=seen; else echo home=no; fi

# The sandbox's own loopback refuses; without one it would be unreachable.
e=$( { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>&1 && echo connected)
case $e in *refused*) echo net=refused ;; *) echo "net=${e//$'\n'/ }" ;; esac

IFS= read -r v </proc/self/uid_map
echo "uid_map=$v"
# In one piece: line by line bash seeks back, in a file that is made anew then.
IFS= read -r -d '' v </proc/self/status
k=${v#*CapEff:?} && echo "caps=${k%%$'\n'*}"
k=${v#*NoNewPrivs:?} && echo "nnp=${k%%$'\n'*}"

extra=
while IFS= read -r -d '' v; do
	case ${v%%=*} in
	PATH | HOME | TMPDIR | LANG | TERM | CI | USER | LOGNAME | TZ | PWD | CANARY_CONTROL) ;;
	*) case $'\n'$toolchains in *$'\n'"$v"$'\n'*) ;; *) extra="$extra ${v%%=*}" ;; esac ;;
	esac
done <"/proc/$$/environ"
echo "variables=${extra# }"

extra=
for f in /proc/$$/fd/*; do
	case ${f##*/} in 0 | 1 | 2) ;; *) [ -e "$f" ] && extra="$extra ${f##*/}" ;; esac
done
echo "files=${extra# }"

# Only what leads to mounted paths may be there, and the hidden files of no one.
shopt -s nullglob dotglob
extra=empty
for f in "$HOME"/* "$TMPDIR"/*; do
	case $readonly/ in "$f"/*) continue ;; esac
	case $extra in empty) extra=$f ;; esac
done
echo "scratch=$extra"

if [ ! -x /usr/bin/unshare ]; then
	echo userns=untried
elif /usr/bin/unshare --user /bin/true 2>/dev/null; then
	echo userns=yes
else
	echo userns=no
fi
echo "done=yes"
