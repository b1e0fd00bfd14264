"""Map the flat folders of this repository to ``contractlog.<folder>``; everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = "contractlog"
PARTS = ("clients", "compatibility", "contracts", "migrations", "registry", "serdes", "spark_validation")


class BuildWithRoot(build_py):
    """Write the root ``__init__.py`` into the wheel, so the wheel also imports as a zip."""

    def run(self) -> None:
        """Build as usual, then add the root package that the tree does not have."""
        super().run()
        if not self.editable_mode:
            root = Path(self.build_lib, ROOT)
            root.mkdir(parents=True, exist_ok=True)
            (root / "__init__.py").write_text('"""The import root."""\n')


setup(
    cmdclass={"build_py": BuildWithRoot},
    package_dir={f"{ROOT}.{part}": part for part in PARTS},
    packages=[f"{ROOT}.{part}" for part in PARTS]
    + [f"{ROOT}.{part}.{sub}" for part in PARTS for sub in find_packages(part)],
    package_data={
        f"{ROOT}.{part}": ["py.typed", "**/*.mako", "**/*.html", "**/*.css", "**/*.js", "**/*.svg", "**/*.json"]
        for part in PARTS
    },
)
