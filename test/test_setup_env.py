# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The set-up recognises what a machine has, and says in one message what it lacks."""

from importlib import import_module
import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
WHEELS = os.environ.get('ROS_WHEELS', 'kilted')
VENV, ROS = (f'{name}{"" if WHEELS == "kilted" else f"-{WHEELS}"}' for name in ('.venv', '.ros'))
"""The environment that these tests run in."""


@pytest.fixture
def set_up(tmp_path, monkeypatch):
    """Return the parts of the set-up, which leave this tree's own environment alone."""
    monkeypatch.syspath_prepend(ROOT / 'scripts')
    names = ('jobs', 'machine', 'packages', 'stamps', 'telling', 'tree', 'wheels')
    parts = SimpleNamespace(**{name: import_module(f'set_up.{name}') for name in names})
    monkeypatch.setattr(parts.tree, 'VENV', tmp_path / '.venv')
    monkeypatch.setattr(parts.tree, 'ROS', tmp_path / '.ros')
    monkeypatch.setattr(parts.tree, 'LOG', tmp_path / '.ros' / 'log')
    monkeypatch.setattr(parts.jobs, 'PROGRESS_EVERY_S', 0.2)
    return parts


def prefix_with(path, *packages):
    index = path / 'share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    for package in packages:
        (index / package).touch()
    return path


def test_a_sourced_installation_is_recognised(set_up, tmp_path, monkeypatch):
    overlay = prefix_with(tmp_path / 'overlay', 'nav2_msgs')
    underlay = prefix_with(tmp_path / 'opt', 'rclpy')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{overlay}:{underlay}')
    prefixes = set_up.machine.ros_installation()
    assert prefixes == [str(overlay), str(underlay)]
    assert set_up.machine.has_package(prefixes, 'nav2_msgs')


def test_our_own_environment_is_not_a_sourced_installation(set_up, tmp_path, monkeypatch):
    venv = prefix_with(tmp_path / 'other/.venv', 'rclpy')
    (venv / 'pyvenv.cfg').touch()
    install = prefix_with(tmp_path / 'other/.ros/install', 'nav2_msgs')
    (install / set_up.tree.MARKER).touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{install}:{venv}')
    assert set_up.machine.ros_installation() == []


def test_a_workspace_without_rclpy_is_no_installation(set_up, tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix_with(tmp_path / 'ws', 'nav2_msgs')))
    assert set_up.machine.ros_installation() == []


def test_wrong_paths_in_the_wheels_are_mended(set_up, tmp_path):
    cmake = tmp_path / '.venv/share/nav_msgs/cmake/targets.cmake'
    cmake.parent.mkdir(parents=True)
    cmake.write_text(
        'set_target_properties(a PROPERTIES INTERFACE_INCLUDE_DIRECTORIES '
        '"/opt/python/cp311-cp311/include/python3.11;${_IMPORT_PREFIX}/include;'
        '/opt/python/cp313-cp313/lib/python3.13/site-packages/numpy/_core/include")\n'
    )
    set_up.wheels.mend_wheels()
    mended = cmake.read_text()
    assert '/opt/python' not in mended
    include = sysconfig.get_paths()['include']
    assert f'"{include};${{_IMPORT_PREFIX}}/include;' in mended
    assert str(set_up.wheels.site_packages(set_up.tree.VENV) / 'numpy/_core/include') in mended


@pytest.mark.skipif(
    not (ROOT / VENV / 'share/rclpy').exists(), reason='a ROS 2 installation is used, not wheels'
)
def test_no_wrong_path_is_left_in_this_environment():
    files = list((ROOT / VENV / 'share').glob('*/cmake/*.cmake'))
    assert files
    assert [path for path in files if '/opt/python/' in path.read_text()] == []


def test_missing_headers_are_named(set_up, tmp_path, monkeypatch):
    monkeypatch.setattr(set_up.machine.sysconfig, 'get_paths', lambda: {'include': str(tmp_path)})
    with pytest.raises(
        set_up.telling.SetUpError, match=r'headers .* apt install python3\.\d+-dev'
    ):
        set_up.machine.check_machine([])


def test_a_missing_venv_module_is_named(set_up, monkeypatch):
    monkeypatch.setitem(sys.modules, 'ensurepip', None)
    with pytest.raises(set_up.telling.SetUpError, match=r'venv module\. .* python3\.\d+-venv'):
        set_up.machine.check_machine([])


