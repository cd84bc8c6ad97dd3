# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The package's metadata agree with each other and with what is there."""

import ast
import configparser
from pathlib import Path
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile

import pytest

import robot_agent_harness
from robot_agent_harness.cli import COMMANDS
from robot_agent_harness.extras import LIBRARIES, NEEDED
from robot_agent_harness.resources import config_path, message_path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE_XML = ElementTree.parse(ROOT / 'package.xml').getroot()
UNDERLAY_XML = ElementTree.parse(ROOT / 'underlay/nav2_msgs/package.xml').getroot()

# ROS packages that Python modules import under another name than their package.xml key.
IMPORT_ONLY = {'tf2_geometry_msgs'}


@pytest.fixture(scope='module')
def setup_cfg():
    parser = configparser.ConfigParser()
    parser.read(ROOT / 'setup.cfg')
    return parser


def dependencies(root):
    return {
        element.text
        for element in root
        if element.tag in ('depend', 'build_depend', 'exec_depend', 'buildtool_depend')
    }


def requirements(text):
    """Map names to version ranges in the lines of a requirements file."""
    lines = (line.split('#')[0].strip() for line in text.splitlines())
    found = {}
    for line in filter(None, lines):
        name, specifier = re.fullmatch(r'([A-Za-z0-9._-]+)(.*)', line).groups()
        found[name.lower().replace('_', '-')] = specifier
    return found


def test_versions_agree(setup_cfg):
    version = PACKAGE_XML.findtext('version')
    assert setup_cfg['metadata']['version'] == version
    assert robot_agent_harness.__version__ == version


def test_package_xml_names_what_colcon_and_rosdep_need():
    assert PACKAGE_XML.attrib['format'] == '3'
    assert PACKAGE_XML.findtext('name') == 'robot_agent_harness'
    assert PACKAGE_XML.findtext('license') == 'Apache-2.0'
    assert PACKAGE_XML.findtext('export/build_type') == 'ament_cmake'
    assert PACKAGE_XML.findtext('member_of_group') == 'rosidl_interface_packages'
    assert PACKAGE_XML.find('maintainer').attrib['email']
    # rosdep refuses a whole workspace for one key that it does not know.
    assert not {'python3-anthropic', 'python3-anthropic-pip'} & dependencies(PACKAGE_XML)


@pytest.mark.parametrize('folder', ['.', 'underlay/nav2_msgs'])
def test_package_xml_is_valid_for_the_tools_that_read_it(folder):
    catkin_pkg = pytest.importorskip('catkin_pkg.package', reason='comes with colcon-ros')
    warnings = []
    package = catkin_pkg.parse_package(str(ROOT / folder / 'package.xml'), warnings=warnings)
    assert (package.package_format, warnings) == (3, [])


def test_the_changelog_is_one_that_a_release_can_be_made_of():
    """REP 132; what is to come is a version like the others once it has a number and a date."""
    changelog = pytest.importorskip('catkin_pkg.changelog', reason='comes with colcon-ros')
    heading = '0.2.0 (2026-12-01)'
    text = (ROOT / 'CHANGELOG.rst').read_text('utf-8')
    text = text.replace(f'Forthcoming\n{10 * "-"}', f'{heading}\n{len(heading) * "-"}')
    versions = changelog.Changelog('robot_agent_harness')
    changelog.populate_changelog_from_rst(versions, text)
    assert [version for version, _, _ in versions.foreach_version()] == ['0.1.0', '0.2.0']
    for version in ('0.1.0', '0.2.0'):
        [listed] = versions.get_content_of_version(version)
        assert len(listed.bullets) > 5


def test_description_is_the_same_everywhere(setup_cfg):
    assert setup_cfg['metadata']['description'] == PACKAGE_XML.findtext('description')


