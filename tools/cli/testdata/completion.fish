# fish completion of dynatrain; made by `dynatrain completion fish`
complete -c dynatrain -f
complete -c dynatrain -s h -l help -d 'help'
complete -c dynatrain -n __fish_use_subcommand -l version -d 'the version of this tool'
complete -c dynatrain -n __fish_use_subcommand -a layout -d 'who owns what: ranks, tensors, elements'
complete -c dynatrain -n __fish_use_subcommand -a explain -d 'how one element comes to lie where it lies'
complete -c dynatrain -n __fish_use_subcommand -a plan -d 'what going from one layout to another would move and cost'
complete -c dynatrain -n __fish_use_subcommand -a simulate -d 'what a whole trace of nodes that come and go would cost'
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
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -s m -l model -d 'a model by name, or the path of its Hugging Face config.json; needed by layouts that are words' -r -F -a 'gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b mixtral-8x7b qwen3-30b-a3b qwen3-235b-a22b deepseek-v3'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -s f -l from -d 'the layout that runs' -r -F
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -s t -l to -d 'the layout that it is to become' -r -F
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -s c -l cluster -d 'a cluster file (YAML), or one of examples/clusters by name: a800x16-1nic, a800x16-8nic, a800x16, cpu-2core, h100x16' -r -F -a 'a800x16-1nic a800x16-8nic a800x16 cpu-2core h100x16'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -s s -l states -d 'what the job keeps of a parameter: bf16-mixed (the default), fp32, fp8, ..., or param:bfloat16,main:float32' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l from-nodes -d 'nodes of the cluster that the job runs on, 0-15 or 0-2,5; its ranks fill them in order. Default: the first' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l to-nodes -d 'nodes that it is to run on; they may be the same, others or some of both. best: those, in the order, that keep most' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l relabel -d 'let other processes take the new ranks, so that more stays: nodes (as a whole) or ranks' -x -a 'nodes ranks'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l weights -d 'moved (the default, and what jobs do); regenerated: where the master of a weight is float32, cast it and gather the weight instead; auto: that, where it is fewer bytes. Exact if the job rounds to nearest. Memory and stages: for moved alone' -x -a 'moved regenerated auto'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l mode -d 'safe: the old state stays until commit; tight: memory is given back on the way; auto (the default): safe if it fits' -x -a 'auto safe tight'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l memory -d 'of one rank, for old and new state; default: the cluster\'s' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l budget -d 'what tight may use beyond the larger of the two states, 64 or more; default 256' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l free-by -d 'what can be given back by itself: extents (the default; arenas), tensors or buffers' -x -a 'extents tensors buffers'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l extent -d 'memory goes by whole pages of this size, such as 2; default: any bytes' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l dead -d 'of one rank, memory that is dead at a step boundary, as gradients are: packing uses it first; default: none' -x
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -s o -l output -d 'table for people (the default), json: all of it, with units in the names (docs/plan.md), svg: a picture of who sends what to whom, and when' -x -a 'table json svg'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l trace -d 'write when each port sends and receives what, for ui.perfetto.dev or chrome://tracing' -r -F
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l runs -d 'how what moves lies in memory: in one piece, or strided at either end, and in how few descriptors for each pair of ranks'
complete -c dynatrain -n '__fish_seen_subcommand_from plan' -l check -d 'prove of all ranks\' programs that nobody waits for ever and each element arrives once; exit code 5 if not'
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s t -l trace -d 'the trace (CSV); - is standard input' -r -F
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s c -l cluster -d 'a cluster file (YAML), or one of examples/clusters by name: a800x16-1nic, a800x16-8nic, a800x16, cpu-2core, h100x16' -r -F -a 'a800x16-1nic a800x16-8nic a800x16 cpu-2core h100x16'
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s m -l model -d 'a model by name, or the path of its Hugging Face config.json' -r -F -a 'gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b mixtral-8x7b qwen3-30b-a3b qwen3-235b-a22b deepseek-v3'
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s l -l layouts -d 'those allowed, as words without dp, which the number of nodes gives: \'tp8,pp4 tp8,pp2\'. Default: any that fits' -x
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -l case -d 'a case of the DynaTrain paper instead of a trace, or paper: all of them' -x -a 'paper paper-70b paper-235b paper-single-dp paper-single-pp paper-single-tp paper-migrate paper-hybrid'
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s a -l assume -d 'other figures than those listed below the result: init_s=30,storage_gb_per_s=100' -x
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s u -l until -d 'when it ends; default: an hour after the last event' -x
complete -c dynatrain -n '__fish_seen_subcommand_from simulate' -s o -l output -d 'table for people (the default), json: all of it, with units in the names (docs/simulate.md)' -x -a 'table json'
complete -c dynatrain -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
