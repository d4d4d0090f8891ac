# bash completion of dynatrain; made by `dynatrain completion bash`
_dynatrain() {
  local word=${COMP_WORDS[COMP_CWORD]}
  local before=${COMP_WORDS[COMP_CWORD-1]}
  [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}
  [ "$word" != = ] || word=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "layout explain completion --help --version" -- "$word"))
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
    completion)
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "--help" -- "$word"))
      else COMPREPLY=($(compgen -W "bash zsh fish" -- "$word"))
      fi ;;
  esac
}
complete -F _dynatrain dynatrain