def test_package_xml_declares_every_ros_package_that_is_imported():
    declared = dependencies(PACKAGE_XML)
    imported = set()
    for path in (ROOT / 'robot_agent_harness').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split('.')[0])
    ros = {name for name in imported if name.endswith(('_msgs', '_interfaces')) or name in _ROS}
    assert ros - declared - IMPORT_ONLY == set()


_ROS = {'ament_index_python', 'launch', 'launch_ros', 'rclpy', 'tf2_ros'}


def test_cmake_generates_every_interface_file():
    text = (ROOT / 'CMakeLists.txt').read_text()
    files = {
        f'{folder}/{path.name}'
        for folder in ('msg', 'action')
        for path in (ROOT / folder).iterdir()
    }
    assert set(re.findall(r'"((?:msg|action)/\w+\.\w+)"', text)) == files


def test_every_interface_field_is_explained():
    for path in [*(ROOT / 'msg').iterdir(), *(ROOT / 'action').iterdir()]:
        section_explained = False
        for line in path.read_text().splitlines():
            if line.startswith('#'):
                section_explained = True
            elif not line.strip() or line == '---':
                section_explained = False
            else:
                assert '#' in line or section_explained or 'availability' in line or '=' in line, (
                    f'{path.name}: {line}'
                )


def test_entry_point_names_a_function_that_exists(setup_cfg):
    scripts = setup_cfg['options.entry_points']['console_scripts'].strip()
    assert scripts == 'robot-agent-harness = robot_agent_harness.cli:main'


def test_what_cmake_installs_runs_a_subcommand_with_the_interpreter_of_the_build():
    text = (ROOT / 'CMakeLists.txt').read_text()
    launchers = re.findall(r'^  install_launcher\((\S+) (\S+) (\S+)\)$', text, re.MULTILINE)
    assert launchers == [
        ('harness', 'run', 'lib/${PROJECT_NAME}'),
        ('sim_robot', 'sim-robot', 'lib/${PROJECT_NAME}'),
        ('robot-agent-harness', '""', 'bin'),
    ]
    assert {command for _, command, _ in launchers} - {'""'} <= set(COMMANDS)
    # A virtual environment that the workspace was built in need not be entered to run it.
    (script,) = re.findall(r'file\(WRITE "\$\{launcher\}" "(.*?)"\)', text, re.DOTALL)
    assert script.startswith('#!${Python3_EXECUTABLE}\n')
    assert 'from ${PROJECT_NAME}.cli import main\n' in script


def test_setup_cfg_asks_for_no_more_than_the_lock_files_hold(setup_cfg):
    wanted = requirements(setup_cfg['options']['install_requires'])
    for extra in setup_cfg['options.extras_require'].values():
        wanted |= requirements(extra)
    named = requirements((ROOT / 'requirements.in').read_text())
    assert {name: named.get(name) for name in wanted} == wanted


def test_errors_name_the_libraries_of_the_extras(setup_cfg):
    extras = setup_cfg['options.extras_require']
    assert {name: extras[name].split() for name in LIBRARIES} == {
        name: list(libraries) for name, libraries in LIBRARIES.items()
    }


def test_the_pytest_of_every_distribution_knows_the_options_of_the_tests():
    """launch_pytest goes with it, and an option that it does not know ends the run."""
    options = (ROOT / 'pyproject.toml').read_text().split('[tool.pytest.ini_options]')[1]
    given = set(re.findall(r'^(\w+) = ', options.split('\n[')[0], re.MULTILINE))
    of_pytest_timeout = {'timeout', 'timeout_method'}
    assert given - of_pytest_timeout <= {
        'addopts',
        'faulthandler_timeout',
        'filterwarnings',
        'markers',
        'pythonpath',
        'testpaths',
        'xfail_strict',
    }


def test_what_everybody_needs_is_known_by_the_name_that_is_imported(setup_cfg):
    wanted = requirements(setup_cfg['options']['install_requires'])
    assert {name.replace('-', '_').removeprefix('py') for name in wanted} == {
        name.removeprefix('py') for name in NEEDED
    }


LOCKS = sorted(ROOT.glob('requirements*.lock'))


