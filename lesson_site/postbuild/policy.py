"""The Content-Security-Policy: what the browser may run and fetch, written into each page.

Every page carries the hashes of the inline scripts of *all* pages, since Material's instant
navigation runs the next page's scripts under the first page's policy.
"""

import base64
import hashlib
import re

from lesson_site.postbuild.documents import Document

EXISTING = re.compile(r'\n?<meta http-equiv="Content-Security-Policy" content="[^"]*">')
# Firefox fetches that page beforehand, unasked; it asks the policy first, which says no aloud.
NEXT = re.compile(r"""[ \t]*<link rel=["']?next["']?(?=[ >])[^>]*>\n?""")
CHARSET = re.compile(r"""<meta charset=["']?utf-8["']?>""", re.IGNORECASE)


def policy_of(documents: list[Document]) -> str:
    """The policy for all pages together."""
    scripts = sorted({_hash(text) for page in documents for text in page.inline_scripts})
    return "; ".join(
        [
            "default-src 'none'",
            # WebAssembly, since Python in the page runs under this policy as well.
            " ".join(["script-src 'self' 'wasm-unsafe-eval'", *scripts]),
            "style-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def with_policy(html: str, policy: str) -> str:
    """The page with the policy right after its charset, in place of an older one.

    Without what it would stop: the theme's hint to fetch the next page.
    """
    tag = f'\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    head, end, rest = html.partition("</head>")
    bare = NEXT.sub("", EXISTING.sub("", head))
    return CHARSET.sub(lambda charset: charset[0] + tag, bare, count=1) + end + rest


def policy_problems(page: Document) -> list[str]:
    """What the policy would stop on this page."""
    problems = []
    if not CHARSET.search(page.html):
        problems.append('it has no <meta charset="utf-8">; the policy goes right behind it')
    if page.inline_styles:
        which = page.inline_styles[0]
        problems.append(f"{which} carries a style, which the policy stops; give it a class instead")
    if page.handlers:
        problems.append(
            f"{page.handlers[0]} carries a script in an attribute, which the policy stops; "
            "listen for the event in docs/assets"
        )
    if page.data_scripts_in_content:
        problems.append(
            "its content holds a data script, which instant navigation runs as code; "
            "put the data into a data- attribute"
        )
    return [f"{page.path}: {problem}" for problem in problems]


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
