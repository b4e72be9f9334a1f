# Bash completion for `git checkpoint …` and `git-checkpoint …`.
#
# Git's own completion finds the function _git_checkpoint, and loads it from a file named git-checkpoint in the completions
# folder of bash-completion. The candidates come from the program itself, so that they are those of the installed version.

# Sets `words` to the words of the line up to the cursor, the last one being the word to complete. Bash breaks words at the
# characters of COMP_WORDBREAKS (`=`, `:`, `@` …); here they are whole again.
__git_checkpoint_words() {
    local rest=${COMP_LINE:0:COMP_POINT} word i
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        # What is left of the line is the word at the cursor, which may go on behind it.
        ((i == COMP_CWORD)) && word=${rest#"${rest%%[![:blank:]]*}"}
        if ((i > 0)) && [[ $rest != [[:blank:]]* ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#*"$word"}
    done
}

# Sets REPLY to a word of the line without its quotes and backslashes.
__git_checkpoint_unquote() {
    REPLY=$1
    case $REPLY in
    \"*) REPLY=${REPLY#\"} REPLY=${REPLY%\"} ;;
    \'*) REPLY=${REPLY#\'} REPLY=${REPLY%\'} ;;
    *) REPLY=${REPLY//\\/} ;;
    esac
}

# Sets REPLY to what is to stand on the line for candidate $1 where $2 is typed: quoted where it must be, without the part that
# bash does not replace, and followed by a space where the word is over.
__git_checkpoint_insert() {
    local typed=$2 mark prefix
    REPLY=$1
    [[ $typed == [\"\']* ]] && return
    if [[ $REPLY == *[[:space:]\"\'\\\$\`\!\&\;\|\<\>\(\)\*\?\[\]]* ]]; then
        printf -v REPLY '%q' "$REPLY"
    fi
    [[ $REPLY == *[=/:] ]] || REPLY+=' '
    for mark in = : @; do
        [[ $COMP_WORDBREAKS == *"$mark"* && $typed == *"$mark"* ]] || continue
        prefix=${typed%"${typed##*"$mark"}"}
        REPLY=${REPLY#"$prefix"} typed=${typed#"$prefix"}
    done
}

# Fills COMPREPLY. The command stands at index $1 of the words; git's own options before it decide which repository is asked.
__git_checkpoint_complete() {
    local command=$1 typed candidate i REPLY
    local -a words ask
    COMPREPLY=()
    __git_checkpoint_words
    typed=${words[${#words[@]} - 1]}
    for i in "${!words[@]}"; do
        __git_checkpoint_unquote "${words[i]}"
        words[i]=$REPLY
    done
    ask=("${words[0]}")
    ((command > 0)) && ask=(git "${words[@]:1:command-1}" checkpoint)
    words=(git-checkpoint "${words[@]:command+1}")
    while IFS= read -r -d $'\013' candidate || [[ -n $candidate ]]; do
        __git_checkpoint_insert "$candidate" "$typed"
        COMPREPLY+=("$REPLY")
    done < <(
        COMPLETE=bash _CLAP_IFS=$'\013' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) \
            command "${ask[@]}" -- "${words[@]}" 2>/dev/null
    )
    compopt -o nospace 2>/dev/null
}

# Called by git's completion; __git_cmd_idx is where the command stands, also if it is an alias of ours.
_git_checkpoint() {
    local index=${__git_cmd_idx:-0}
    if ((index == 0)); then
        for ((index = 1; index < COMP_CWORD; index++)); do
            [[ ${COMP_WORDS[index]} == checkpoint ]] && break
        done
    fi
    __git_checkpoint_complete "$index"
}

# Called for `git-checkpoint …`.
_git_checkpoint_alone() {
    __git_checkpoint_complete 0
}

complete -o bashdefault -o default -o nospace -F _git_checkpoint_alone git-checkpoint
