# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
#
# Put this working tree's environment into the current shell (bash, zsh, dash):  . ./env.sh
# `make setup` must have run. Nothing heavy happens here, and doing it twice changes nothing.
# ROS_WHEELS=jazzy enters the environment that `make test-jazzy` makes beside the usual one.

# Only bash and zsh can tell where a sourced file lies; elsewhere it is the current folder.
if [ -n "${BASH_SOURCE:-}" ]; then
    _rah_root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE}")" && pwd)
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_rah_root=${${(%):-%x}:A:h}'
else
    _rah_root=$(pwd)
fi

# Put the entries of a list in front of a variable, each once.
_rah_prepend() {
    _rah_rest=$2
    _rah_value=
    while [ -n "$_rah_rest" ]; do
        _rah_entry=${_rah_rest%%:*}
        case $_rah_rest in *:*) _rah_rest=${_rah_rest#*:} ;; *) _rah_rest= ;; esac
        _rah_value=$_rah_value${_rah_value:+:}$_rah_entry
        eval "_rah_old=:\${$1:-}:"
        while :; do
            case $_rah_old in
            *":$_rah_entry:"*) _rah_old=${_rah_old%%":$_rah_entry:"*}:${_rah_old#*":$_rah_entry:"} ;;
            *) break ;;
            esac
        done
        _rah_old=${_rah_old#:}
        _rah_old=${_rah_old%:}
        eval "$1=\$_rah_old"
    done
    eval "_rah_old=\${$1:-}"
    eval "export $1=\"\$_rah_value\${_rah_old:+:}\$_rah_old\""
}

# Take the entries of this tree's other environment out of a variable.
_rah_leave() {
    eval "_rah_rest=\${$1:-}:"
    _rah_value=
    while [ -n "$_rah_rest" ]; do
        _rah_entry=${_rah_rest%%:*}
        _rah_rest=${_rah_rest#*:}
        case $_rah_entry/ in
        '/' | "$_rah_set_up_root/.venv$_rah_other/"* | "$_rah_set_up_root/.ros$_rah_other/"*) ;;
        *) _rah_value=$_rah_value${_rah_value:+:}$_rah_entry ;;
        esac
    done
    eval "$1=\$_rah_value"
}

_rah_enter() {
    _rah_wheels=${ROS_WHEELS:-kilted}
    case $_rah_wheels in
    kilted) _rah_own= _rah_other=-jazzy ;;
    *) _rah_own=-$_rah_wheels _rah_other= ;;
    esac
    if [ ! -f "$_rah_root/env.sh" ]; then
        echo "env.sh: source it from the folder that it lies in: . ./env.sh" >&2
        return 1
    fi
    if [ ! -f "$_rah_root/.ros$_rah_own/variables.sh" ]; then
        echo "env.sh: the environment is not there yet: run make setup in $_rah_root" >&2
        return 1
    fi
    . "$_rah_root/.ros$_rah_own/variables.sh"
    if [ "$_rah_set_up_root" != "$(CDPATH='' cd -- "$_rah_root" && pwd -P)" ]; then
        echo "env.sh: this folder was $_rah_set_up_root when it was set up: run make setup again" >&2
        return 1
    fi
    if [ -n "$_rah_ros" ]; then
        case :${AMENT_PREFIX_PATH:-}: in
        *":$_rah_ros:"*) ;;
        *)
            echo "env.sh: set up for the ROS 2 in $_rah_ros, which is not sourced here:" \
                "source its setup first, or run make setup to use the package index's ROS 2" >&2
            return 1
            ;;
        esac
    else
        # The wheels' own start-up hook would start every Python twice to set what is set here.
        export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
        export ROS_VERSION=2 ROS_PYTHON_VERSION=3 ROS_DISTRO="$_rah_wheels"
        export RMW_IMPLEMENTATION="${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"
    fi
    export VIRTUAL_ENV="$_rah_root/.venv$_rah_own"
    unset PYTHONHOME
    for _rah_name in PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH PYTHONPATH; do
        _rah_leave "$_rah_name"
    done
    _rah_prepend PATH "$_rah_programs"
    _rah_prepend AMENT_PREFIX_PATH "$_rah_prefixes"
    _rah_prepend CMAKE_PREFIX_PATH "$_rah_prefixes"
    _rah_prepend LD_LIBRARY_PATH "$_rah_libraries"
    _rah_prepend PYTHONPATH "$_rah_modules"
    # A robot elsewhere on the network must not be moved by a test; a configured DDS is left alone.
    if [ -z "${ROS_AUTOMATIC_DISCOVERY_RANGE:-}${ROS_LOCALHOST_ONLY:-}${ROS_STATIC_PEERS:-}" ]; then
        export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
    fi
    # The shell may remember where programs were.
    hash -r 2>/dev/null
    return 0
}

_rah_enter
_rah_status=$?
unset -f _rah_enter _rah_leave _rah_prepend
unset _rah_root _rah_set_up_root _rah_ros _rah_prefixes _rah_libraries _rah_modules _rah_programs
unset _rah_rest _rah_value _rah_entry _rah_old _rah_own _rah_other _rah_name _rah_wheels
# A sourced file's own status, without ending the shell.
[ "$_rah_status" -eq 0 ]
