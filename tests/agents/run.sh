#!/bin/sh
# Real agents, a model on this machine that says what it was sent, and our hooks: three turns that write a file each, back to the
# first with files and memory, on from there, undo, and the first again on another machine. Needs node and npm; the agents are installed into a temporary folder.
#
#     tests/agents/run.sh [claude] [codex]        (both unless told; git-checkpoint as PATH has it, else that of target/)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "tests/agents/run.sh: node and npm are not there" >&2
    exit 77
fi
work=$(mktemp -d)
model=
cleanup() {
    [ -z "$model" ] || kill "$model" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

PATH="$work/tools/node_modules/.bin:$PATH:$here/../../target/release:$here/../../target/debug"
export PATH
export HOME="$work/home" CLAUDE_CONFIG_DIR="$work/home/claude" CODEX_HOME="$work/home/codex" TERM=dumb
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
unset CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID
export ANTHROPIC_API_KEY=dummy CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1
mkdir -p "$CLAUDE_CONFIG_DIR" "$CODEX_HOME" "$work/tools"
cd "$work/tools"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# what $1 is, $2 as it was to be and $3 as it is
same() {
    [ "$2" = "$3" ] || fail "$1: \`$3\` and not \`$2\`"
}

# one turn of agent $1 with prompt $2, in conversation $3 if it is given; prints the last line of the answer
turn() {
    case $1 in
    claude) claude -p "$2" --permission-mode acceptEdits ${3:+--resume "$3"} ;;
    codex) codex exec --dangerously-bypass-hook-trust ${3:+resume "$3"} "$2" ;;
    esac </dev/null 2>"$work/agent.log" | tail -n 1
}

# the value at path $2 of the JSON document $1
value() {
    printf '%s' "$1" | node -e 'const value = process.argv[1].split(".").reduce((at, key) => at?.[key], JSON.parse(require("fs").readFileSync(0)));
        console.log(typeof value === "string" ? value : JSON.stringify(value ?? null))' "$2"
}

files() {
    find . -maxdepth 1 -name '*.txt' | sort | tr -d './\n' | sed 's/txt/ /g; s/ $//'
}

# another machine, with homes of its own: checkpoint $2 of agent $1 comes out of the bundle with its memory, and the agent goes on there
elsewhere() {
    mkdir -p "$work/elsewhere/$1" "$work/elsewhere/codex-home"
    sed "s|^\\[projects.*|[projects.\"$work/elsewhere/$1\"]|" "$CODEX_HOME/config.toml" >"$work/elsewhere/codex-home/config.toml"
    export CLAUDE_CONFIG_DIR="$work/elsewhere/claude-home" CODEX_HOME="$work/elsewhere/codex-home"
    cd "$work/elsewhere/$1"
    git init -q .
    git checkpoint import -q "$work/bundle"
    there=$(git checkpoint restore -y --json "$2" --what both)
    same "files elsewhere" alpha "$(files)"
    same "memory elsewhere" "I know: Q1 write alpha.txt one | Q6" "$(turn "$1" Q6 "$(value "$there" memory.to.conversation)")"
}

try() {
    agent=$1
    mkdir "$work/$agent"
    cd "$work/$agent"
    git init -q .
    node "$here/model.mjs" "$PWD" >"$work/port" &
    model=$!
    while [ ! -s "$work/port" ]; do sleep 0.1; done
    port=$(cat "$work/port")
    export ANTHROPIC_BASE_URL="http://127.0.0.1:$port"
    cat >"$CODEX_HOME/config.toml" <<END
model = "lab"
model_provider = "lab"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.lab]
name = "lab"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
[projects."$PWD"]
trust_level = "trusted"
[analytics]
enabled = false
END
    git checkpoint hooks install -q "$agent"
    same "turn 1" "I know: Q1 write alpha.txt one" "$(turn "$agent" 'Q1 write alpha.txt one')"
    first=$(git checkpoint show --json turn:1)
    conversation=$(value "$first" checkpoint.memory.conversation)
    turn "$agent" 'Q2 write beta.txt two' "$conversation" >/dev/null
    three=$(turn "$agent" 'Q3 write gamma.txt three' "$conversation")
    same "turn 3" "I know: Q1 write alpha.txt one | Q2 write beta.txt two | Q3 write gamma.txt three" "$three"
    same "files after three turns" "alpha beta gamma" "$(files)"

    back=$(git checkpoint restore -y --json turn:1 --what both)
    same "status" restored "$(value "$back" status)"
    same "files of turn 1" alpha "$(files)"
    fork=$(value "$back" memory.to.conversation)
    same "memory of turn 1" "I know: Q1 write alpha.txt one | Q9" "$(turn "$agent" Q9 "$fork")"

    undone=$(git checkpoint undo -y --json)
    same "the conversation after undo" "$conversation" "$(value "$undone" memory.to.conversation)"
    same "files after undo" "alpha beta gamma" "$(files)"
    same "memory after undo" "$(printf '%s | Q8' "$three")" "$(turn "$agent" Q8 "$conversation")"

    alone=$(git checkpoint restore -y --json turn:2 --what memory)
    same "files after the memory alone" "alpha beta gamma" "$(files)"
    fork=$(value "$alone" memory.to.conversation)
    same "memory of turn 2" "I know: Q1 write alpha.txt one | Q2 write beta.txt two | Q7" "$(turn "$agent" Q7 "$fork")"

    git checkpoint export -q --with-memory -o "$work/bundle"
    (elsewhere "$agent" "$(value "$first" checkpoint.id)")
    rm "$work/bundle"

    git checkpoint hooks uninstall -q "$agent"
    git fsck --no-progress >/dev/null 2>&1
    kill "$model"
    model=
    rm "$work/port"
    echo "$agent: as it should be"
}

for agent in "${@:-claude codex}"; do
    for one in $agent; do
        case $one in
        claude) npm install --silent --no-fund --no-audit @anthropic-ai/claude-code@2.1.332 >/dev/null ;;
        codex) npm install --silent --no-fund --no-audit @openai/codex@0.171.0 >/dev/null ;;
        *) fail "unknown agent $one" ;;
        esac
        try "$one"
        cd "$work/tools"
    done
done