def test_a_missing_compiler_is_named(set_up, monkeypatch):
    monkeypatch.delenv('CC', raising=False)
    monkeypatch.setattr(set_up.machine.shutil, 'which', lambda name: None)
    with pytest.raises(set_up.telling.SetUpError, match=r'no C compiler.*build-essential'):
        set_up.machine.check_machine([])


def test_another_distribution_is_not_mixed_with_a_sourced_one(set_up, monkeypatch):
    monkeypatch.setattr(set_up.tree, 'DISTRIBUTION', 'jazzy')
    monkeypatch.setattr(set_up.tree, 'BESIDE', '-jazzy')
    with pytest.raises(set_up.telling.SetUpError, match=r'ROS_WHEELS=jazzy .* without it'):
        set_up.machine.check_machine(['/opt/ros/kilted'])


def test_a_platform_without_wheels_is_named(set_up, monkeypatch):
    monkeypatch.setattr(set_up.machine.platform, 'machine', lambda: 'aarch64')
    with pytest.raises(
        set_up.telling.SetUpError, match=r'no ROS 2 wheels .* aarch64.* Install ROS 2'
    ):
        set_up.machine.check_machine([])


@pytest.mark.parametrize(
    ('output', 'reason'),
    [
        ('ERROR: No matching distribution found for ros-rclpy==9.1.2', 'no wheel of ros-rclpy'),
        ('ERROR: No matching distribution found for mcp==2.3.0', 'cannot be reached'),
        ('ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM', 'its hash differs'),
        ('OSError: [Errno 28] No space left on device', 'the disk is full'),
        ('ERROR: something new', 'could not install'),
    ],
)
def test_a_failure_of_pip_is_explained(set_up, output, reason):
    set_up.tree.LOG = set_up.tree.ROOT / '.ros/log'
    assert reason in set_up.packages.pip_failure(f'Collecting\n{output}\n')


def test_a_long_job_tells_that_it_goes_on(set_up, capsys):
    set_up.jobs.run('waiting', ['sleep', '0.5'], 'job.log', dict(os.environ))
    assert capsys.readouterr().out.count('set-up: waiting ...') >= 2


def test_a_failed_job_hands_over_its_output(set_up):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        set_up.jobs.run('failing', ['sh', '-c', 'echo why; exit 3'], 'job.log', dict(os.environ))
    assert (caught.value.returncode, caught.value.output) == (3, 'why\n')


def test_a_folder_is_fresh_only_for_what_it_was_made_from(set_up, tmp_path):
    set_up.stamps.stamp(tmp_path, {'folder': 'a'})
    assert set_up.stamps.fresh(tmp_path, {'folder': 'a'})
    assert not set_up.stamps.fresh(tmp_path, {'folder': 'b'})
    assert set_up.stamps.why(tmp_path, {'folder': 'b'}) == 'changed: folder'
    (tmp_path / set_up.tree.STAMP).write_text('{"fol')
    assert not set_up.stamps.fresh(tmp_path, {'folder': 'a'})


