"""The documents of commands about this machine."""

from misstep.doctor.plugins import Plugin
from misstep_harness.repair.failure_bot.reproduce import ProjectTrial
from misstep_harness.workspace.capabilities import SandboxReport
from scripts.schemas.forms import Form, fields_of

DOCUMENTS: dict[str, Form] = {
    "doctor": ({**fields_of(SandboxReport), "plugins": [Plugin]}, ProjectTrial),
}
