# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""
Make the environment in which this working tree runs: `.venv` and `.ros`.

`.venv` holds the locked packages and, where no ROS 2 installation is sourced, ROS 2 Kilted from
the package index; `.ros` holds the interfaces built with colcon and the variables that `env.sh`
sets. ROS_WHEELS=jazzy makes a second environment beside it, with that ROS 2: `.venv-jazzy` and
`.ros-jazzy`. Each step leaves a stamp of what it was made from, written last, so that an
interrupted run is done again and an unchanged one is skipped. Standard library only: it runs
before anything is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
USUAL = 'kilted'
DISTRIBUTIONS = (USUAL, 'jazzy')
DISTRIBUTION = os.environ.get('ROS_WHEELS') or USUAL
BESIDE = '' if DISTRIBUTION == USUAL else f'-{DISTRIBUTION}'
VENV = ROOT / f'.venv{BESIDE}'
ROS = ROOT / f'.ros{BESIDE}'
LOG = ROS / 'log'
STAMP = 'set_up_stamp.json'
MARKER = 'robot_agent_harness_tree'

PIP_LOCK = 'requirements-pip.lock'
BUILD_LOCK = 'requirements-build.lock'
ROS_LOCK = f'requirements-ros{BESIDE}.lock'
LOCK = 'requirements.lock'
INTERFACE_SOURCES = ('CMakeLists.txt', 'package.xml', 'msg', 'action')
UNDERLAY = 'underlay'

# Where the wheels' exported CMake targets point: into the machine that they were built on.
FOREIGN_PYTHON_INCLUDE = re.compile(r'/opt/python/cp3\d+-cp3\d+/include/python3\.\d+')
FOREIGN_NUMPY_INCLUDE = re.compile(
    r'/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages/numpy/_?core/include'
)

PROGRESS_EVERY_S = 10.0
TAIL_LINES = 15
# Noise of a machine's own pip configuration, not of this set-up.
PIP_NOISE = re.compile(r'^WARNING: Location .* is ignored|^\[notice\]|^\s*$')


class SetUpError(Exception):
    """Something is missing; the text says what, and what to install."""


def say(text: str) -> None:
    """Print one progress line."""
    print(f'set-up: {text}', flush=True)


def fail(text: str) -> NoReturn:
    """Give up with one message that says what is missing and what to do."""
    raise SetUpError(text)


# ---------------------------------------------------------------- what there is


def ros_installation() -> list[str]:
    """Return the prefixes of the sourced ROS 2 installation; empty without one."""
    prefixes = []
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
        # Ours, or another working tree's: a virtual environment with wheels, or its interfaces.
        if (Path(prefix) / 'pyvenv.cfg').exists() or (Path(prefix) / MARKER).exists():
            continue
        prefixes.append(prefix)
    return prefixes if has_package(prefixes, 'rclpy') else []


def has_package(prefixes: list[str], name: str) -> bool:
    """Tell whether one of the ament prefixes holds the package."""
    index = Path('share/ament_index/resource_index/packages')
    return any((Path(prefix) / index / name).exists() for prefix in prefixes)


def check_machine(ros: list[str]) -> None:
    """Refuse a machine that lacks something that only its owner can install."""
    if BESIDE and ros:
        fail(
            f'ROS_WHEELS={DISTRIBUTION} installs ROS 2 from the package index, but a ROS 2 '
            f'installation is sourced ({ros[-1]}): use a shell without it'
        )
    version = f'{sys.version_info.major}.{sys.version_info.minor}'
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        fail(
            f'Python {version} ({sys.executable}) has no venv module. Debian and Ubuntu: '
            f'apt install python{version}-venv'
        )
    header = Path(sysconfig.get_paths()['include']) / 'Python.h'
    if not header.exists():
        fail(
            f'the headers of Python {version} are missing ({header}). Debian and Ubuntu: '
            f'apt install python{version}-dev; Fedora: dnf install python3-devel'
        )
    for variable, names in (('CC', ('cc', 'gcc', 'clang')), ('CXX', ('c++', 'g++', 'clang++'))):
        chosen = os.environ.get(variable)
        if not any(shutil.which(name) for name in ([chosen.split()[0]] if chosen else names)):
            fail(
                f'no {"C" if variable == "CC" else "C++"} compiler'
                f'{f" ({variable}={chosen})" if chosen else ""}. '
                'Debian and Ubuntu: apt install build-essential; Fedora: dnf install gcc gcc-c++'
            )
    if ros:
        probe = subprocess.run(
            [sys.executable, '-c', 'import rclpy'], capture_output=True, text=True, check=False
        )
        if probe.returncode:
            fail(
                f'a ROS 2 installation is sourced ({ros[-1]}), but {sys.executable} cannot import '
                f"its rclpy: {last_line(probe.stderr)}. Name that installation's Python "
                '(PYTHON=/usr/bin/python3 make setup), or use a shell without ROS 2'
            )
    elif sys.platform != 'linux' or platform.machine() != 'x86_64':
        fail(
            f'no ROS 2 wheels exist for {sys.platform} on {platform.machine()}: the package index '
            'has them for Linux on x86-64. Install ROS 2 (Jazzy or newer), source its setup.bash, '
            'and run make setup again'
        )


