#!/bin/sh
# Bounds the bundler before it runs: its parent cannot do that once it has started.
ulimit -d "$TERRANE_BUNDLER_KIB" || exit 126
exec "$TERRANE_BUNDLER" "$@"
