# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Secrets (K37): the tool gets them as they are, and nothing that is kept or shown holds one."""

from __future__ import annotations

import base64
from collections.abc import Callable
import gc
import json
import logging
from pathlib import Path
import re
import tempfile
import time
from typing import Annotated, Any
from urllib.parse import quote, quote_plus

from hypothesis import given, settings
from hypothesis import strategies as st
from journal_rig import content
from pydantic import BaseModel, ConfigDict, SecretStr
import pytest

from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason
from robot_agent_harness.events import (
    Correlation,
    EVENT_MODELS,
    EventType,
    ModelResponseRecorded,
    SalientEvent,
    ToolCallRecorded,
)
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.records import exact_text, MAX_PAYLOAD_CHARS, payload_text
from robot_agent_harness.jsonable import canonical_json, jsonable
from robot_agent_harness.llm.client import Decision, ModelRequest, ToolCall
from robot_agent_harness.redaction import (
    CIPHERS,
    declared_secrets,
    ENVIRONMENT_KEYS,
    is_secret_key,
    REDACTED,
    RedactingFilter,
    Redactor,
    Secret,
    SECRET_ENDINGS,
    SECRET_PARAMETERS,
    SECRET_STEMS,
    SECRET_WORDS,
    shared_redactor,
    SUBSTRING_CHARS_MIN,
    VALUES_MAX,
    WORD_CHARS_MIN,
)
from robot_agent_harness.redaction.walk import VOCABULARY
from robot_agent_harness.skills import registry
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext, SkillError
from robot_agent_harness.testing import Bench, check_journal, run_virtual

logger = logging.getLogger('robot_agent_harness.test_redaction')
PIN = '4711'
NO_CARD = SecretStr('none')
GIVEN: list[dict[str, Any]] = []
"""What the skills of this file were called with."""


class _Login(BaseModel):
    model_config = ConfigDict(extra='forbid')
    user: str
    pin: Annotated[str, Secret()]


@skill(output=CallOutput)
async def http_get(
    context: SkillContext,
    url: str,
    headers: dict[str, Any] | None = None,
    auth: list[dict[str, Any]] | None = None,
    body: Any = None,
) -> ToolResult:
    """Echo all that it is given, as a careless tool does."""
    given = {'url': url, 'headers': headers, 'auth': auth, 'body': body}
    GIVEN.append(given)
    logger.warning('asking %s with %s', url, given)
    return ToolResult(ResultStatus.COMPLETED, f'asked {url} with {headers}', {'echo': given})


@skill(output=CallOutput)
async def unlock(
    context: SkillContext,
    pin: Annotated[str, Secret()],
    logins: list[_Login] | None = None,
    card: SecretStr = NO_CARD,
    fail: str = '',
) -> ToolResult:
    """Unlock a door, and fail as told."""
    GIVEN.append({'pin': pin, 'logins': logins, 'card': card.get_secret_value()})
    if fail == 'said':
        raise SkillError(f'the door does not take pin={pin}')
    if fail == 'crash':
        raise RuntimeError(f'no door for {card.get_secret_value()} and {pin}')
    return ToolResult(ResultStatus.COMPLETED, 'open', {'pin': pin, 'nested': [{'pin': pin}]})


@pytest.fixture(autouse=True)
def skills(monkeypatch: pytest.MonkeyPatch) -> None:
    kwdefaults = {'skills': (*BUILT_IN, http_get, unlock)}
    monkeypatch.setattr(registry.load_registry, '__kwdefaults__', kwdefaults)
    GIVEN.clear()


def _calls(path: Path, *calls: tuple[str, Any], model: Any = None) -> list[ToolResult]:
    async def scenario() -> list[ToolResult]:
        async with Bench(path, model=model) as bench:
            return [await bench.call(name, arguments) for name, arguments in calls]

    return run_virtual(scenario())


def _kept(path: Path, results: list[ToolResult], caplog: pytest.LogCaptureFixture | None) -> str:
    """Return all that was kept or shown."""
    files = b''.join(content(path).values()).decode('utf-8', 'replace')
    with JournalReader(path) as reader:
        rows = json.dumps([event.payload for event in reader.events()], ensure_ascii=False)
    shown = ' '.join(str(result.structured) for result in results)
    return '\n'.join((files, rows, shown, caplog.text if caplog else ''))


