#!/bin/sh
# Installs a Java runtime for the tests that run on Spark; does nothing when there is one.
set -eu

if command -v java >/dev/null 2>&1; then
    echo "java: $(command -v java)"
    exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "No Java and no apt-get here: install Java 17 or newer by hand, so that java is on the PATH." >&2
    exit 1
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Java is missing, and installing it needs root: run 'apt-get install default-jre-headless' as root." >&2
        exit 1
    fi
    as_root="sudo"
fi

export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
$as_root apt-get install -q -y --no-install-recommends default-jre-headless
command -v java
