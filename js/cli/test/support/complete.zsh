# Prints what zsh completes at the end of a line, one completion a line: zsh -f complete.zsh SCRIPT LINE
zmodload zsh/zpty
found=$(mktemp -d)
zpty shell zsh -f -i
zpty -w shell "
PS1=
autoload -Uz compinit
compinit -D
source ${(q)1}
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
    builtin compadd \"\$@\"
    return
  fi
  local -a hits
  builtin compadd -A hits \"\$@\"
  print -rl -- \$hits >>$found/list
}
finished() { : >$found/end }
comppostfuncs=(finished)
"
zpty -w -n shell "$2"$'\t'
for ((tries = 0; tries < 200; tries += 1)); do
  [[ -e $found/end ]] && break
  zpty -r -t shell >/dev/null
  sleep 0.05
done
zpty -d shell
[[ -e $found/list ]] && cat $found/list
[[ -e $found/end ]]
code=$?
rm -r $found
exit $code
