#!/usr/bin/env bash
# Times git checkpoint against the git commands that do the same work, in turn and in one run, and prints the ratio of the two:
# what a machine, a disk or a noisy neighbour does to one side, it does to the other. The memory is that of the largest process.
#
#     benches/paired.sh [<files> [<rounds>]]      (20000 files, 7 rounds unless given)
#
# Uses the git-checkpoint that git finds on PATH, and Python for the measuring. Works in a temporary folder that is removed at the
# end.
set -euo pipefail

files=${1:-20000} rounds=${2:-7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost

# Generates files of some sizes in some folders, the same ones every time.
generate() {
    awk -v files="$files" 'BEGIN {
        srand(1)
        for (n = 0; n < files; n++) {
            path = sprintf("src/m%02d/p%02d/file%d.txt", n % 40, int(n / 40) % 25, n)
            lines = 5 + int(rand() * rand() * 300)
            print "// " n > path
            for (l = 0; l < lines; l++) printf "word%d word%d word%d\n", rand() * 900, rand() * 900, rand() * 900 > path
            close(path)
        }
    }'
}

# Runs a function in a shell of its own; prints the milliseconds it took and the KiB that its largest process had.
clock() {
    python3 -c '
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(["bash", "-euc", sys.argv[1]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
took = time.perf_counter() - start
print(round(took * 1e3, 2), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$1"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare <what> <prepare> <ours> <git's>: the first round warms up and does not count.
compare() {
    local what=$1 prepare=$2 ours=$3 theirs=$4 round a b most_a=0 most_b=0
    rm -f "$work/ours" "$work/git" "$work/ratio"
    for ((round = 0; round <= rounds; round++)); do
        "$prepare" "$round-a"
        read -r a memory_a < <(clock "$ours")
        "$prepare" "$round-b"
        read -r b memory_b < <(clock "$theirs")
        ((memory_a > most_a)) && most_a=$memory_a
        ((memory_b > most_b)) && most_b=$memory_b
        ((round > 0)) || continue
        echo "$a" >>"$work/ours"
        echo "$b" >>"$work/git"
        awk "BEGIN { print $a / $b }" >>"$work/ratio"
    done
    printf '| %s | %.0f ms | %.0f ms | %.2f | %d MB | %d MB |\n' "$what" "$(median <"$work/ours")" "$(median <"$work/git")" \
        "$(median <"$work/ratio")" $((most_a / 1024)) $((most_b / 1024))
}

# The usual recipe: a copy of the index, everything added to it, a tree, a commit, a ref.
capture_with_git() {
    local index=$work/index tree
    cp -p .git/index "$index"
    GIT_INDEX_FILE=$index git add -A
    tree=$(GIT_INDEX_FILE=$index git write-tree)
    git update-ref refs/bench/capture "$(git commit-tree -p HEAD -m bench "$tree")"
}
restore_with_git() {
    capture_with_git
    git clean -fdq
    git read-tree --reset -u "$saved_tree"
    git reset -q
}

nothing() { :; }
edit() {
    local n
    for n in 3 50 777 1200 2001; do echo "edit $1" >>"src/m$(printf %02d $((n % 40)))/p$(printf %02d $((n / 40 % 25)))/file$n.txt"; done
    for n in 1 2 3 4 5; do echo "new $1" >"src/new$n.txt"; done
}
change_many() {
    local path
    while IFS= read -r path; do echo "change $1" >>"$path"; done < <(find src -name 'file*[05].txt' | sort | head -n 500)
    mkdir -p made && for n in $(seq 100); do echo "made $1" >"made/$n"; done
}
save() { git checkpoint save --quiet; }
restore() { git checkpoint restore --quiet --yes base; }
diffstat() { git checkpoint diff --no-pager --stat base changed; }
diffstat_with_git() { git --no-pager diff --stat "$base" "$changed"; }
list() { git checkpoint list --no-pager; }
list_with_git() { git for-each-ref refs/checkpoints; }

cd "$work"
git init -q repo
cd repo
git config gc.auto 0
for m in $(seq -w 0 39); do for p in $(seq -w 0 24); do mkdir -p "src/m$m/p$p"; done; done
generate
git add -A
git commit -q -m base
git gc -q
git checkpoint save --quiet --name base >/dev/null
saved_tree=$(git rev-parse 'HEAD^{tree}')

change_many saved
git checkpoint save --quiet --name changed
git checkpoint restore --quiet --yes base
base=$(git checkpoint show --no-pager --format='%(commit)' base)
changed=$(git checkpoint show --no-pager --format='%(commit)' changed)
for function in capture_with_git restore_with_git save restore diffstat diffstat_with_git list list_with_git; do
    export -f "${function?}"
done
export work saved_tree base changed

printf '%s, %s, %s files, medians of %s rounds\n\n' "$(git checkpoint --version)" "$(git --version)" "$files" "$rounds"
printf '| work | ours | git | ratio | memory | of git |\n|---|---|---|---|---|---|\n'
compare 'save, nothing changed' nothing save capture_with_git
compare 'save, 5 edits and 5 new files' edit save capture_with_git
compare 'restore 500 edits and 100 new files' change_many restore restore_with_git
compare 'diff --stat of 600 files' nothing diffstat diffstat_with_git
for n in $(seq 500); do
    echo "$n" >counter.txt
    git checkpoint save --quiet
done
compare 'list 500 checkpoints' nothing list list_with_git
