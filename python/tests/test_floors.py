"""The modules of the package stand in floors: each imports those of its own and of lower ones, and none imports itself by way of others."""

import ast
from pathlib import Path

import foretell

HOME = Path(__file__).parents[1] / "foretell"
if not HOME.exists():
    HOME = Path(foretell.__file__).parent

#: From the ground up. A name that ends with a point stands for all modules of a package.
FLOORS = {
    "types": "_foretell errors _calls _numbers _overridden _frequencies _registering tune common. losses. "
             "_airline _calendar _generate _intervals _simulation _told utils",
    "tables": "_parts _ray_data _fugue _workers _arrow_texts _frames _ids _checks _missing _summing _scaling _data _truth _windows tsdataset",
    "models": "_trainer _alone _model models. _registry auto. common._base_auto",
    "engine": "_engine _files _ahead _levels _explanations",
    "forecasts": "_prepared _distributed _by_turns _trained core",
    "public": ". evaluation forecasting hierarchy features reporting estimator migrate",
}  # fmt: skip


def modules():
    """The files of the package by their modules, named from the package on; it is called ``.``."""
    found = {"_foretell": None}
    for path in HOME.rglob("*.py"):
        parts = path.relative_to(HOME).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name or "."] = path
    return found


def imported(path, known):
    """The modules that a file imports when it runs, also within functions; those for type checkers alone do not count."""
    found = set()

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.ImportFrom) and (child.module or "").split(".")[0] == "foretell":
                home = child.module.removeprefix("foretell").removeprefix(".")
                names = [f"{home}.{alias.name}".removeprefix(".") for alias in child.names]
                found.update(name if name in known else home or "." for name in names)
            if isinstance(child, ast.Import):
                found.update(alias.name.removeprefix("foretell.") for alias in child.names if alias.name.startswith("foretell."))
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


def floor_of(module):
    """The number of a module's floor: that of its own name, else of its package's."""
    names = [name.split() for name in FLOORS.values()]
    for wanted in (module, f"{module.split('.')[0]}."):
        for floor, listed in enumerate(names):
            if wanted in listed:
                return floor
    raise AssertionError(f"{module} stands on no floor: add it to FLOORS")


def circles(graph):
    """The modules that import themselves, by way of others."""
    found = []
    for start in graph:
        seen, left = set(), list(graph[start])
        while left:
            if (module := left.pop()) not in seen:
                seen.add(module)
                left.extend(graph[module])
        if start in seen:
            found.append(start)
    return found


def test_modules_import_their_own_floor_and_those_below():
    known = modules()
    graph = {name: imported(path, known) if path else set() for name, path in known.items()}
    names = list(FLOORS)
    upwards = [
        f"{name} ({names[floor_of(name)]}) imports {other} ({names[floor_of(other)]})"
        for name, others in graph.items()
        for other in others
        if floor_of(other) > floor_of(name)
    ]
    assert upwards == []
    assert circles(graph) == []


def test_what_is_checked_would_be_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from foretell.core import x\ndef f():\n    from foretell import _data\n")
    assert imported(file, modules()) == {"_data"}
    assert floor_of("models.linear") == floor_of("models") == 2 and floor_of("common._base_auto") > floor_of("common.enums")
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
