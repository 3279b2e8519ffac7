#!/usr/bin/env python3
"""Compares the C call for a valid cached token with a mutex, a clock and a memcpy; with liboidc-agent; and with a
token for another audience."""

import subprocess

from agent import ACCOUNT, Agent, is_installed
from measure import absent, program


def has_library():
    """Whether a program can be linked against liboidc-agent."""
    done = subprocess.run(
        ["cc", "-E", "-x", "c", "-"], input=b"#include <oidc-agent/api.h>\n", capture_output=True)
    return done.returncode == 0


def main():
    subprocess.run([program("token_copy", "token_copy.c", "../../faces/CTests/provider.c")], check=True)
    if not (is_installed() and has_library()):
        absent("valid cached token by C, how many times faster")
        return
    peer = program("oidc_agent", "oidc_agent.c", "../../faces/CTests/provider.c", libraries=["-loidc-agent"])
    agent = Agent().add_account()
    subprocess.run([peer, ACCOUNT], env=agent.environment, check=True)


if __name__ == "__main__":
    main()
