"""The rule for platforms that do not say which lines their configuration mode takes.

Such a mode may be a shell, or take the commands of the exec mode as well. So no line begins with what may be
a command of any platform, apart from a few nouns that begin configuration wherever they are known.
"""

import re
from collections.abc import Set

from netautod.transport.ssh.config_lines.characters import divided
from netautod.transport.ssh.config_lines.exec_verbs import EXEC_VERBS
from netautod.transport.ssh.config_lines.texts import Refused, quoted

_UNKNOWN = "the platform does not say which lines its configuration mode takes"
# Separators of commands, pipes and substitutions.
_SEPARATORS = (";", "|", "&", "`", "<", ">", "$(", "${")
# A word that no quote, path, assignment or sign makes another one; slashes only in slots and addresses.
_WORD = re.compile(r"[a-z][a-z0-9_.:-]*|[0-9][a-z0-9_.:/,-]*")
_COMMENTS = ("!", "#")

# First words of configuration that are, or begin like, commands somewhere.
NOUNS = frozenset(
    {
        "dhcp",
        "hostname",
        "int",
        "interface",
        "ip",
        "lacp",
        "lldp",
        "logging",
        "mpls",
        "mstp",
        "network",
        "ntp",
    }
    | {
        "no",
        "port",
        "qos",
        "rmon",
        "route-map",
        "route-target",
        "router",
        "router-id",
        "sntp",
        "tunnel",
        "undo",
    }
    | {"username", "vlan"}
)

# Commands of shells, and what starts another command.
_SHELL = """
apk apt ash awk base64 blockdev brew builtin busybox byobu capture cfdisk chattr chfn chgrp chpasswd
chroot chrt chsh command conda coproc cpio crontab csh dash dd debugfs declare dhclient dialog dnf doas
docker dpkg dracut ebtables ed elif else emacs env ethtool eval ex exim expect expr fdisk fi file fish
flock for function fuser fwupdate gawk gcc gdb git gpasswd groupadd groupdel hexdump hwclock iconv if
ifconfig ifdown ifup init insmod ionice ip6tables iperf iperf3 iptables irb java join jq kexec killall
killall5 ksh ld ldconfig ln losetup lua lxc make mapfile mawk mke2fs mkfifo mkfs mknod mkswap modprobe
ncat netcat netplan nft nice nload node nohup nsenter nsupdate nvram openssl opkg parted pip pip3
pivot_root pkexec pkg pkgutil pkill pm2 podman pppd printf pvremove raw readonly rescue resize2fs rmmod
rpm ruby run-parts runc runuser sch screen script sed select semanage setarch setenforce setpriv setsid
shopt shred shutdown sleep snap snapshot socat software split sqlite3 ssh-keygen stdbuf strace swapoff
swapon sysupgrade  telinit then time timedatectl timeout tmsh tmux trap tune2fs typeset ufw ulimit
umask unexpand unshare until unxz useradd userdel usermod vconfig vgremove vipw virsh visudo wall while
wipefs wpa_cli xz yum zcat zfs zpool zsh zypper
"""

# First words of the commands that the platforms which ship allow for reading.
_READING = """
aggregation agshow alarm aliasfind alishow apt-cache arch arp auditcfg bannershow birdc blade blkid brctl
bridge broadcast-containment cellctl cfgactvshow cfgshow cfgsize cfgtransshow cfm chassis chassisname
chassisshow chronyc cl-resource-query clagctl clog config configctl configshow configuration conntrack
cphaprob cpstat decode-syseeprom defzone df dmesg dmidecode dns-client dnsconfig dpkg-query du errdump
fabriclog fabricname fabricshow fanshow fcrfabricshow fcroutes fcrphydevshow fcrproxydevshow fdmishow
findmnt firewall-cmd firmwareshow flow freebsd-version fruinfoshow fspfshow fw fwaccel geom getconf
getenforce getent gpart groups hashow hostnamectl id ifmodeshow ifquery info interfaceshow iodshow iostat
ip-interface ip6tables-save ipaddrshow ipfilter ipset iptables-save islshow iw iwconfig iwlist journalctl
kldstat l1-show l2-cft last lastlog licenseshow lldpcli lldpctl locale localectl log loginctl lsb_release
lsblk lscfg lscpu lsdbshow lsipc lslocks lsmem lsmod lsns lsof lspci lsscsi lsusb lvdisplay lvs mapsdb
mapspolicy mca-cli-op mca-status mcast-filtering mdadm memshow mii-tool module mpstat mstpshow multipath
nbrstateshow ndp net networkctl nmcli nodefind nproc nsallshow nscamshow nsshow ntpq ntpstat numactl
numastat nv oam ogcli onie-sysinfo opnsense-version ovs-appctl ovs-dpctl ovs-ofctl ovs-vsctl pbt pciconf
pct pfctl pgrep pidof pm portaddress portbuffershow portcfgshow porterrshow portflagsshow portloginshow
portnameshow portrouteshow portshow portstats64show portstatsshow portthshow portzoneshow ps psshow
pstree pvdisplay pvecm pvesm pveversion pvs qm qos-flow queue-group reliabilitycountersshow resolvectl
ring-protection route rstp rtcshow sar secpolicyshow sensors sensorshow service sestatus sfpshow slotshow
slotstatsshow smartctl smonctl sockstat sonic-cfggen ss static-mac sub-port swapinfo swctrl switchname
switchshow switchstatuspolicyshow switchstatusshow switchuptime sys syslog syslogadmin systemd-resolve tc
teamdctl tempshow topologyshow traffic-profiling trunkshow tsclockserver tstimezone uname uptime
urouteshow user ver version vgdisplay vgs virtual-circuit virtual-switch vmstat vzlist w wg wlanconfig
wwn zone zoneshow
"""

_VERBS = EXEC_VERBS | frozenset(_SHELL.split()) | frozenset(_READING.split())


def check_unlisted(text: str, word: str, verbs: Set[str]) -> None:
    """Check the line with that first word; `verbs` are exec commands of the platform's own. Refused says what
    is wrong.
    """
    if text in _COMMENTS:
        return
    first = word.lower()
    if _WORD.fullmatch(first) is None:
        raise Refused(f"{quoted(word)} is no plain word, and {_UNKNOWN}")
    for verb in sorted((_VERBS if first not in NOUNS else frozenset()) | verbs):
        if _may_be(verb, first):
            raise Refused(f"{quoted(word)} may be the command {verb}, and {_UNKNOWN}")
    if found := divided(text, _SEPARATORS, ()):
        raise Refused(f"it has {found}, and {_UNKNOWN}")


def _may_be(verb: str, first: str) -> bool:
    """Return whether the word is the verb, abbreviates it, or begins with it.

    Two letters (`do`, `rm`) begin too many words; an abbreviation is never longer than its verb.
    """
    return verb.startswith(first) or (first.startswith(verb) and (len(verb) > 2 or not first[2:3].isalpha()))
