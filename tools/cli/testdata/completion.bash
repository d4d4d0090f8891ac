# bash completion of dynatrain; made by `dynatrain completion bash`
_dynatrain() {
  local word=${COMP_WORDS[COMP_CWORD]}
  local before=${COMP_WORDS[COMP_CWORD-1]}
  [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}
  [ "$word" != = ] || word=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "layout explain plan simulate completion --help --version" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
    layout)
      case "$before" in
        -o|--output) COMPREPLY=($(compgen -W "table json svg" -- "$word")); return ;;
        -r|--rank) COMPREPLY=(); return ;;
        -t|--tensor) COMPREPLY=(); return ;;
        -s|--state) COMPREPLY=(); return ;;
        -d|--diff) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
      esac
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "--output --rank --tensor --state --diff --help" -- "$word"))
      else compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi ;;
    explain)
      case "$before" in
        -e|--element) COMPREPLY=(); return ;;
        -s|--state) COMPREPLY=(); return ;;
      esac
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "--element --state --help" -- "$word"))
      else compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi ;;
    plan)
      case "$before" in
        -m|--model) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -W "gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b mixtral-8x7b qwen3-30b-a3b qwen3-235b-a22b deepseek-v3" -- "$word"); return ;;
        -f|--from) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        -t|--to) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        -c|--cluster) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -W "a800x16-1nic a800x16-8nic a800x16 cpu-2core h100x16" -- "$word"); return ;;
        -s|--states) COMPREPLY=(); return ;;
        --from-nodes) COMPREPLY=(); return ;;
        --to-nodes) COMPREPLY=(); return ;;
        --relabel) COMPREPLY=($(compgen -W "nodes ranks" -- "$word")); return ;;
        --weights) COMPREPLY=($(compgen -W "moved regenerated auto" -- "$word")); return ;;
        --mode) COMPREPLY=($(compgen -W "auto safe tight" -- "$word")); return ;;
        --memory) COMPREPLY=(); return ;;
        --budget) COMPREPLY=(); return ;;
        --free-by) COMPREPLY=($(compgen -W "extents tensors buffers" -- "$word")); return ;;
        --extent) COMPREPLY=(); return ;;
        --dead) COMPREPLY=(); return ;;
        -o|--output) COMPREPLY=($(compgen -W "table json svg" -- "$word")); return ;;
        --trace) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
      esac
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "--model --from --to --cluster --states --from-nodes --to-nodes --relabel --weights --mode --memory --budget --free-by --extent --dead --output --trace --runs --check --help" -- "$word"))
      fi ;;
    simulate)
      case "$before" in
        -t|--trace) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        -c|--cluster) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -W "a800x16-1nic a800x16-8nic a800x16 cpu-2core h100x16" -- "$word"); return ;;
        -m|--model) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -W "gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b mixtral-8x7b qwen3-30b-a3b qwen3-235b-a22b deepseek-v3" -- "$word"); return ;;
        -l|--layouts) COMPREPLY=(); return ;;
        --case) COMPREPLY=($(compgen -W "paper paper-70b paper-235b paper-single-dp paper-single-pp paper-single-tp paper-migrate paper-hybrid" -- "$word")); return ;;
        -a|--assume) COMPREPLY=(); return ;;
        -u|--until) COMPREPLY=(); return ;;
        -o|--output) COMPREPLY=($(compgen -W "table json" -- "$word")); return ;;
      esac
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "--trace --cluster --model --layouts --case --assume --until --output --help" -- "$word"))
      fi ;;
    completion)
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "--help" -- "$word"))
      else COMPREPLY=($(compgen -W "bash zsh fish" -- "$word"))
      fi ;;
  esac
}
complete -F _dynatrain dynatrain
