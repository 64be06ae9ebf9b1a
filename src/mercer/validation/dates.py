"""Dates and times where numbers are needed."""


def refuse_dates(owner: str, name: str, X: object) -> None:
    """Refuse dates and times, which NumPy would read as counts of their unit; of a data frame, name the column."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # of pandas or polars
        for column, dtype in zip(X.columns, X.dtypes, strict=True):
            if is_date(dtype):
                raise dates_refused(owner, name, f" in column {column!r} ({dtype})")
    else:
        dtype = getattr(X, "dtype", None)
        if is_date(dtype):
            raise dates_refused(owner, name, f" ({dtype})")


def dates_refused(owner: str, name: str, where: str) -> ValueError:
    """Return the error of dates where numbers are needed."""
    return ValueError(
        f"{owner}: {name} holds dates or times{where}; it must hold numbers. Convert them to numbers of a unit of your "
        "choice: (dates - dates.min()) / np.timedelta64(1, 'D') are days. Or leave them out."
    )


def is_date(dtype: object) -> bool:
    """Return whether a type of NumPy, pandas or polars is one of dates, times or durations."""
    return getattr(dtype, "kind", "") in ("m", "M") or (hasattr(dtype, "is_temporal") and bool(dtype.is_temporal()))
