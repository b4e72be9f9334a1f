#!/bin/sh
# Installs git-checkpoint: the program, its manual pages and its shell completions. Run it in a checkout of the sources, where it
# builds the program with cargo, or in an unpacked release, where it checks and copies what lies beside it. Nothing is
# downloaded by this script, and no shell profile is edited.
set -eu

usage() {
    cat <<'TXT'
usage: ./install.sh [--prefix <dir>] [--no-man] [--no-completions] [--force] [--try]
       ./install.sh --uninstall [--prefix <dir>]

    --prefix <dir>     install below <dir>: bin/, share/man/, share/… for completions
                       (unset: /usr/local for root, else beside a folder of yours that is on PATH)
    --no-man           leave the manual pages out; `git checkpoint --help` then finds none
    --no-completions   leave the completions for bash, zsh and fish out
    --force            replace a git-checkpoint that is a different program
    --try              afterwards save, list, restore and undo a checkpoint in a scratch repository
    --uninstall        remove what this script installed
TXT
}

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# True if $1 is one of the folders on PATH.
on_path() {
    case ":$PATH:" in *":$1:"* | *":$1/:"*) return 0 ;; *) return 1 ;; esac
}

# The nearest existing folder at or above $1 can be written to.
writable() {
    folder=$1
    while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
    [ -w "$folder" ]
}

# The folders that may take the program where no prefix is given, best first.
places() {
    if [ "$(id -u)" = 0 ]; then say /usr/local/bin; fi
    if [ -n "${XDG_BIN_HOME:-}" ]; then say "$XDG_BIN_HOME"; fi
    say "$HOME/.local/bin"
    say "$HOME/bin"
    say "${CARGO_HOME:-$HOME/.cargo}/bin"
}

choose_place() {
    if [ -n "$prefix" ]; then
        bin=$prefix/bin
    else
        bin=$(places | while IFS= read -r place; do
            if on_path "$place" && writable "$place"; then
                say "$place"
                break
            fi
        done)
        [ -n "$bin" ] || bin=$HOME/.local/bin
    fi
    # man looks for pages beside the folders of PATH.
    share=$(dirname "$bin")/share
    data=$share
    # The shells look for completions of their own user elsewhere.
    case $bin in "$HOME"/*) [ -n "$prefix" ] || data=${XDG_DATA_HOME:-$HOME/.local/share} ;; esac
    receipt=$share/git-checkpoint/installed-files
}

# Checks what lies beside this script against the list of checksums that came with it.
check_sums() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum -c SHA256SUMS >/dev/null || fail "the files do not match SHA256SUMS: download the release again"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 -c SHA256SUMS >/dev/null || fail "the files do not match SHA256SUMS: download the release again"
    else
        fail "neither sha256sum nor shasum is here to check the files with"
    fi
    for needed in git-checkpoint install.sh man/*.1; do
        grep -q "[ *]$needed\$" SHA256SUMS || fail "SHA256SUMS does not list $needed"
    done
}

# Sets `built` to the program to install.
find_program() {
    if [ -f SHA256SUMS ] && [ -f git-checkpoint ]; then
        check_sums
        built=./git-checkpoint
    elif [ -f Cargo.toml ] && [ -f src/main.rs ]; then
        command -v cargo >/dev/null 2>&1 || fail "cargo is needed to build from source: https://rustup.rs"
        say "building git-checkpoint (the first time takes a minute or two)"
        cargo build --release --locked --quiet || fail "cargo could not build the program"
        built=${CARGO_TARGET_DIR:-target}/release/git-checkpoint
    else
        fail "run this in a checkout of the sources or in an unpacked release"
    fi
    version=$("$built" --version) || fail "the program does not run on this machine"
}

# Puts file $1 at $2 with mode $3 in one step, and notes it.
put() {
    mkdir -p "$(dirname "$2")"
    aside=$2.new.$$
    cp "$1" "$aside"
    chmod "$3" "$aside"
    mv -f "$aside" "$2"
    say "$2" >>"$receipt.new"
    say "  $2"
}

check_existing() {
    [ -e "$bin/git-checkpoint" ] || return 0
    existing=$("$bin/git-checkpoint" --version 2>/dev/null </dev/null || true)
    case $existing in
    "git-checkpoint "*) say "replacing $existing by $version" ;;
    *) [ -n "$force" ] || fail "$bin/git-checkpoint is a different program; --force replaces it" ;;
    esac
}

install() {
    find_program
    check_existing
    mkdir -p "$(dirname "$receipt")" || fail "cannot write to $share"
    trap 'rm -f "$receipt.new"' EXIT
    : >"$receipt.new"
    say "installing $version:"
    put "$built" "$bin/git-checkpoint" 755
    if [ -n "$with_man" ]; then
        for page in man/*.1; do
            put "$page" "$share/man/man1/${page##*/}" 644
        done
    fi
    if [ -n "$with_completions" ]; then
        put completions/git-checkpoint.bash "$data/bash-completion/completions/git-checkpoint" 644
        put completions/_git-checkpoint "$data/zsh/site-functions/_git-checkpoint" 644
        put completions/git-checkpoint.fish "$data/fish/vendor_conf.d/git-checkpoint.fish" 644
    fi
    forget_others
    mv -f "$receipt.new" "$receipt"
    advise
}

