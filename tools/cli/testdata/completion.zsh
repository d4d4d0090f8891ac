#compdef dynatrain
# zsh completion of dynatrain; made by `dynatrain completion zsh`
_dynatrain() {
  local state
  _arguments -C '(-h --help)'{-h,--help}'[help]' \
    '--version[the version of this tool]' \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
        'layout:who owns what\: ranks, tensors, elements'
        'explain:how one element comes to lie where it lies'
        'completion:a script that completes commands in your shell'
      )
      _describe command commands ;;
    argument)
      case $words[1] in
        layout)
          _arguments -s \
            '(-o --output)'{-o+,--output=}'[table for people (the default), json\: a listing as live jobs dump it, svg\: a picture]:value:(table json svg)' \
            '(-r --rank)'{-r+,--rank=}'[only these ranks and what each holds\: 3, 0-7,12 or all]:value:' \
            '(-t --tensor)'{-t+,--tensor=}'[only tensors whose name matches, * and ? as in a shell, and which rank holds which part of them]:value:' \
            '(-s --state)'{-s+,--state=}'[only this state\: param, main, exp_avg, ...]:value:' \
            '(-d --diff)'{-d+,--diff=}'[compare with what a live job dumped, name the first tensors that differ and how; exit code 1 if any does]:value:_files' \
            '(-h --help)'{-h,--help}'[help]' \
            '1:FILE:_files' ;;
        explain)
          _arguments -s \
            '(-e --element)'{-e+,--element=}'[the element\: the tensor'\''s whole name and its index, one number per dim]:value:' \
            '(-s --state)'{-s+,--state=}'[of this state\: param (the default), main, exp_avg, ...]:value:' \
            '(-h --help)'{-h,--help}'[help]' \
            '1:FILE:_files' ;;
        completion)
          _arguments -s \
            '(-h --help)'{-h,--help}'[help]' \
            '1:SHELL:(bash zsh fish)' ;;
      esac ;;
  esac
}
compdef _dynatrain dynatrain
