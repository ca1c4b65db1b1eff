"""Tables for pandas, which segbench does not install by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd


def data_frame(
    rows: Sequence[Mapping[str, Any]], index: str, names: Sequence[str], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Give one row per name, under an index of this name, empty for none."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ArgumentError("to_dataframe takes pandas, which is not installed: pip install pandas") from error
    return pd.DataFrame(list(map(dict, rows)), pd.Index(list(names), name=index or None), columns)
