"""The command line of a Cisco IOS switch, the script of a simulated device that is given no other."""

from netautod.testing.cli_script import CliScript, ModeChange, PagerScript, ScriptedCommand


def ios_script() -> CliScript:
    """Prompts, enable dialog, pager and refusals as a Catalyst 2960 shows them."""
    return CliScript(
        prompts={"exec": "{host}>", "privileged": "{host}#", "config": "{host}(config)#"},
        mode="privileged",
        unprivileged="exec",
        changes=(
            ModeChange(
                command="enable",
                to="privileged",
                modes=("exec",),
                password_prompt="Password: ",
                refusal="% Bad secrets\n\n",
            ),
            ModeChange(command="enable", to="privileged", modes=("privileged",)),
            ModeChange(command="disable", to="exec"),
            ModeChange(
                command=r"conf(ig(ure)?)? t(erminal)?",
                to="config",
                modes=("privileged",),
                output="Enter configuration commands, one per line.  End with CNTL/Z.\n",
            ),
            ModeChange(command="end|exit", to="privileged", modes=("config",)),
        ),
        commands=(
            ScriptedCommand(command=r"sho?w? run(ning-config)?", modes=("privileged",)),
            ScriptedCommand(
                command="show version",
                output="Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E3, "
                "RELEASE SOFTWARE\n",
            ),
        ),
        ignored=(r"terminal width \d+",),
        unknown="% Invalid input detected at '^' marker.\n\n",
        drifting=r"^ntp clock-period (\d+)",
        log_line="*Nov 21 06:45:01.123: %LINK-3-UPDOWN: Interface Gi1/0/7, changed state to up\n",
        pager=PagerScript(
            text=" --More-- ",
            # The cursor is back in the first column before the next line is printed.
            erase="\b" * 9 + " " * 8 + "\b" * 9,
            off=(r"terminal length (\d+)",),
        ),
    )