# ---------------------------------------------------------------- running things


def last_line(text: str) -> str:
    """Return the last line that says anything."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else 'no output'


def clean_environment(ros: list[str]) -> dict[str, str]:
    """Return the environment for building: this tree's own, free of what was sourced before."""
    env = dict(os.environ)
    for name in ('PYTHONHOME', 'VIRTUAL_ENV', 'CONDA_PREFIX', 'COLCON_DEFAULTS_FILE'):
        env.pop(name, None)
    variables = ['AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'COLCON_PREFIX_PATH', 'PYTHONPATH']
    variables += ['LD_LIBRARY_PATH', 'PKG_CONFIG_PATH']
    for name in variables:
        kept = [
            entry
            for entry in env.get(name, '').split(os.pathsep)
            if entry and ros and not entry.startswith(f'{ROOT}{os.sep}') and entry != str(ROOT)
        ]
        env.pop(name, None)
        if kept:
            env[name] = os.pathsep.join(kept)
    env['VIRTUAL_ENV'] = str(VENV)
    env['PATH'] = os.pathsep.join([str(VENV / 'bin'), env.get('PATH', os.defpath)])
    if not ros:
        env['AMENT_PREFIX_PATH'] = env['CMAKE_PREFIX_PATH'] = str(VENV)
        env['LD_LIBRARY_PATH'] = os.pathsep.join(wheel_libraries())
        env['_ROS_WHEELS_BOOTSTRAP_COMPLETE'] = '1'
    return env


class Job:
    """A command that runs with its output in a log, telling now and then that it still goes on."""

    def __init__(self, title: str, command: list[str], log: str, env: dict[str, str]) -> None:
        LOG.mkdir(parents=True, exist_ok=True)
        self.title = title
        self.log = LOG / log
        self.started = time.monotonic()
        say(f'{title} ...')
        with self.log.open('w') as out:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                # If we are killed, the next set-up waits until this command has ended as well.
                pass_fds=_lock_held,
            )

    def wait(self) -> None:
        """Wait for the end; raise `CalledProcessError` with the log as its output on failure."""
        while True:
            try:
                code = self.process.wait(PROGRESS_EVERY_S)
            except subprocess.TimeoutExpired:
                say(f'{self.title} ... {time.monotonic() - self.started:.0f} s')
                continue
            if code:
                text = self.log.read_text(errors='replace')
                raise subprocess.CalledProcessError(code, self.title, text)
            return

    def stop(self) -> None:
        """End it if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def run(title: str, command: list[str], log: str, env: dict[str, str]) -> None:
    """Run a job to its end, or end it with us."""
    job = Job(title, command, log, env)
    try:
        job.wait()
    finally:
        job.stop()


def tail(text: str) -> str:
    """Return the end of a log, without noise."""
    lines = [line for line in text.splitlines() if not PIP_NOISE.match(line)]
    return '\n'.join(f'    {line}' for line in lines[-TAIL_LINES:])


# ---------------------------------------------------------------- stamps


def digest(paths: list[Path]) -> str:
    """Return a digest of the names and contents of files and folders."""
    found = hashlib.sha256()
    for path in paths:
        files = sorted(p for p in path.rglob('*') if p.is_file()) if path.is_dir() else [path]
        for file in files:
            found.update(f'{file.relative_to(ROOT)}\0'.encode())
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def fresh(folder: Path, key: dict[str, Any]) -> bool:
    """Tell whether a folder was made from exactly this."""
    try:
        return bool(json.loads((folder / STAMP).read_text()) == key)
    except (OSError, ValueError):
        return False


def stamp(folder: Path, key: dict[str, Any]) -> None:
    """Note what a folder was made from."""
    write(folder / STAMP, json.dumps(key, indent=1))


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_name(f'{path.name}.part')
    part.write_text(text)
    part.chmod(mode)
    part.replace(path)


# ---------------------------------------------------------------- the steps


def make_venv(key: dict[str, Any], ros: list[str]) -> None:
    """Make `.venv` anew, with what building the interfaces takes."""
    if VENV.exists():
        say(f'the environment is renewed ({why(VENV, key)})')
    # The old one may hold packages that nothing names any more: never mended, always made anew.
    for folder in (VENV, ROS):
        shutil.rmtree(folder, ignore_errors=True)
    options = ['--system-site-packages'] if ros else []
    try:
        run(
            f'making {VENV.name} with Python {platform.python_version()}',
            [sys.executable, '-I', '-m', 'venv', *options, str(VENV)],
            'venv.log',
            pip_environment(),
        )
    except subprocess.CalledProcessError as error:
        version = f'{sys.version_info.major}.{sys.version_info.minor}'
        fail(
            f'python -m venv failed. Debian and Ubuntu: apt install python{version}-venv. '
            f'Its last words:\n{tail(error.output)}'
        )
    try:
        # The pip that a Python brings is several times slower.
        run('installing pip', pip_install(PIP_LOCK), 'pip.log', pip_environment())
        locks = [BUILD_LOCK] if ros else [BUILD_LOCK, ROS_LOCK]
        title = 'installing the build tools' if ros else 'installing ROS 2 and the build tools'
        run(title, pip_install(*locks), 'pip.log', pip_environment())
    except subprocess.CalledProcessError as error:
        fail(pip_failure(error.output))
    if not ros:
        mend_wheels()


def pip_install(*locks: str) -> list[str]:
    """Return the command that installs what lock files name, and nothing else."""
    return [
        *(str(VENV / 'bin' / 'python'), '-m', 'pip', 'install', '--no-deps', '--require-hashes'),
        # Modules are compiled when they are first used: few of them ever are.
        *('--no-compile', '--no-input', '--disable-pip-version-check'),
        # Nothing is compiled here; empy is pure Python that comes without a wheel.
        *('--only-binary=:all:', '--no-binary=empy'),
        *(part for lock in locks for part in ('-r', str(ROOT / lock))),
    ]


def pip_environment() -> dict[str, str]:
    """Return the environment for pip: the machine's configuration, no other modules."""
    env = {**os.environ, 'VIRTUAL_ENV': str(VENV), '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'}
    for name in ('PYTHONPATH', 'PYTHONHOME', 'PIP_TARGET', 'PIP_PREFIX', 'PIP_USER'):
        env.pop(name, None)
    return env