def run_setup_sh(**variables):
    env = {'PATH': os.environ['PATH'], 'HOME': os.environ.get('HOME', '/'), **variables}
    return subprocess.run(
        ['sh', str(ROOT / 'scripts/setup.sh')],
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_an_unsupported_python_is_named(tmp_path):
    old = tmp_path / 'python3'
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1\nexit 1\n')
    old.chmod(0o755)
    done = run_setup_sh(PYTHON=str(old))
    assert done.returncode == 1
    assert '3.10, 3.11, 3.12 or 3.13 is needed' in done.stderr
    assert f'found: PYTHON={old}, which is Python 3.9.1.' in done.stderr


def test_a_distribution_without_wheels_is_named():
    done = run_setup_sh(ROS_WHEELS='hydro')
    assert (done.returncode, done.stderr) == (
        1,
        'set-up failed: ROS_WHEELS=hydro: must be kilted or jazzy\n',
    )


def test_a_python_that_does_not_exist_is_named():
    assert 'PYTHON=/no/python, which is no program' in run_setup_sh(PYTHON='/no/python').stderr


SHELLS = [name for name in ('sh', 'dash', 'bash', 'zsh') if shutil.which(name)]
PRINT = 'echo "$PATH|$PYTHONPATH|$AMENT_PREFIX_PATH|$CMAKE_PREFIX_PATH|$LD_LIBRARY_PATH"'


def in_shell(shell, script, cwd=ROOT, **variables):
    env = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': '/', 'ROS_WHEELS': WHEELS, **variables}
    return subprocess.run(
        [shell, '-c', script],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize('shell', SHELLS)
def test_env_sh_may_be_sourced_twice(shell):
    done = in_shell(shell, f'. ./env.sh && {PRINT} && . ./env.sh && {PRINT}')
    first, second = done.stdout.splitlines()
    assert first == second
    assert first.startswith(f'{ROOT}/{VENV}/bin:')


@pytest.mark.parametrize('shell', SHELLS)
def test_env_sh_leaves_the_other_environment_of_this_tree(shell, tmp_path):
    """Entries of two distributions in one path would load half of each."""
    root = tmp_path.resolve()
    shutil.copy(ROOT / 'env.sh', root)
    for beside in ('', '-jazzy'):
        (root / f'.ros{beside}').mkdir()
        (root / f'.ros{beside}/variables.sh').write_text(
            f'_rah_set_up_root={root} _rah_ros= _rah_programs={root}/.venv{beside}/bin\n'
            f'_rah_prefixes={root}/.ros{beside}/install:{root}/.venv{beside}\n'
            f'_rah_libraries={root}/.venv{beside}/lib _rah_modules={root}:{root}/.ros{beside}\n'
        )
    say = 'echo "$ROS_DISTRO $VIRTUAL_ENV $PATH $AMENT_PREFIX_PATH $LD_LIBRARY_PATH $PYTHONPATH"'
    there = f'. ./env.sh && {say} && ROS_WHEELS=jazzy && . ./env.sh && {say}'
    back = f'ROS_WHEELS= && . ./env.sh && {say}'
    done = in_shell(shell, f'{there} && {back}', cwd=root, ROS_WHEELS='')
    kilted, jazzy, again = done.stdout.splitlines()
    assert kilted.startswith(f'kilted {root}/.venv {root}/.venv/bin:')
    assert jazzy.startswith(f'jazzy {root}/.venv-jazzy {root}/.venv-jazzy/bin:')
    assert f'{root}/.venv/' not in jazzy
    assert f'{root}/.ros/' not in jazzy
    assert again == kilted


@pytest.mark.parametrize('shell', SHELLS)
def test_env_sh_keeps_dds_on_this_machine_unless_it_is_configured(shell):
    show = '. ./env.sh && echo "${ROS_AUTOMATIC_DISCOVERY_RANGE:-unset}"'
    assert in_shell(shell, show).stdout == 'LOCALHOST\n'
    assert in_shell(shell, show, ROS_STATIC_PEERS='10.0.0.1').stdout == 'unset\n'
    assert in_shell(shell, show, ROS_AUTOMATIC_DISCOVERY_RANGE='SUBNET').stdout == 'SUBNET\n'


@pytest.mark.parametrize('shell', SHELLS)
def test_env_sh_says_that_set_up_has_not_run(shell, tmp_path):
    shutil.copy(ROOT / 'env.sh', tmp_path)
    done = in_shell(shell, '. ./env.sh', cwd=tmp_path)
    assert done.returncode == 1
    assert 'run make setup' in done.stderr


@pytest.mark.parametrize('shell', SHELLS)
def test_env_sh_notices_that_the_folder_was_moved(shell, tmp_path):
    shutil.copy(ROOT / 'env.sh', tmp_path)
    (tmp_path / ROS).mkdir()
    shutil.copy(ROOT / ROS / 'variables.sh', tmp_path / ROS)
    done = in_shell(shell, '. ./env.sh', cwd=tmp_path)
    assert done.returncode == 1
    assert f'this folder was {ROOT} when it was set up' in done.stderr


def test_modules_and_messages_form_one_package_from_anywhere(tmp_path):
    script = (
        f'cd {ROOT} && . ./env.sh && cd {tmp_path} && python -c "import robot_agent_harness.msg, '
        'robot_agent_harness.errors, nav2_msgs.action, rclpy; print(robot_agent_harness.__file__)"'
    )
    done = in_shell('sh', script)
    assert done.stdout.strip() == str(ROOT / 'robot_agent_harness/__init__.py'), done.stderr
