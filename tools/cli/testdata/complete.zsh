# complete.zsh TOOL LINE...: what each line becomes in a real zsh when Tab is pressed at its end.
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w shell "$1" }
# Reads what the shell prints until it has printed $1.
await() { out=; until [[ $out == *$1* ]]; do zpty -r shell line || exit 1; out+=$line; done }
say 'stty -echo; PS1=; PS2=; autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste beep; source <('$1' completion zsh)'
say 'show() { print -r -- "<<$BUFFER>>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show; print ready'
await ready
shift
for words in "$@"; do
  zpty -w -n shell "$words"$'\t\x18'
  await '>>'
  print -r -- ${${out##*<<}%%>>*}
done
zpty -d shell
