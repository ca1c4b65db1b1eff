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


def security_policy(scripts: Sequence[str], styles: str) -> str:
    """Write a content-security policy: these scripts and styles alone, pictures are data, nothing is loaded or sent."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_digest, scripts))}",
            f"style-src {_digest(styles)}",
            "img-src data:",
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
