"""Changes of the choices that results depend on."""

import dataclasses
from typing import Any

import csdl_keras as csdl


def other_value(value: Any) -> Any:
    """Another value of the same type, which is allowed where that one is."""
    others = {"adam": "sgd", "sgd": "adam", "quick": "full", "costs": "errors", None: 3}
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value / 2
    if isinstance(value, tuple):
        return (*value, 7)
    if value in others:
        return others[value]
    raise AssertionError(f"another value than {value!r} is needed here")


def setting_names(settings: csdl.Settings) -> dict[str, Any]:
    """All choices by the names that `replace` takes."""
    found = {}
    for field in dataclasses.fields(settings):
        part = getattr(settings, field.name)
        if dataclasses.is_dataclass(part):
            found |= {
                f"{field.name}.{it.name}": getattr(part, it.name) for it in dataclasses.fields(part)
            }
        else:
            found[field.name] = part
    return found


def setting_changes(settings: csdl.Settings) -> dict[str, csdl.Settings]:
    """By name of a choice, settings with another value of it."""
    others = {name: other_value(value) for name, value in setting_names(settings).items()}
    others |= {name: "balanced" for name in others if name.endswith(".effort")}
    others["auto.filters"] = (8, 16)
    return {name: settings.replace({name: value}) for name, value in others.items()}