def test_a_tool_gets_credentials_as_they_are_and_nothing_else_keeps_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    arguments = {
        'url': 'http://dock.local/state',
        'headers': {'Authorization': 'Bearer test-token-1'},
        'auth': [{'password': 'pw-test-1'}],
    }
    results = _calls(tmp_path / 'j.db', ('http_get', arguments))
    (given,) = GIVEN
    assert given == {**arguments, 'body': None}
    kept = _kept(tmp_path / 'j.db', results, caplog)
    assert 'asking http://dock.local/state' in kept
    for secret in ('test-token-1', 'pw-test-1'):
        assert secret not in kept
    assert check_journal(tmp_path / 'j.db') == []


def test_a_declared_secret_is_hidden_even_where_it_is_short(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    logins = [{'user': 'ann', 'pin': '99'}]
    results = _calls(
        tmp_path / 'j.db',
        ('unlock', {'pin': PIN, 'card': 'card-0815', 'logins': logins}),
        ('unlock', {'pin': PIN, 'fail': 'said'}),
        ('unlock', {'pin': PIN, 'card': 'card-0815', 'fail': 'crash'}),
        ('unlock', {'pin': 4711}),
        ('unlock', {'pin': PIN, 'logins': [{'user': 'ann', 'pin': 4711}]}),
    )
    assert [result.status.value for result in results] == [
        'completed', 'tool_error', 'tool_error', 'invalid_arguments', 'invalid_arguments'
    ]  # fmt: skip
    assert (GIVEN[0]['pin'], GIVEN[0]['card']) == (PIN, 'card-0815')
    assert GIVEN[0]['logins'][0].pin == '99'
    assert results[0].data == {'pin': REDACTED, 'nested': [{'pin': REDACTED}]}
    assert 'pin: ' in results[3].message
    kept = _kept(tmp_path / 'j.db', results, caplog)
    assert 'crashed' in kept
    assert '"user": "ann"' in kept
    for secret in (f'"{PIN}"', f'={PIN}', f' {PIN}', '4711)', 'card-0815', '"99"'):
        assert secret not in kept


def test_marks_are_found_on_fields_of_every_kind() -> None:
    assert unlock.secrets == {'pin', 'card'}
    assert http_get.secrets == frozenset()
    assert declared_secrets(_Login) == {'pin'}
    assert 'Secret' not in json.dumps(unlock.input_schema)


class _ThinkingModel:
    """Answers with signed content that holds a secret, and keeps what it was asked."""

    provider, model = 'stub', 'stub-1'

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.raw = (
            {
                'type': 'thinking',
                'thinking': 'the pin is 4711-geheim',
                'signature': 'c2lnbmF0dXJl',
            },
            {'type': 'tool_use', 'id': 't1', 'name': 'unlock', 'input': arguments},
            {'function': {'name': 'unlock', 'arguments': json.dumps(arguments)}},
        )
        self.arguments = arguments
        self.requests: list[ModelRequest] = []

    async def decide(self, request: ModelRequest) -> Decision:
        self.requests.append(request)
        calls = (ToolCall('t1', 'unlock', self.arguments),)
        done = {'outcome': 'unknown', 'reason': 'pin 4711-geheim was taken'}
        if len(self.requests) > 1:
            calls = (ToolCall('t2', 'finish_mission', done),)
        return Decision(
            tool_calls=calls,
            rationale='I enter 4711-geheim.',
            thinking='the pin is 4711-geheim',
            stop_reason='tool_use',
            usage={'input_tokens': 7, 'output_tokens': 8, 'max_tokens': 9},
            provider=self.provider,
            model=self.model,
            response_id='r1',
            raw_content=self.raw,
        )

    async def close(self) -> None:
        """Release nothing."""


def test_the_model_gets_its_own_words_back_unchanged_and_the_journal_gets_none_of_them(
    tmp_path: Path,
) -> None:
    model = _ThinkingModel({'pin': '4711-geheim', 'logins': [{'user': 'ann', 'pin': '31'}]})

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db', model=model) as bench:
            await bench.core.harness.run_mission('open the door')

    run_virtual(scenario())
    assert GIVEN[0]['pin'] == '4711-geheim'
    replayed = model.requests[1].messages[1].decision  # type: ignore[union-attr]
    assert replayed.raw_content is model.raw
    assert '4711-geheim' not in model.requests[1].messages[2].results[0].text  # type: ignore[union-attr]
    kept = _kept(tmp_path / 'j.db', [], None)
    assert '4711-geheim' not in kept
    assert '"31"' not in kept
    assert '\\"31\\"' not in kept
    with JournalReader(tmp_path / 'j.db') as reader:
        answers = [e.payload for e in reader.events() if e.type == 'MODEL_RESPONSE_RECORDED']
    assert answers[0]['usage'] == {'input_tokens': 7, 'output_tokens': 8, 'max_tokens': 9}
    assert answers[0]['raw_content'][0]['signature'] == 'c2lnbmF0dXJl'
    assert answers[0]['rationale'] == f'I enter {REDACTED}.'


def test_keys_of_the_environment_reach_neither_journal_nor_log_nor_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    keys = {name: f'value-of-{name.lower()}-0123' for name in ENVIRONMENT_KEYS}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    body = {'note': [*keys.values()], keys['OPENAI_API_KEY']: 1}
    results = _calls(tmp_path / 'j.db', ('http_get', {'url': 'http://a/', 'body': body}))
    child = logging.getLogger('robot_agent_harness.journal.store')
    child.error('it says %s', keys['ANTHROPIC_API_KEY'])
    try:
        raise RuntimeError(f'401 for {keys["OPENAI_API_KEY"]}')
    except RuntimeError:
        child.exception('asking failed')
    kept = _kept(tmp_path / 'j.db', results, caplog)
    assert GIVEN[0]['body'] == body
    assert 'RuntimeError: 401 for [redacted]' in kept
    for value in keys.values():
        assert value not in kept


@pytest.mark.parametrize(
    ('text', 'secret'),
    [
        ('Bearer xyz', 'xyz'),
        ('authorization: bearer abc.def-ghi', 'abc.def-ghi'),
        (f'Basic {base64.b64encode(b"ann:open sesame").decode()}', 'YW5uOm9wZW4'),
        ('Cookie: sid=31337; theme=dark', '31337'),
        ('postgres://ann:p@ss:word@db.local/x', 'p@ss:word'),
        ('https://ghp_abcdef@github.com/a/b', 'ghp_abcdef'),
        ('http://a/b?x=1&access_token=t0k&y=2', 't0k'),
        ('http://a/b?key=AIza99&y=2', 'AIza99'),
        ('http://a/b#id_token=t0k', 't0k'),
        ('password=hunter2 user=ann', 'hunter2'),
        ("PASSWORD='two words'", 'two words'),
        ("password = 'two words'", 'two words'),
        ('api_key\t=  hunter2; x = 1', 'hunter2'),
        ('{"a": {"client_secret": "x1"}, "b": 2}', 'x1'),
        ('[{"apiKey": 12}]', '12'),
        ('cut off: {"a": {"password": "hunter2 and mo', 'hunter2 and mo'),
        ("{'Api-Key': 'x1', 'b': 2}", 'x1'),
        ('{\\"token\\": \\"t0k\\"}', 't0k'),
        ('{"a": "{\\"token\\": \\"t0k\\"}"}', 't0k'),
        ("{'credentials': {'user': 'ann', 'x': 'y1'}, 'z': 1}", 'y1'),
        ('curl --password hunter2 http://a/', 'hunter2'),
        ('db:\n  password: hunter2\n', 'hunter2'),
        ('used sk-ant-api03-AbCdEf0123456789_x', 'AbCdEf0123456789_x'),
        ('used sk-abc123def, and failed', 'abc123def'),
        ('sk-proj-9f8e7d', '9f8e7d'),
        ('aes_key: 00ff00ff', '00ff00ff'),
        ('DSN=host=db;pwd=x1', 'x1'),
        ('sentry_dsn = "udp://collector/7"', 'collector'),
        ('-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', 'MIIE'),
    ],
)
def test_a_text_that_shows_a_secret_is_rid_of_it(text: str, secret: str) -> None:
    clean = Redactor().text(text)
    assert secret not in clean
    assert REDACTED in clean
    assert Redactor().text(clean) == clean


@pytest.mark.parametrize(
    'text',
    [
        'the next token is missing',
        'Basic information about the shelf',
        'login: password: missing',
        'git+ssh://git@github.com/a/b and http://dock.local:80/a@b?x=1&page=2',
        '{"token_count": 3, "max_tokens": 5, "author": "x", "has_password": true, "key": "k"}',
        '{"password":   null, "cookie": ""}',
        'the secretary has the keys, the compass has a bearing',
        'passed: 3, monkey=7, tokens=many no: token_type=x',
        'if token == 5 and passed = 3 or the way to the dock = long',
        'sk-learn-1.2.3 sk-SK sk-2026 sk-20261201 sk-learn-python310 sk-py3 a risk-based9 x',
        'map_key=dock1 nodes_key=n1234 key=k1234 public_key=p1234 desk_key=d1234 lids_n=12345',
    ],
)
def test_a_text_that_only_speaks_of_secrets_stays(text: str) -> None:
    assert Redactor().text(text) == text.replace('tokens=many', f'tokens={REDACTED}')


def test_which_keys_are_secret() -> None:
    secret = (
        'password Passwd client_secret X-Api-Key apikey ACCESS_TOKEN token Set-Cookie private_key'
        ' credentials Authorization proxy-authorization bearer aws_secret_access_key refreshToken'
        ' db.password passphrase auth basic_auth pwd jwt token1 access_token_2 pwds tokenValue'
        ' jwt_string X-Auth-Key authHeader auth_code session-key pin_code passkey otpCode wifi_pw'
        ' accountKey userpass Passwort aes_key AES-Key aesKey aes256_key des_key 3des_key RSA_KEY'
        ' hmac_key db.aes.key aes_keys aes_key_value myAesKey ecdsa_key dsn DSN sentry_dsn'
        ' databaseDsn'
    )
    plain = (
        'x yaw frame_id name key value bypass compass spin token_count input_token_count monkey'
        ' author path passed goal map_key nodes_key modes-key desk_key phrases_key keyframe aes'
        ' rsa aes_mode aes_key_size rsa_key_id rsa_public_key aes_keyboard lids_n odsn dsn_count'
    )
    assert all(is_secret_key(key) for key in secret.split())
    assert not any(is_secret_key(key) for key in plain.split())


def test_what_a_call_taught_is_found_in_each_spelling_and_a_short_value_only_alone() -> None:
    redactor = Redactor()
    secret = 'p"a/s s\\ü1'
    redactor.learn('call-1', {'password': secret, 'x': {'token': 'ab12'}, 'cookie': 'xy'})
    for spelling in (
        f'<{secret}>',
        json.dumps({'a': secret}),
        json.dumps([json.dumps(secret)]),
        'http://a/?q=p%22a%2Fs%20s%5C%C3%BC1',
        'q=p%22a%2Fs+s%5C%C3%BC1&r',
    ):
        clean = redactor.text(spelling)
        assert REDACTED in clean
        assert 's\\' not in clean
    assert redactor.text('ab12 ab12x (ab12) xy') == f'{REDACTED} ab12x ({REDACTED}) xy'


@pytest.mark.parametrize(
    'secret',
    [
        'Zq7v/Test+Secret',
        'Zq7v Test=Secret',
        'Zq7vTestSécret€😀',
        'p@ss/w:rd#1234',
        'Zq7v"Te\\st\\\\x',
        "tok~en!x*(1)'abc\n2",
        ''.join(f'{number}/' for number in range(3000)) + 'end',
    ],
)
def test_a_known_secret_is_found_however_it_was_encoded(secret: str) -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': secret})
    encoded = [
        quote(secret),
        quote(secret, safe=''),
        quote_plus(secret),
        re.sub('%..', lambda match: match[0].lower(), quote(secret, safe='')),
        quote(secret, safe="!~*'()"),  # JavaScript's encodeURIComponent
        quote(secret, safe="!~*'();/?:@&=+$,#"),  # and its encodeURI
        quote(quote(secret, safe='')),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1].replace('/', '\\/'),
        json.dumps(json.dumps(secret))[3:-3],
        repr(secret)[1:-1],
        ascii(secret)[1:-1],
        repr(repr(secret)[1:-1])[1:-1],
    ]
    for text in encoded:
        said = redactor.text(f'GET http://dock/login?u=ann&x=<{text}> HTTP')
        shown = re.sub(r'(\[redacted\])+', REDACTED, said)
        assert shown == f'GET http://dock/login?u=ann&x=<{REDACTED}> HTTP', text


