"""Importing a tool's module to look at its function."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import NamedTuple

from sovl_tools.loading.checks.module import ImportFailure, import_stalled
from sovl_tools.loading.failures import border_verdicts, own_place
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.limited import Stalled, within
from sovl_tools.loading.modules import generation_of
from sovl_tools.loading.sources import Snapshot
from sovl_tools.model.diagnostic import Verdict, ask
from sovl_tools.model.errors import InferenceError
from sovl_tools.scaffolding.account import Account, account_of
from sovl_tools.signature.from_function import from_function


class Look(NamedTuple):
    """What was found in a module.

    Attributes:
        interface: the function's signature, and the names of others.
        account: what the function says; None if it says nothing.
        reason: why it says nothing, although it is a function.
        verdicts: why the module could not be imported; empty if it could.
    """

    interface: Interface = Interface()
    account: Account | None = None
    reason: str = ""
    verdicts: tuple[Verdict, ...] = ()


def look(snapshot: Snapshot, *, limit: float) -> Look:
    """Import a folder's module, within so many seconds, and look at the tool's function.

    Raises:
        KeyboardInterrupt: the user's.
    """
    outcome = within(limit, lambda: _run(snapshot))
    if isinstance(outcome, Stalled):
        place = own_place(outcome.frame, snapshot.folder)
        failure = ImportFailure(place, "", f"was not done after {limit:g} s")
        return Look(verdicts=tuple(ask((import_stalled,), failure)))
    return outcome


def _run(snapshot: Snapshot) -> Look:
    """Look at the module in a thread of its own, where no user interrupts."""
    generation = generation_of(snapshot)
    try:
        return _looked_at(generation.run(), snapshot.folder.name)
    except BaseException as error:  # noqa: BLE001 - the border where a module's failures stop
        return Look(verdicts=tuple(border_verdicts(error, snapshot.folder)))
    finally:
        generation.release()


def _looked_at(module: ModuleType, name: str) -> Look:
    members = vars(module)
    functions = [key for key, value in members.items() if isinstance(value, FunctionType)]
    signature = from_function(members[name]) if name in members else None
    interface = Interface(signature, names=tuple(functions), function=members.get(name))
    if signature is None or signature.shape in {"class", "value"}:
        return Look(interface)
    try:
        return Look(interface, account_of(members[name]))
    except InferenceError as error:
        return Look(interface, reason=str(error))