@contextlib.contextmanager
def others_installed() -> Iterator[None]:
    """Install all other packages while the body runs."""
    job = Job('installing the other packages', pip_install(LOCK), 'pip.log', pip_environment())
    try:
        yield
        job.wait()
    except subprocess.CalledProcessError as error:
        fail(pip_failure(error.output))
    finally:
        job.stop()


def why(folder: Path, key: dict[str, Any]) -> str:
    """Say what has changed since a folder was made."""
    try:
        old = json.loads((folder / STAMP).read_text())
    except (OSError, ValueError):
        return 'an earlier set-up did not finish'
    names = [name for name in key if old.get(name) != key[name]]
    return 'changed: ' + ', '.join(f'{name}' for name in names)


def pip_failure(output: str) -> str:
    """Turn pip's output into what is missing."""
    missing = re.search(r'No matching distribution found for (\S+)', output)
    here = f'Python {platform.python_version()} on {sys.platform} {platform.machine()}'
    if missing and missing[1].startswith('ros-'):
        reason = (
            f'the package index has no wheel of {missing[1]} for {here}; it has them for Python '
            '3.10 to 3.13 on Linux x86-64 with glibc 2.28 or newer'
        )
    elif missing:
        reason = (
            f'{missing[1]} was not found: the package index cannot be reached, or does not have '
            f'it for {here}'
        )
    elif 'THESE PACKAGES DO NOT MATCH THE HASHES' in output:
        reason = 'a package is not the one that was locked (its hash differs)'
    elif 'No space left' in output:
        reason = 'the disk is full'
    else:
        reason = 'pip could not install the packages'
    return (
        f"{reason}. pip uses this machine's own configuration (pip config list); the whole log is "
        f'{(LOG / "pip.log").relative_to(ROOT)}, its last words:\n{tail(output)}'
    )


