#!/bin/sh
# Installs Chromium for the tests that open a report in a browser; does nothing when one is there.
set -eu

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        echo "browser: $(command -v "$name")"
        exit 0
    fi
done

if ! command -v apt-get >/dev/null 2>&1; then
    echo "No Chromium and no apt-get here: install Chromium or Google Chrome by hand, so that one of" >&2
    echo "chromium, chromium-browser, google-chrome is on the PATH." >&2
    exit 1
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Chromium is missing, and installing it needs root: run 'apt-get install chromium' as root." >&2
        exit 1
    fi
    as_root="sudo"
fi

export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
$as_root apt-get install -q -y --no-install-recommends chromium
command -v chromium