# Removes what an earlier installation here had and this one has not.
forget_others() {
    [ -f "$receipt" ] || return 0
    while IFS= read -r old; do
        grep -qxF -- "$old" "$receipt.new" || rm -f -- "$old"
    done <"$receipt"
}

advise() {
    if ! on_path "$bin"; then
        warn "$bin is not on PATH, so git does not find the program; add to your shell's profile:"
        say "    export PATH=\"$bin:\$PATH\"" >&2
    else
        found=$(command -v git-checkpoint || true)
        [ "$found" = "$bin/git-checkpoint" ] || warn "$found comes before $bin/git-checkpoint on PATH"
    fi
    if [ -n "$with_man" ] && command -v man >/dev/null 2>&1 && ! PATH="$bin:$PATH" man -w git-checkpoint >/dev/null 2>&1; then
        warn "man does not find the page; add to your shell's profile:"
        say "    export MANPATH=\"$share/man:\"" >&2
    fi
    if [ -n "$with_completions" ] && command -v zsh >/dev/null 2>&1; then
        # shellcheck disable=SC2016 # zsh is to expand it
        zsh -fc 'print -rl -- $fpath' 2>/dev/null </dev/null | grep -qxF -- "$data/zsh/site-functions" ||
            say "for completion in zsh, put before compinit in .zshrc: fpath=('$data/zsh/site-functions' \$fpath)"
    fi
    say "done: git checkpoint -h"
}

uninstall() {
    [ -f "$receipt" ] || fail "nothing is installed in $(dirname "$bin"); --prefix names another place"
    while IFS= read -r file; do
        rm -f -- "$file"
        say "  removed $file"
    done <"$receipt"
    rm -f -- "$receipt"
    rmdir "$(dirname "$receipt")" 2>/dev/null || true
    say "git-checkpoint is uninstalled; checkpoints stay in their repositories"
}

# Shows a command and runs it.
show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# The main job in a repository that is thrown away.
try_it() {
    command -v git >/dev/null 2>&1 || fail "git is needed to try it"
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    PATH=$bin:$PATH
    cd "$scratch"
    git init -q .
    say 'the first version' >notes.txt
    git add notes.txt
    git -c user.name=you -c user.email=you@example.com commit -q -m 'first'
    say 'an idea' >idea.txt
    show git checkpoint save -m 'before the experiment'
    say 'something went wrong' >notes.txt
    rm idea.txt
    show git checkpoint --no-pager diff --stat
    show git checkpoint --no-pager list
    show git checkpoint restore --yes @
    show cat notes.txt idea.txt
    [ "$(cat notes.txt idea.txt)" = 'the first version
an idea' ] || fail "the restore did not bring the files back"
    show git checkpoint undo --yes
    if [ "$(cat notes.txt)" != 'something went wrong' ] || [ -e idea.txt ]; then
        fail "undo did not bring the later state back"
    fi
    say
    say "it works: saved, compared, restored and undone in a scratch repository"
}

prefix='' with_man=yes with_completions=yes force='' try='' remove=''
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -gt 1 ] || fail "--prefix needs a folder"
        prefix=$2
        shift
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --no-man) with_man='' ;;
    --no-completions) with_completions='' ;;
    --force) force=yes ;;
    --try) try=yes ;;
    --uninstall) remove=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
case $prefix in
'' | /*) ;;
*) prefix=$PWD/$prefix ;;
esac

cd "$(dirname "$0")"
choose_place
if [ -n "$remove" ]; then
    uninstall
else
    install
    [ -z "$try" ] || try_it
fi
