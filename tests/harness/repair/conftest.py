"""The sandbox that repairs run in."""

from tests.harness.workspace.conftest import sandbox as sandbox
