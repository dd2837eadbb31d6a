"""The first words of exec commands, on any platform.

Where a platform says which lines its configuration mode takes, these only decide which abbreviations of them
are unclear; where it does not say so, they are refused.
"""

# Words that lead from the configuration mode to the exec commands, or out of it.
LEAVING = frozenset({"do", "do-exec", "run", "end", "return", "abort", "commit", "rollback"})

# Words of configuration that have the device run commands: later, or in the place of others.
INTERPRETERS = frozenset(
    {"alias", "assistant", "cli", "cli-policy", "command-alias", "daemon", "event", "event-handler", "hotkey"}
    | {"job", "kron", "macro", "menu", "ops", "rtm", "scheduler", "trigger"}
)

# Words that store the running configuration.
STORING = frozenset({"copy", "commit", "save", "write"})

_OTHERS = """
activate active admin agent append archive arping attach attrib authorize auto-config backup bash batch beep
blink boot boot-loader bootrom calendar cat cd cfg changeto check checkpoint chmod chown clean clear clock
compact configure connect console count cp crashinfo crypto cscli curl date debug decode decrypt delete deploy
diagnose diagnostic diagnostics diff dig dir disable disconnect display dnslookup downgrade download dump
echo edit eject enable encrypt erase ethanalyzer examine exec execute export factory-default factory-reset
failover fallback fastboot fetch find firmware fixdisk flash force format free fsck ftp generate get getmib
grep guestshell gunzip gzip halt head help history hw-module import initialize install issu kill kubectl
language-mode less license link-test list load locate lock logger login logoff logout ls maintenance manage
md5sum mkdir monitor more mount mount-flash move mput mrinfo mstat mtr mtrace mv nano nc ncclient netstat
nslookup offline online packet-capture packet-tracer page partition passwd patch perform perl ping play
power-off power-on poweroff print probe process prompt-timeout pstack purge pwd pyshell python python3
quit-session reboot recall recover redirect redo redundancy-switchover refresh release reload remove rename
renew repeat replace request resend reset restart restore resume revert rlogin rm rmdir rommon root-shell
rsh rsync schedule scp screen-length self-test send service-module session set setenv setmib setup sftp sh
shell show shun slot source squeeze ssh start startup stat stop stty su sudo sudoedit super support
switchback switchover switchto sync sync-peer synchronize sysctl system systemctl tac-pac tail tar tclquit
tclsh tcpdump tdr tech-support tee telnet terminal test tftp top touch trace traceroute tracert tshark umount
undebug undelete unlock unmount unset unzip update upgrade upload user-shell utility validate verify vi view
vim vsh walkmib watch wget which who whoami wipe xargs xmodem zeroize zerotouch zip ztp
"""

EXEC_VERBS = LEAVING | INTERPRETERS | STORING | frozenset(_OTHERS.split())