T = 'Zq7vTest0Secret'


@pytest.mark.parametrize(
    'arguments',
    [
        {'headers': [{'name': 'Authorization', 'value': T}]},
        {'env': [{'key': 'API_KEY', 'value': T}]},
        {'headers': [['Authorization', T]]},
        {'header': ('X-Api-Key', T)},
        {'argv': ['login', '--password', T]},
        {'argv': ['login', f'--password={T}']},
        {'argv': ['curl', '-u', f'ann:{T}', 'http://dock.local']},
        {'cmd': f'curl -u ann:{T} http://dock.local'},
        {'cmd': f'curl -s --user "ann:{T}" http://dock.local'},
        {'body': json.dumps([{'name': 'password', 'value': T}])},
        {'body': f'<password>{T}</password>'},
        *({key: T} for key in ('pass', 'door_pin', 'userPin', 'wifi-psk', 'OTP', 'session_id')),
        {'note': f'pin={T}'},
        {'wifi_key': T},
        {'fields': [{'id': 'e1', 'field': 'Password', 'text': T}]},
        {'name': 'login', 'param': 'token', 'val': T},
        {'token2': T},
        {'conf': f'password = "{T}"'},
        {'dsn': f'postgres://ann:{T}@db.local/x'},
        {'dsn': f'host=db.local user=ann password={T}'},
        {'aes_key': T},
    ],
)
def test_a_secret_is_known_by_the_name_beside_it_in_any_form(arguments: Any) -> None:
    redactor = Redactor()
    redactor.learn('call-1', arguments)
    clean = redactor.value(arguments)
    assert T not in repr(clean)
    assert REDACTED in repr(clean)
    assert redactor.text(f'it said {T}!') == f'it said {REDACTED}!'


