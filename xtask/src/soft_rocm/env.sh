# Makes the software ROCm that this file is in the ROCm of a shell, for building and for running:
#     . /path/to/soft-rocm/env.sh
# In a POSIX shell other than bash or zsh set SOFT_ROCM to the folder first. In a job of GitHub Actions it is the ROCm of
# the later steps too.

if [ -n "${BASH_SOURCE:-}" ]; then
    SOFT_ROCM=$(cd "$(dirname "$BASH_SOURCE")" && pwd -P)
elif [ -n "${ZSH_VERSION:-}" ]; then
    SOFT_ROCM=$(cd "$(dirname "$0")" && pwd -P)
fi
if [ -e "${SOFT_ROCM:-}/lib/libhipfile.so" ]; then
    export HIP_PATH="$SOFT_ROCM"
    export ROCM_PATH="$SOFT_ROCM"
    export HIPFILE_LIB_DIR="$SOFT_ROCM/lib"
    export HIPFILE_INCLUDE_DIR="$SOFT_ROCM/include"
    export PKG_CONFIG_PATH="$SOFT_ROCM/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
    export LD_LIBRARY_PATH="$SOFT_ROCM/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    export PATH="$SOFT_ROCM/bin:$PATH"
    if [ -n "${GITHUB_ENV:-}" ]; then
        for name in HIP_PATH ROCM_PATH HIPFILE_LIB_DIR HIPFILE_INCLUDE_DIR PKG_CONFIG_PATH LD_LIBRARY_PATH; do
            eval "printf '%s=%s\\n' $name \"\$$name\"" >>"$GITHUB_ENV"
        done
        printf '%s\n' "$SOFT_ROCM/bin" >>"$GITHUB_PATH"
    fi
else
    echo "env.sh: set SOFT_ROCM to the folder of this file" >&2
fi
