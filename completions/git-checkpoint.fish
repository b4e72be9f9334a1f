# Fish completion for `git checkpoint …` and `git-checkpoint …`. The candidates come from the program itself, so that they are
# those of the installed version.
#
# To be sourced when fish starts (it belongs into a conf.d folder): what fish loads for `git` alone is its own file, and not
# every version of that asks for the completions of commands like this one.

# Prints the number of the word that is the command of git, past git's own options.
function __fish_git_checkpoint_command_at
    set -l words $argv
    set -l at 2
    while set -q words[$at]
        switch $words[$at]
            case -C -c --git-dir --work-tree --namespace --config-env --super-prefix
                set at (math $at + 2)
            case '-*'
                set at (math $at + 1)
            case '*'
                break
        end
    end
    echo $at
end

# True on a line that begins with `git [options] checkpoint`.
function __fish_git_checkpoint_is_command
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l at (__fish_git_checkpoint_command_at $words)
    set -q words[$at]; and test $words[$at] = checkpoint
end

# Asks the program how the line may go on; where it has no answer, files may be meant.
function __fish_git_checkpoint_candidates
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l at 1
    set -l ask git-checkpoint
    if string match --quiet --regex '(^|/)git$' -- $words[1]
        # Git's own options decide which repository is asked.
        set at (__fish_git_checkpoint_command_at $words)
        set ask git
        test $at -gt 2; and set --append ask $words[2..(math $at - 1)]
        set --append ask checkpoint
    end
    set -l rest $words[(math $at + 1)..-1]
    set -l found (COMPLETE=fish command $ask -- git-checkpoint $rest "$current" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path $current
    end
end

complete --command git-checkpoint --no-files --keep-order --arguments '(__fish_git_checkpoint_candidates)'
complete --command git --condition __fish_git_checkpoint_is_command --no-files --keep-order --arguments '(__fish_git_checkpoint_candidates)'
