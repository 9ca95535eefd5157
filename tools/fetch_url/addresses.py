"""Which addresses are public, so that a fetch cannot be turned against the own network."""

import asyncio
import os
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

ALLOW_VARIABLE = "SOVL_TOOLS_ALLOW_PRIVATE"

Address = IPv4Address | IPv6Address

# After the registries of special-purpose addresses of IANA (RFC 6890 and its updates), written out
# because what `ipaddress` calls global differs between releases of Python.
_SPECIAL_V4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
]
# Everything else, such as mapped IPv4 (::ffff:0:0/96) and NAT64 (64:ff9b::/96), lies outside.
_UNICAST_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = [
    IPv6Network(network)
    for network in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
]


def is_public(address: Address) -> bool:
    """Return whether an address belongs to a host of the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    return address in _UNICAST_V6 and not any(address in network for network in _SPECIAL_V6)


async def resolve(host: str, port: int) -> list[str]:
    """Return a host's addresses; raise ValueError without any, or if one isn't public.

    The environment variable SOVL_TOOLS_ALLOW_PRIVATE=1 permits all addresses.
    """
    addresses = await _look_up(host, port)
    if os.environ.get(ALLOW_VARIABLE) == "1":
        return addresses
    if not all(is_public(ip_address(address)) for address in addresses):
        raise ValueError(
            f"{host!r} leads to an address that is not public, which may not be fetched"
        )
    return addresses


async def _look_up(host: str, port: int) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ValueError(f"there's no host {host!r}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