def mend_wheels() -> None:
    """
    Point the wheels' exported CMake targets at this environment.

    They name the Python and numpy headers of the machine that they were built on, and CMake
    refuses a target whose include folder does not exist.
    """
    python_include = sysconfig.get_paths()['include']
    numpy_include = site_packages() / 'numpy' / '_core' / 'include'
    for path in sorted((VENV / 'share').glob('*/cmake/*.cmake')):
        text = path.read_text()
        mended = FOREIGN_NUMPY_INCLUDE.sub(str(numpy_include), text)
        mended = FOREIGN_PYTHON_INCLUDE.sub(python_include, mended)
        if mended != text:
            write(path, mended)


def site_packages(prefix: Path = VENV) -> Path:
    """Return the folder of Python modules under a prefix."""
    return prefix / f'lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages'


def wheel_libraries() -> list[str]:
    """Return the folders of shared libraries that the ROS wheels brought."""
    return [str(VENV / 'lib'), *map(str, sorted(site_packages().glob('ros_*.libs')))]


def build_interfaces(ros: list[str]) -> None:
    """Build the messages and actions, and nav2_msgs where it is absent."""
    with contextlib.suppress(FileNotFoundError):
        (ROS / STAMP).unlink()
    # A copy: CMake refuses include folders (numpy's, in .venv) that lie inside the source folder.
    source = ROS / 'src'
    shutil.rmtree(source, ignore_errors=True)
    package = source / 'robot_agent_harness'
    package.mkdir(parents=True)
    for name in INTERFACE_SOURCES:
        copy(ROOT / name, package / name)
    if not has_package(ros, 'nav2_msgs'):
        copy(ROOT / UNDERLAY / 'nav2_msgs', source / 'nav2_msgs')
    command = [
        *(str(VENV / 'bin' / 'python'), '-m', 'colcon', '--log-base', str(LOG / 'colcon')),
        *('build', '--merge-install', '--executor', 'sequential', '--base-paths', str(source)),
        *('--build-base', str(ROS / 'build'), '--install-base', str(ROS / 'install')),
        *('--cmake-args', '-G', 'Ninja', '-DINTERFACES_ONLY=ON', '-DBUILD_TESTING=OFF'),
        # Optimised, they take half as long again to build and carry a few messages a second.
        *('-DCMAKE_BUILD_TYPE=None', f'-DPython3_EXECUTABLE={VENV / "bin" / "python"}'),
        '-Wno-unused-cli',
    ]
    # What the last build installed may no longer be declared; its objects save time.
    shutil.rmtree(ROS / 'install', ignore_errors=True)
    incremental = (ROS / 'build').exists()
    try:
        try:
            run('building the ROS interfaces', command, 'build.log', clean_environment(ros))
        except subprocess.CalledProcessError:
            if not incremental:
                raise
            shutil.rmtree(ROS / 'build')
            shutil.rmtree(ROS / 'install', ignore_errors=True)
            title = 'building the ROS interfaces from the beginning'
            run(title, command, 'build.log', clean_environment(ros))
    except subprocess.CalledProcessError as error:
        errors = [line for line in error.output.splitlines() if re.search(r'[Ee]rror', line)]
        fail(
            'the ROS interfaces could not be built: '
            f'{errors[0].strip() if errors else "no reason given"}\n'
            f'The whole log is {(LOG / "build.log").relative_to(ROOT)}, its last words:\n'
            f'{tail(error.output)}'
        )
    write(ROS / 'install' / MARKER, 'Interfaces of a robot_agent_harness working tree.\n')


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder with its times, so that only what changed is built again."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def write_launcher() -> None:
    """Put the console script into `.venv/bin`, running the modules of this working tree.

    Without the environment of `env.sh` there are no such modules; then it says so.
    """
    unset = (
        f'robot-agent-harness: this shell has not the environment that it needs: run `. ./env.sh`'
        f' in {ROOT} first (an MCP client takes it from `robot-agent-harness mcp-config`)'
    )
    write(
        VENV / 'bin' / 'robot-agent-harness',
        f'#!{VENV / "bin" / "python"}\n'
        'import sys\n\n'
        'try:\n'
        '    from robot_agent_harness.cli import main\n'
        'except ModuleNotFoundError as error:\n'
        "    if error.name != 'robot_agent_harness':\n"
        '        raise\n'
        f'    print({unset!r}, file=sys.stderr)\n'
        '    sys.exit(2)\n\n'
        'sys.exit(main())\n',
        0o755,
    )


