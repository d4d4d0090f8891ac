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
        'plan:what going from one layout to another would move and cost'
        'simulate:what a whole trace of nodes that come and go would cost'
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
        plan)
          _arguments -s \
            '(-m --model)'{-m+,--model=}'[a model by name, or the path of its Hugging Face config.json; needed by layouts that are words]:value:{compadd gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b mixtral-8x7b qwen3-30b-a3b qwen3-235b-a22b deepseek-v3; _files}' \
            '(-f --from)'{-f+,--from=}'[the layout that runs]:value:_files' \
            '(-t --to)'{-t+,--to=}'[the layout that it is to become]:value:_files' \
            '(-c --cluster)'{-c+,--cluster=}'[a cluster file (YAML), or one of examples/clusters by name\: a800x16-1nic, a800x16-8nic, a800x16, cpu-2core, h100x16]:value:{compadd a800x16-1nic a800x16-8nic a800x16 cpu-2core h100x16; _files}' \
            '(-s --states)'{-s+,--states=}'[what the job keeps of a parameter\: bf16-mixed (the default), fp32, fp8, ..., or param\:bfloat16,main\:float32]:value:' \
            '--from-nodes=[nodes of the cluster that the job runs on, 0-15 or 0-2,5; its ranks fill them in order. Default\: the first]:value:' \
            '--to-nodes=[nodes that it is to run on; they may be the same, others or some of both. best\: those, in the order, that keep most]:value:' \
            '--relabel=[let other processes take the new ranks, so that more stays\: nodes (as a whole) or ranks]:value:(nodes ranks)' \
            '--weights=[moved (the default, and what jobs do); regenerated\: where the master of a weight is float32, cast it and gather the weight instead; auto\: that, where it is fewer bytes. Exact if the job rounds to nearest. Memory and stages\: for moved alone]:value:(moved regenerated auto)' \
            '--mode=[safe\: the old state stays until commit; tight\: memory is given back on the way; auto (the default)\: safe if it fits]:value:(auto safe tight)' \
            '--memory=[of one rank, for old and new state; default\: the cluster'\''s]:value:' \
            '--budget=[what tight may use beyond the larger of the two states, 64 or more; default 256]:value:' \
            '--free-by=[what can be given back by itself\: extents (the default; arenas), tensors or buffers]:value:(extents tensors buffers)' \
            '--extent=[memory goes by whole pages of this size, such as 2; default\: any bytes]:value:' \
            '--dead=[of one rank, memory that is dead at a step boundary, as gradients are\: packing uses it first; default\: none]:value:' \
            '(-o --output)'{-o+,--output=}'[table for people (the default), json\: all of it, with units in the names (docs/plan.md), svg\: a picture of who sends what to whom, and when]:value:(table json svg)' \
            '--trace=[write when each port sends and receives what, for ui.perfetto.dev or chrome\://tracing]:value:_files' \
            '--runs[how what moves lies in memory\: in one piece, or strided at either end, and in how few descriptors for each pair of ranks]' \
            '--check[prove of all ranks'\'' programs that nobody waits for ever and each element arrives once; exit code 5 if not]' \
            '(-h --help)'{-h,--help}'[help]' ;;
        simulate)
          _arguments -s \
            '(-t --trace)'{-t+,--trace=}'[the trace (CSV); - is standard input]:value:_files' \
            '(-c --cluster)'{-c+,--cluster=}'[a cluster file (YAML), or one of examples/clusters by name\: a800x16-1nic, a800x16-8nic, a800x16, cpu-2core, h100x16]:value:{compadd a800x16-1nic a800x16-8nic a800x16 cpu-2core h100x16; _files}' \
            '(-m --model)'{-m+,--model=}'[a model by name, or the path of its Hugging Face config.json]:value:{compadd gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b mixtral-8x7b qwen3-30b-a3b qwen3-235b-a22b deepseek-v3; _files}' \
            '(-l --layouts)'{-l+,--layouts=}'[those allowed, as words without dp, which the number of nodes gives\: '\''tp8,pp4 tp8,pp2'\''. Default\: any that fits]:value:' \
            '--case=[a case of the DynaTrain paper instead of a trace, or paper\: all of them]:value:(paper paper-70b paper-235b paper-single-dp paper-single-pp paper-single-tp paper-migrate paper-hybrid)' \
            '(-a --assume)'{-a+,--assume=}'[other figures than those listed below the result\: init_s=30,storage_gb_per_s=100]:value:' \
            '(-u --until)'{-u+,--until=}'[when it ends; default\: an hour after the last event]:value:' \
            '(-o --output)'{-o+,--output=}'[table for people (the default), json\: all of it, with units in the names (docs/simulate.md)]:value:(table json)' \
            '(-h --help)'{-h,--help}'[help]' ;;
        completion)
          _arguments -s \
            '(-h --help)'{-h,--help}'[help]' \
            '1:SHELL:(bash zsh fish)' ;;
      esac ;;
  esac
}
if [ "$funcstack[1]" = _dynatrain ]; then
  _dynatrain "$@"
else
  compdef _dynatrain dynatrain
fi
