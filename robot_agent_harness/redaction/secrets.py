# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which names are those of secrets: by how they read, or because a skill declares them so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Any, get_args

from pydantic import BaseModel, SecretBytes, SecretStr

REDACTED = '[redacted]'

SECRET_STEMS = (
    'accesskey', 'accountkey', 'apikey', 'authcode', 'authheader', 'authkey', 'authorization',
    'bearer', 'credential', 'dbpass', 'encryptionkey', 'hmackey', 'masterkey', 'otpcode',
    'passcode', 'passkey', 'passphrase', 'passwd', 'password', 'passwort', 'pincode', 'privatekey',
    'secret', 'sessionkey', 'sharedkey', 'signingkey', 'sshkey', 'userpass', 'wifikey', 'wifipass',
)  # fmt: skip
"""What makes a key secret wherever it stands in it; case, `_`, `-`, `.` and spaces do not
count."""
SECRET_ENDINGS = (
    'auth', 'cookie', 'cookies', 'jwt', 'pwd', 'pwds', 'sessionid', 'token', 'tokens',
)  # fmt: skip
"""What makes a key secret at its end: `access_token` is one, `token_count` is none."""
SECRET_SUFFIXES = ('string', 'value')
"""What such an end may have behind it, beside a number: `token_value`, `token2`."""
SECRET_WORDS = ('dsn', 'otp', 'pass', 'pin', 'psk', 'pw', 'totp')
"""What makes a key secret as its last word: `door_pin` and `userPin` are, `spin` is none. They
have other meanings as well (pin 17 of a board, the second pass): see `SHORTEST_OF_WORDS`."""
CIPHERS = ('aes', 'des', 'dsa', 'ecdh', 'ecdsa', 'hmac', 'rsa')
"""What makes a key secret with `key` or `keys` behind it, numbers and separators not counted, and
a suffix as above: `aes_key`, `aes256Key`. As words, since `nodes_key` ends in `des_key`."""
SHORTEST_OF_WORDS = 4
"""Characters, or digits, that what stands under one of these words has at least, if it is taken
for a secret."""
SECRET_PARAMETERS = ('key', 'sig', 'signature')
"""Query parameters of a URL that are secret beside those."""

_HINTS = (
    '://', 'auth', 'basic', 'bearer', 'cookie', 'credential', 'curl', 'dsn', 'jwt', 'key', 'otp',
    'pass', 'pin', 'psk', 'pw', 'secret', 'session-id', 'session_id', 'sessionid', 'sk-', 'token',
    '\\u212a',
)  # fmt: skip
"""The last is the Kelvin sign as JSON writes it, whose small letter is k."""
_NOT_KEY = re.compile(r'[^a-z0-9]')
_END = re.compile(rf'(?:{"|".join(SECRET_SUFFIXES)}|[0-9])+\Z')
_WORD_BEGINS = r'(?:^|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))'
_LAST_WORD = re.compile(rf'{_WORD_BEGINS}(?i:{"|".join(SECRET_WORDS)})[^A-Za-z]*\Z')
_CIPHER_KEY = re.compile(
    rf'{_WORD_BEGINS}(?i:(?:{"|".join(CIPHERS)})[^A-Za-z]*keys?'
    rf'(?:{"|".join(SECRET_SUFFIXES)}|[^A-Za-z])*)\Z'
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a skill's parameter: `pin: Annotated[str, Secret()]`. Its value reaches the skill and
    nothing else.
    """


@lru_cache(maxsize=4096)
def is_secret_key(key: str) -> bool:
    """Whether what stands under such a key is a secret."""
    return _surely_secret(key) or _LAST_WORD.search(key) is not None


def is_secret_under(key: str, value: Any) -> bool:
    """Whether a value that stands under a key is a secret."""
    if not is_secret_key(key):
        return False
    plain = isinstance(value, (str, int, float))
    return not plain or len(text_of(value)) >= SHORTEST_OF_WORDS or _surely_secret(key)


def text_of(value: str | int | float) -> str:
    """Return a text as it is, and a number in decimal; Python refuses that to the largest ones."""
    try:
        return str(value)
    except ValueError:
        return hex(int(value))


def hinted(text: str) -> bool:
    """Whether anything in a text may look like a secret; cheap, and False for nearly all."""
    low = text.lower()
    return any(hint in low for hint in _HINTS)


@lru_cache(maxsize=4096)
def _surely_secret(key: str) -> bool:
    plain = _NOT_KEY.sub('', key.lower())
    if _END.sub('', plain).endswith(SECRET_ENDINGS):
        return True
    if 'secretar' not in plain and any(stem in plain for stem in SECRET_STEMS):
        return True
    return _CIPHER_KEY.search(key) is not None


def declared_secrets(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of a model's fields that are marked secret, at any depth."""
    names: set[str] = set()
    seen: set[type[BaseModel]] = set()
    todo = [model]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for name, info in current.model_fields.items():
            parts = list(_parts(info.annotation))
            marks = [*info.metadata, *parts]
            if any(isinstance(m, Secret) or m in (Secret, SecretStr, SecretBytes) for m in marks):
                names |= {name, info.alias or name}
            todo += [p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)]
    return frozenset(names)


def _parts(annotation: Any) -> Iterable[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)
