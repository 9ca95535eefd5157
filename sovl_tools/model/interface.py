"""What a step handler is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

StepHandler: TypeAlias = Callable[[Mapping[str, Any], Any], Any]
"""``handler(step, context)``, sync or async; what it returns is the step's result."""