@pytest.mark.parametrize(
    'arguments',
    [
        {'name': 'pin', 'value': 3},
        {'pin': 17, 'pass': 2, 'passes': 3000, 'spin': 12.345, 'keypoints': [1.2345, 2.3456]},
        {'name': 'kitchen', 'value': 'the long way', 'key': 'way', 'content': 'a text'},
        {'poses': [[1.2345, -2.3456], [0.5, 1.5]], 'pose': {'x': 1.2345, 'y': 2.0, 'yaw': 3.1416}},
        {'required': ['password', 'user']},
        {'argv': ['run', '--speed', 'fast', '-u', 'now', '--token-count', '5000']},
        {'say': ['the password is wrong', 'try again']},
        {'tokens': [4096, 8192], 'name': 'max_tokens_of_it', 'value': 5000},
        {'cmd': 'docker run --user 1000:1000 x; curl http://a/'},
        {'note': 'pass=3 fail=0 mapping=done'},
        {'layout': {'pins': [1000, 2000]}},
    ],
)
def test_numbers_of_a_robot_and_words_that_mean_something_else_stay(arguments: Any) -> None:
    redactor = Redactor()
    redactor.learn('call-1', arguments)
    assert redactor.value(arguments) == arguments


def test_a_secret_that_is_a_word_of_the_record_does_not_change_what_the_record_says() -> None:
    redactor = Redactor()
    goal_id = 'a1b2c3d4' * 4
    redactor.learn('call-1', {'password': 'accepted', 'token': goal_id, 'secret': 'status'})
    structured = {'status': 'accepted', 'action_id': goal_id, 'x': goal_id, 'message': 'accepted!'}
    hidden = {'status': 'accepted', 'action_id': goal_id, 'x': REDACTED}
    assert redactor.value(structured) == {**hidden, 'message': 'accepted!'}
    assert redactor.value(structured, scope='call-1') == {**hidden, 'message': f'{REDACTED}!'}
    words = {word.value for kind in (ActionState, OutcomeReason, ResultStatus) for word in kind}
    assert words <= VOCABULARY


