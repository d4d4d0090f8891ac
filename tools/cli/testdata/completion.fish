# fish completion of dynatrain; made by `dynatrain completion fish`
complete -c dynatrain -f
complete -c dynatrain -s h -l help -d 'help'
complete -c dynatrain -n __fish_use_subcommand -l version -d 'the version of this tool'
complete -c dynatrain -n __fish_use_subcommand -a layout -d 'who owns what: ranks, tensors, elements'
complete -c dynatrain -n __fish_use_subcommand -a explain -d 'how one element comes to lie where it lies'
complete -c dynatrain -n __fish_use_subcommand -a completion -d 'a script that completes commands in your shell'
complete -c dynatrain -n '__fish_seen_subcommand_from layout' -s o -l output -d 'table for people (the default), json: a listing as live jobs dump it, svg: a picture' -x -a 'table json svg'
complete -c dynatrain -n '__fish_seen_subcommand_from layout' -s r -l rank -d 'only these ranks and what each holds: 3, 0-7,12 or all' -x
complete -c dynatrain -n '__fish_seen_subcommand_from layout' -s t -l tensor -d 'only tensors whose name matches, * and ? as in a shell, and which rank holds which part of them' -x
complete -c dynatrain -n '__fish_seen_subcommand_from layout' -s s -l state -d 'only this state: param, main, exp_avg, ...' -x
complete -c dynatrain -n '__fish_seen_subcommand_from layout' -s d -l diff -d 'compare with what a live job dumped, name the first tensors that differ and how; exit code 1 if any does' -r -F
complete -c dynatrain -n '__fish_seen_subcommand_from layout' -F
complete -c dynatrain -n '__fish_seen_subcommand_from explain' -s e -l element -d 'the element: the tensor\'s whole name and its index, one number per dim' -x
complete -c dynatrain -n '__fish_seen_subcommand_from explain' -s s -l state -d 'of this state: param (the default), main, exp_avg, ...' -x
complete -c dynatrain -n '__fish_seen_subcommand_from explain' -F
complete -c dynatrain -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
