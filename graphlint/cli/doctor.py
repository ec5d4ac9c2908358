"""`graphlint doctor`."""

from __future__ import annotations

import json
import sys
from typing import List, Optional

import click

from graphlint.errors import WorkError
from graphlint.report.style import Style, wants_color
from graphlint.verify import devices
from graphlint.verify.devices import Check
from graphlint.verify.run import Request, open_pool, parse_devices, preflight


@click.command()
@click.option("--device", metavar="N[,N]", help="Ascend device numbers to look for.")
@click.option("--device-target", type=click.Choice(["Ascend", "CPU", "GPU"], case_sensitive=False))
@click.option("--python", metavar="PATH", help="The interpreter that has MindSpore (default: this one).")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to print (text)."
)
def doctor(
    device: Optional[str], device_target: Optional[str], python: Optional[str], output_format: str
) -> int:
    """Say what this machine can verify: MindSpore, NumPy, CANN, driver, devices.

    Exit code: 0 ready, 3 something that `verify` needs is missing.
    """
    target, numbers = parse_devices(device, device_target)
    request = Request(python=python or sys.executable, target=target, numbers=numbers, jobs=1, resident=False)
    checks: List[Check]
    try:
        with open_pool(request) as pool:
            checks = preflight(request, pool.info)
            package, version = str(pool.info["package"]), str(pool.info["mindspore"])
    except WorkError as error:
        checks, package, version = [Check("MindSpore", devices.ERROR, str(error))], "", ""
    if target != "Ascend" and package:
        checks += _about_ascend(package, version)
    if output_format == "json":
        click.echo(
            json.dumps({"checks": [check.as_data() for check in checks]}, ensure_ascii=False, indent=2)
        )
    else:
        style = Style(wants_color(sys.stdout))
        marks = {devices.OK: "ok", devices.WARNING: "warning", devices.ERROR: "error"}
        for check in checks:
            severity = "info" if check.status == devices.OK else check.status
            click.echo(
                f"{style.severity(severity, marks[check.status]):<8} {check.what}: {check.found}", color=True
            )
    return 3 if any(check.status == devices.ERROR for check in checks) else 0


def _about_ascend(package: str, version: str) -> List[Check]:
    """What there is of Ascend, as information: nobody asked for it."""
    found = devices.preflight_ascend((), package, version)
    return [Check(f"Ascend: {check.what}", devices.OK, check.found) for check in found]