@pytest.mark.parametrize('password', ['kitchen', 'robot', 1.5708, '5.25', 'navigation'])
def test_what_robots_and_places_are_called_and_measured_by_is_a_secret_in_its_own_call_alone(
    password: Any,
) -> None:
    redactor = Redactor()
    arguments = {'password': password}
    redactor.learn('call-1', arguments)
    of_others = {'name': password, 'text': f'it is {password}'}
    assert redactor.value(of_others) == of_others
    assert str(password) not in str(redactor.value(of_others, scope='call-1'))
    assert str(password) not in redactor.line(f'the log says {password}')


def test_whoever_may_only_look_makes_nothing_of_others_unreadable() -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': 'shelf-17'}, everywhere=False)
    assert redactor.value({'name': 'shelf-17'}) == {'name': 'shelf-17'}
    assert redactor.value({'name': 'shelf-17'}, scope='call-1') == {'name': REDACTED}


def test_keys_of_a_process_are_kept_while_those_of_calls_are_forgotten_in_time() -> None:
    redactor = Redactor()
    redactor.know('the-process-key')
    for number in range(1000):
        redactor.learn(f'call-{number}', {'password': f'password-no-{number}!'})
    text = 'the-process-key password-no-999! password-no-0!'
    assert redactor.text(text) == f'{REDACTED} {REDACTED} password-no-0!'
    assert redactor.names_of('call-0') == frozenset()


