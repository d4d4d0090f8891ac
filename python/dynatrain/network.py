"""Which network interface gloo has to use: the one with the pod's address."""

from __future__ import annotations

import fcntl
import os
import socket
import struct

_SIOCGIFADDR = 0x8915


def interface_of(address: str) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                reply = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
            except OSError:
                continue  # no IPv4 address
            if socket.inet_ntoa(reply[20:24]) == address:
                return name
    return None


def choose_interface() -> None:
    """Sets GLOO_SOCKET_IFNAME, unless the user has."""
    address = os.environ.get("DYNATRAIN_POD_IP", "")
    if "GLOO_SOCKET_IFNAME" in os.environ or not address:
        return
    if address.startswith("127."):
        address = "127.0.0.1"
    if (name := interface_of(address)) is not None:
        os.environ["GLOO_SOCKET_IFNAME"] = name
