"""From an annotation to its schema.

=================================  ============================================================
annotation                         schema
=================================  ============================================================
str, int, float, bool, None        ``{"type": …}``
Any, object                        ``{}``
list, Sequence, Iterable, …        ``array``, of ``items`` where they are known
set, frozenset                     the same with ``uniqueItems``
tuple                              ``array``; of a fixed length with ``prefixItems``
dict, Mapping, …                   ``object`` of ``additionalProperties``; ``propertyNames``
                                   where the keys are no plain text
Union                              ``anyOf``
Literal, Enum                      ``enum``, of the type or types of its values
Flag                               an integer up to the sum of the members
datetime, date, time, UUID, …      ``string`` of a ``format``
timedelta, Decimal, Fraction       a number or text
bytes                              text
dataclass, NamedTuple, TypedDict   ``object`` of ``properties``
pydantic                           what pydantic says
=================================  ============================================================

Annotated, NewType, TypeVar and aliases are what they stand for. What a schema admits is what
the arguments of a call are converted from.
"""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union

from sovl_tools.authoring.annotated import annotated
from sovl_tools.authoring.choices import enumeration, literal
from sovl_tools.authoring.containers import ARRAYS, OBJECTS, array, fixed_array, mapping
from sovl_tools.authoring.definitions import Definitions
from sovl_tools.authoring.form import Builder, Form, InexpressibleError, UnwritableError, native
from sovl_tools.authoring.hints import names_in, resolved, substituted
from sovl_tools.authoring.instances import instance, typed_dict
from sovl_tools.authoring.pydantic_types import is_model, model
from sovl_tools.authoring.scalars import json_scalar, scalar
from sovl_tools.model.document import JSON
from sovl_tools.model.interface import Annotation