class _Odd:
    def __repr__(self) -> str:
        return 'Odd(password=hunter2-odd)'


class _Broken:
    def __repr__(self) -> str:
        raise RuntimeError('no')


def test_values_that_are_no_json_are_looked_through_as_well() -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': ['hunter2-odd', 12345678]})
    deep: Any = 'hunter2-odd'
    for _ in range(5000):
        deep = [deep]
    loop: dict[str, Any] = {}
    loop['self'] = loop
    odd = [
        _Odd(), _Broken(), deep, loop, b'hunter2-odd', {'hunter2-odd'}, 12345678, 2.5, '\udc80',
        _Login(user='hunter2-odd', pin='x'), {b'hunter2-odd': 1, 'hunter2-odd': 2}, float('nan'),
    ]  # fmt: skip
    for value in odd:
        record = ToolCallRecorded(
            name='f', arguments=value, decision_snapshot_id=None, purpose=None,
            expected_outcome=None,
        )  # fmt: skip
        clean = redactor.event(record, Correlation(tool_call_id='call-1'), exact_text(record))
        told = repr(jsonable(clean.arguments))  # type: ignore[attr-defined]
        assert 'hunter2-odd' not in told
        assert '12345678' not in told


@pytest.mark.parametrize('sign', [1, -1])
def test_a_number_that_python_refuses_to_print_stops_no_record_and_is_hidden_as_a_secret(
    sign: int,
) -> None:
    number = sign * 10**5000
    redactor = Redactor()
    redactor.learn('call-1', {'password': number, 'token': 'S3cr3t-0815'})
    told = {'pin': number, 'other': number + 1}
    record = SalientEvent(kind='human_message', message='m', details=told)
    clean = redactor.event(record, Correlation(tool_call_id='call-2'), exact_text(record))
    assert isinstance(clean, SalientEvent)
    assert clean.details == {'pin': REDACTED, 'other': number + 1}
    assert payload_text(clean)


def test_a_record_too_long_to_be_kept_whole_is_looked_at_without_being_walked_through() -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': 'S3cr3t-0815'})
    record = SalientEvent(kind='human_message', message='m' * (MAX_PAYLOAD_CHARS + 1))
    ids = Correlation(tool_call_id='call-2')
    assert redactor.event(record, ids, exact_text(record)) is record
    record = SalientEvent(kind='human_message', message='m ' * MAX_PAYLOAD_CHARS + 'S3cr3t-0815')
    clean = redactor.event(record, ids, exact_text(record))
    assert isinstance(clean, SalientEvent)
    assert 'S3cr3t-0815' not in clean.message


def test_a_log_record_that_cannot_be_formatted_passes_and_others_are_changed_once() -> None:
    redactor = Redactor()
    redactor.know('the-process-key')
    log_filter = RedactingFilter(redactor)
    broken = logging.LogRecord('x', logging.INFO, '', 0, '%d', ('the',), None)
    assert log_filter.filter(broken)
    record = logging.LogRecord(
        'x', logging.INFO, '', 0, 'has %s 100%%', ('the-process-key',), None
    )
    assert log_filter.filter(record)
    assert log_filter.filter(record)
    assert record.getMessage() == f'has {REDACTED} 100%'
    quiet = logging.LogRecord('x', logging.INFO, '', 0, 'at %s', ('home',), None)
    log_filter.filter(quiet)
    assert quiet.args == ('home',)
    shared_redactor()
    shared_redactor()
    assert len(logging.getLogger('robot_agent_harness.harness').filters) == 1


# -- by force ------------------------------------------------------------------------------------

SECRETS = st.text(
    alphabet=st.characters(codec='utf-8', exclude_categories=['Cs', 'Cc']), min_size=4, max_size=24
).map(lambda text: f'S3c{text}r3T')
"""Any text, made so that it cannot occur by chance."""
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-999, 999),
    st.floats(-9, 9),
    st.sampled_from(['red', 'on the shelf', 'kitchen 2', 'x=1', 'a: b', '{"a": [1]}', 'ü€😀']),
)
NAMES = st.sampled_from(['a', 'user', 'frame_id', 'note', 'path', 'x1'])
SECRET_NAMES = st.sampled_from(['password', 'Authorization', 'api-key', 'X-Auth-Token', 'cookie'])


