"""Scripts and styles inside the page, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence

_CLOSES = re.compile(r"</script|<!--", re.IGNORECASE)


def inline_script(code: str) -> str:
    """Give a script as it may be between tags, with line ends as a browser reads them."""
    text = code.replace("\r\n", "\n").replace("\r", "\n")
    if _CLOSES.search(text):
        raise ValueError("the script holds </script or <!--, which would end it in a page")
    return text


def security_policy(scripts: Sequence[str]) -> str:
    """Write a content-security policy: only these scripts run, pictures are data, nothing is loaded or sent.

    Styles may be in the page, for plotly writes its own there; pictures may be blobs, of which it makes PNGs.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {hashes}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