def write_variables(ros: list[str]) -> None:
    """Write what `env.sh` sets, as plain assignments of lists to put in front."""
    install = ROS / 'install'
    prefixes, libraries, programs = [str(install)], [str(install / 'lib')], [str(VENV / 'bin')]
    modules = [str(ROOT), str(site_packages(install))]
    if not ros:
        prefixes.append(str(VENV))
        libraries += wheel_libraries()
    lines = [
        '# Written by make setup; read by env.sh.',
        f'_rah_set_up_root={shlex.quote(str(ROOT))}',
        f'_rah_ros={shlex.quote(ros[-1] if ros else "")}',
        *(
            f'_rah_{name}={shlex.quote(os.pathsep.join(entries))}'
            for name, entries in (
                ('prefixes', prefixes),
                ('libraries', libraries),
                ('modules', modules),
                ('programs', programs),
            )
        ),
    ]
    write(ROS / 'variables.sh', '\n'.join(lines) + '\n')


_lock_held: list[int] = []


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Let one set-up at a time work in this tree."""
    with (ROOT / '.set_up.lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say('another set-up is running in this folder; waiting for it ...')
            fcntl.flock(lock, fcntl.LOCK_EX)
        _lock_held[:] = [lock.fileno()]
        yield


def main() -> int:
    """Bring the environment up to date."""
    if DISTRIBUTION not in DISTRIBUTIONS:
        known = ' or '.join(DISTRIBUTIONS)
        print(f'set-up failed: ROS_WHEELS={DISTRIBUTION}: must be {known}', file=sys.stderr)
        return 1
    started = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ros = ros_installation()
    locks = [PIP_LOCK, BUILD_LOCK, LOCK, *([] if ros else [ROS_LOCK])]
    venv_key: dict[str, Any] = {
        'folder': str(ROOT),
        'Python': f'{platform.python_version()} {sys.base_prefix}',
        'ROS 2': ros,
        'lock files': digest([ROOT / name for name in locks]),
    }
    ros_key = {
        **venv_key,
        'interfaces': digest([ROOT / name for name in (*INTERFACE_SOURCES, UNDERLAY)]),
        'set-up': digest([Path(__file__).resolve()]),
    }
    try:
        with only_one():
            python = VENV / 'bin' / 'python'
            have_venv = fresh(VENV, venv_key) and python.exists()
            if have_venv and fresh(ROS, ros_key):
                return 0
            check_machine(ros)
            if have_venv:
                build_interfaces(ros)
            else:
                make_venv(venv_key, ros)
                # The build needs none of these packages: they come in the meantime.
                with others_installed():
                    build_interfaces(ros)
                stamp(VENV, venv_key)
            write_launcher()
            write_variables(ros)
            stamp(ROS, ros_key)
    except SetUpError as error:
        print(f'set-up failed: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('set-up interrupted; make setup completes it', file=sys.stderr)
        return 130
    enter = f'ROS_WHEELS={DISTRIBUTION}; . ./env.sh' if BESIDE else '. ./env.sh'
    say(f'done in {time.monotonic() - started:.0f} s; {enter} enters the environment')
    return 0


if __name__ == '__main__':
    sys.exit(main())