def _plant(secret: str, shape: int) -> Any:
    """Return a value that shows the secret in one of the ways in which tools do."""
    shapes: list[Any] = [
        secret,
        f'it was {secret}, sorry',
        f'x{secret}x',
        [secret, {'deep': [f'({secret})']}],
        json.dumps({'inner': secret}),
        json.dumps({'inner': json.dumps([secret])}),
        {secret: 1},
        {'password': secret},
        repr({'note': secret}),
    ]
    return shapes[shape % len(shapes)]


def _tree(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)
        ),
        max_leaves=8,
    )


PLANTS = st.tuples(st.just('$plant'), st.integers(0, 8)).map(list)


def _filled(value: Any, secret: str) -> Any:
    if isinstance(value, list):
        if len(value) == 2 and value[0] == '$plant':
            return _plant(secret, value[1])
        return [_filled(item, secret) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, secret) for key, item in value.items()}
    return value


@settings(max_examples=60, deadline=None)
@given(SECRETS, SECRET_NAMES, _tree(st.one_of(PLAIN, PLANTS)), st.integers(0, 8))
def test_no_planted_secret_is_left_in_the_bytes_of_the_journal_or_in_the_log(
    secret: str, name: str, tree: Any, shape: int
) -> None:
    handler = _Kept()
    logger.addHandler(handler)
    try:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                registry.load_registry, '__kwdefaults__', {'skills': (*BUILT_IN, http_get)}
            )
            path = Path(folder) / 'j.db'
            body = {'tree': _filled(tree, secret), 'also': _plant(secret, shape)}
            arguments = {'url': 'http://a/', 'headers': {name: secret}, 'body': body}
            GIVEN.clear()

            async def scenario() -> tuple[list[ToolResult], bytes]:
                async with Bench(path) as bench:
                    results = [await bench.call('http_get', arguments)]
                    results.append(await bench.call('http_get', {'url': secret}))
                    results.append(await bench.call(f'no {secret}', [secret]))
                    # The -wal is gone once the journal is closed.
                    return results, b''.join(content(path).values())

            results, before = run_virtual(scenario())
            assert GIVEN[0]['body'] == body
            assert GIVEN[0]['headers'] == {name: secret}
            after = b''.join(content(path).values())
            escaped = json.dumps(secret)[1:-1].encode()
            for kept in (before, after):
                assert secret.encode() not in kept
                assert escaped not in kept
            assert escaped not in json.dumps([r.structured for r in results]).encode()
            assert secret not in handler.text
            assert check_journal(path) == []
    finally:
        logger.removeHandler(handler)


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.text = ''

    def emit(self, record: logging.LogRecord) -> None:
        self.text += self.format(record)


@settings(max_examples=300, deadline=None)
@given(_tree(PLAIN))
def test_what_is_no_secret_is_left_untouched(tree: Any) -> None:
    redactor = Redactor()
    redactor.know('sk-process-key')
    redactor.learn('call-1', {'password': 'S3cr3t-0815', 'token': 'zz99'})
    assert redactor.value(tree) == tree
    record = ToolCallRecorded(
        name='f', arguments=tree, decision_snapshot_id=None, purpose=None, expected_outcome=None
    )
    assert redactor.event(record, Correlation(tool_call_id='call-2'), exact_text(record)) is record


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=4),
    st.sampled_from(['ab12', 'Straße "9"\\', 'token', 'API\N{KELVIN SIGN}EY', 'door_pin']),
    st.text(max_size=4),
)
def test_a_look_at_a_record_lets_nothing_through_that_would_be_hidden(
    before: str, word: str, after: str
) -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': 'ab12', 'key_file_token': 'Straße "9"\\'})
    text = before + word + after
    told = {'note': text, 'more': {text: 'S3cr3t-0815'}}
    record = ToolCallRecorded(
        name='f', arguments=told, decision_snapshot_id=None, purpose=None, expected_outcome=None
    )
    clean = redactor.event(record, Correlation(tool_call_id='call-2'), exact_text(record))
    assert isinstance(clean, ToolCallRecorded)
    assert clean.arguments == redactor.value(told)


@pytest.mark.parametrize('before', ['\n', '\t', 'é', '€', '\x7f', '"', '🤖', ' '])
def test_a_short_secret_is_hidden_whatever_stands_before_it(tmp_path: Path, before: str) -> None:
    path = tmp_path / 'j.db'
    _calls(path, ('report', {'password': 'qz71'}), ('report', {'note': f'it is{before}qz71'}))
    with JournalReader(path) as reader:
        assert 'qz71' not in ''.join(canonical_json(event.payload) for event in reader.events())


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=300), st.sampled_from(['password="', '"token": "', 'Bearer ', '://', '[{'])
)
def test_no_text_breaks_the_redactor_and_twice_is_as_good_as_once(text: str, lead: str) -> None:
    redactor = Redactor()
    once = redactor.text(lead + text)
    assert redactor.text(once) == once


