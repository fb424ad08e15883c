"""Model files of other libraries, recognised by what they hold; reading one runs no code of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from localmdi.adapters.fields import read_file, read_json
from localmdi.exceptions import FileFormatError

if TYPE_CHECKING:
    import os

    from localmdi.forest import Forest

# After the brace that opens an object, UBJSON has the type of a length or of a container.
_UBJSON_SECOND = b"iUIlL$#}"
# Bytes that tell the format, spaces before a brace included.
_ENOUGH = 256


def load_model_file(path: str | os.PathLike[str]) -> Forest:
    """Read a model that LightGBM, XGBoost, CatBoost, ydf or Spark ML saved.

    Parameters
    ----------
    path : str or path-like
        LightGBM's text, XGBoost's JSON or UBJSON, CatBoost's JSON or (with CatBoost installed)
        .cbm, or a directory of ydf (with ydf installed) or of Spark ML (with pyarrow, without
        Spark or Java).

    Returns
    -------
    Forest

    Raises
    ------
    FileFormatError, InvalidForestError
        The file is damaged or something else.
    UnsupportedModelError
        Its trees cannot be routed; the message says why.
    """
    place = Path(path)
    if place.is_dir() and (place / "metadata").is_dir():
        from localmdi.adapters.spark_ml import read_spark_directory

        return read_spark_directory(place)
    if place.is_dir():
        from localmdi.adapters.ydf import read_ydf_directory

        return read_ydf_directory(place)
    content = read_file(place)
    form = _recognise(content)
    if form == "LightGBM":
        from localmdi.adapters.lightgbm import read_lightgbm_text

        return read_lightgbm_text(place)
    if form == "cbm":
        from localmdi.adapters.catboost import read_catboost_cbm

        return read_catboost_cbm(place)
    if form == "UBJSON":
        from localmdi.adapters.xgboost import read_xgboost_ubj

        return read_xgboost_ubj(place)
    if form == "JSON":
        return _read_json_model(content)
    raise FileFormatError(
        f"{place.name!r} is no model of LightGBM, XGBoost, CatBoost, ydf or Spark ML. Save the "
        "model with its own save_model."
    )


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins as one of these libraries' do; every directory may be one."""
    place = Path(path)
    if place.is_dir():
        return True
    with open(place, "rb") as file:
        return _recognise(file.read(_ENOUGH)) is not None


def _recognise(content: bytes) -> Literal["LightGBM", "cbm", "UBJSON", "JSON"] | None:
    """Return the format of a file, by its first bytes."""
    if content.startswith(b"tree"):
        return "LightGBM"
    if content.startswith(b"CBM1"):
        return "cbm"
    if content[:1] == b"{" and content[1:2] and content[1] in _UBJSON_SECOND:
        return "UBJSON"
    return "JSON" if content.lstrip()[:1] == b"{" else None


def _read_json_model(content: bytes) -> Forest:
    document = read_json(content, library="XGBoost or CatBoost")
    if "features_info" in document:
        from localmdi.adapters.catboost import parse_catboost

        return parse_catboost(document)
    from localmdi.adapters.xgboost import parse_xgboost

    return parse_xgboost(document)
