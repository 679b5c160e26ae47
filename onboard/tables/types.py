"""Words that the control stack's tables are written in: ranges of numbers, tables whose keys are all known."""

from typing import Annotated

import msgspec
from msgspec import Meta

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
NotNegative = Annotated[float, Meta(ge=0, le=1e6)]
Length = Annotated[float, Meta(ge=1e-4, le=1e4)]
Physical = Annotated[float, Meta(ge=1e-9, le=1e6)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    pass