def _cpu_s(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.parametrize(
    'unit',
    [
        '"password": ', 'token=', 'a=', '{"a":', '\\"', '\\', "'", 'http://', 'bearer ', 'a.',
        '-----BEGIN ', '<a>b', 'curl ', 'curl -u ', '--a b ', 'password: x\n', 'otp=1 ',
        'Cookie: ', '"password": "[redacted] ', '\\\\"token\\\\": \\\\"[redacted] ', '- ', 'x:\t',
    ],
)  # fmt: skip
def test_hostile_texts_take_no_more_than_linear_time(unit: str) -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': unit * 2 + '\\\\"/é'})
    short, long = ('key ' + unit * (size // len(unit)) for size in (20_000, 200_000))
    redactor.text(short)
    taken = _cpu_s(lambda: redactor.text(long))
    assert taken < 40 * min(_cpu_s(lambda: redactor.text(short)) for _ in range(3)) + 0.05


def test_prose_that_speaks_of_keys_costs_next_to_nothing() -> None:
    line = (
        'The robot drove to the shelf, key point: the token "abc" was not there. state=ok v: 2\n'
    )
    text = line * (262_144 // len(line))
    redactor = Redactor()
    assert redactor.text(text) == text
    # 54 ns for each character were measured, and four times that on a busy machine.
    assert min(_cpu_s(lambda: redactor.text(text)) for _ in range(5)) < 1000e-9 * len(text)


BUDGET_US = 50.0
"""What redaction may add to one managed call with ordinary arguments."""


def test_an_ordinary_call_pays_next_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / 'j.db'
    _calls(path, ('navigate_to_pose', {'x': 2.0, 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'}))
    with JournalReader(path) as reader:
        events = list(reader.events())
    models = [
        kind.model_construct(**event.payload)
        for event in events
        for kind in [EVENT_MODELS[EventType(event.type)]]
        if event.type
        not in ('HARNESS_STATE_CHANGED', 'ROBOT_ACTION_OUTCOME', 'ROBOT_ACTION_PROGRESS')
    ]
    redactor = Redactor()
    redactor.know('sk-ant-api03-a-process-key')
    ids = Correlation(tool_call_id='call-1')
    arguments = {'x': 2.0, 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'}
    texts = [exact_text(model) for model in models]
    taken, serialising = [], []
    gc.disable()
    try:
        for _ in range(300):
            begin = time.perf_counter()
            redactor.learn('call-1', arguments)
            for model, text in zip(models, texts, strict=True):
                redactor.event(model, ids, text)
            between = time.perf_counter()
            for model in models:
                payload_text(model)
            taken.append((between - begin) * 1e6)
            serialising.append((time.perf_counter() - between) * 1e6)
    finally:
        gc.enable()
    # On a machine that is slow or busy: less than half of what writing the records down costs.
    assert min(taken) < max(BUDGET_US, min(serialising) / 2)


def test_a_response_without_tools_is_the_same_object() -> None:
    record = ModelResponseRecorded(
        rationale='I go.', thinking=None, tool_calls=[], usage={}, stop_reason='end_turn',
        provider='stub', model=None,
    )  # fmt: skip
    ids = Correlation(turn_id='turn-1')
    assert Redactor().event(record, ids, exact_text(record)) is record


def test_the_page_names_all_that_is_taken_for_a_secret_and_its_example_runs() -> None:
    page = (Path(__file__).parents[1] / 'docs' / 'secrets.md').read_text(encoding='utf-8')
    for name in (
        *SECRET_STEMS,
        *SECRET_ENDINGS,
        *SECRET_WORDS,
        *CIPHERS,
        *SECRET_PARAMETERS,
        *ENVIRONMENT_KEYS,
    ):
        assert f'`{name}`' in page
    for number in (VALUES_MAX, SUBSTRING_CHARS_MIN, WORD_CHARS_MIN):
        assert f' {number} ' in page
    (example,) = re.findall(r'```python\n(.*?)```', page, re.S)
    namespace: dict[str, Any] = {}
    exec(compile(example, 'page', 'exec'), namespace)
    assert namespace['unlock'].secrets == {'pin', 'card'}