def locked(path):
    """Map names to the versions (with their markers) that a lock file pins."""
    found = {}
    for name, version in re.findall(r'^([a-z0-9-]+)==(.*?) \\$', path.read_text(), re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


@pytest.mark.parametrize('lock', LOCKS, ids=lambda path: path.name)
def test_requirements_give_a_reason_and_are_locked_with_hashes(lock):
    source = lock.with_suffix('.in').read_text()
    for line in source.splitlines():
        assert not line or '#' in line, f'no reason given: {line}'
    assert set(requirements(source)) <= set(locked(lock))
    text = lock.read_text()
    # Which index packages come from is the machine's own business.
    assert '://' not in text
    blocks = re.split(r'\n(?=[a-z])', text.strip())
    assert all('--hash=sha256:' in block for block in blocks)


@pytest.mark.parametrize('other', ['requirements-ros.lock', 'requirements-ros-jazzy.lock'])
def test_lock_files_of_one_environment_agree(other):
    first = {}
    for lock in LOCKS:
        if lock.name == other:
            continue  # what one environment has instead of it
        for name, versions in locked(lock).items():
            assert {v.split()[0] for v in versions} == first.setdefault(
                name, {v.split()[0] for v in versions}
            ), f'{name} in {lock.name}'


def test_underlay_is_invisible_in_a_users_workspace():
    assert (ROOT / 'underlay/COLCON_IGNORE').exists()
    assert UNDERLAY_XML.findtext('name') == 'nav2_msgs'


def test_every_source_file_carries_its_licence():
    patterns = ('robot_agent_harness/**/*.py', 'test/**/*.py', 'scripts/*', 'setup.py', 'env.sh')
    for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
        if path.is_file() and path.suffix in ('.py', '.sh'):
            head = path.read_text()[:400]
            assert 'SPDX-License-Identifier: Apache-2.0' in head, path


def test_core_imports_without_ros():
    """Whatever lies outside robot_agent_harness.ros must not need rclpy, even when it is there."""
    code = (
        'import importlib, pkgutil, sys, robot_agent_harness as package\n'
        'for found in pkgutil.walk_packages(package.__path__[:1], package.__name__ + "."):\n'
        '    if not found.name.startswith(package.__name__ + ".ros"):\n'
        '        if not found.name.endswith("__main__"): importlib.import_module(found.name)\n'
        'print([name for name in sys.modules if name.split(".")[0] in ("rclpy", "nav2_msgs")])\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == '[]'


def test_a_wheel_holds_every_module_and_every_shipped_file(tmp_path):
    tree = tmp_path / 'tree'
    ignore = shutil.ignore_patterns('__pycache__')
    for name in ('robot_agent_harness', 'config', 'msg'):
        shutil.copytree(ROOT / name, tree / name, ignore=ignore)
    for name in ('setup.py', 'setup.cfg', 'pyproject.toml', 'LICENSE'):
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-index']
    command += ['--no-build-isolation', '--wheel-dir', str(tmp_path), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob('*.whl')
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if '.dist-info/' not in name}
    modules = [path for path in (tree / 'robot_agent_harness').rglob('*') if path.is_file()]
    shipped = [
        f'robot_agent_harness/_{path.relative_to(tree)}'
        for folder in ('config', 'msg')
        for path in (tree / folder).rglob('*')
        if path.is_file()
    ]
    assert packed == {*(str(path.relative_to(tree)) for path in modules), *shipped}


def test_shipped_configuration_is_found_from_the_source_tree():
    assert config_path('harness.yaml') == ROOT / 'config' / 'harness.yaml'


def test_message_definitions_are_found_from_the_source_tree():
    assert message_path('WorldSnapshot.msg') == ROOT / 'msg' / 'WorldSnapshot.msg'


def test_a_missing_configuration_file_is_named():
    with pytest.raises(FileNotFoundError, match=r'no_such\.yaml'):
        config_path('no_such.yaml')
