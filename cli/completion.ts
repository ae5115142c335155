import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A word that can follow `routebook` or one of its commands. */
interface Word {
    text: string;
    about: string;
}

/** A command with its options and the choices of options. */
interface Place {
    /** `yank`, or `policy set`. */
    path: string;
    words: Word[];
    choices: { option: string; values: readonly string[] }[];
}

/** Generates a completion script for commands, options and choices from the commander definitions. */
export function completionScript(program: Command, shell: Shell): string {
    const places = placesOf(program);
    const writers: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish };
    return writers[shell](places);
}

function placesOf(program: Command): Place[] {
    const below = (command: Command, path: string): Place[] => [
        { path, words: [...commandsOf(command), ...optionsOf(command)], choices: choicesOf(command) },
        ...command.commands.flatMap((one) => below(one, path === '' ? one.name() : `${path} ${one.name()}`)),
    ];
    return below(program, '');
}

function commandsOf(command: Command): Word[] {
    return command.commands.map((one) => ({ text: one.name(), about: one.description() }));
}

function optionsOf(command: Command): Word[] {
    return command.options.flatMap(({ long, description }) => (long ? [{ text: long, about: description }] : []));
}

function choicesOf(command: Command): Place['choices'] {
    const hasChoices = (option: Option): option is Option & { argChoices: string[]; long: string } =>
        option.argChoices !== undefined && option.long !== undefined;
    return command.options.filter(hasChoices).map(({ long, argChoices }) => ({ option: long, values: argChoices }));
}

/** The longest command path that matches the typed words selects the completions. Options are ignored. */
function bash(places: readonly Place[]): string {
    const cases = places.map(({ path, words }) => `        '${path}') words='${words.map(({ text }) => text).join(' ')}' ;;`);
    const choices = places.flatMap(({ path, choices: of }) =>
        of.map(({ option, values }) => `        '${path} ${option}') words='${values.join(' ')}' ;;`),
    );
    const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
    return `# routebook completion bash > ~/.local/share/bash-completion/completions/routebook
_routebook() {
    local typed='' place='' words='' path word
    for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -* ]] || typed="\${typed:+$typed }$word"
    done
    for path in ${paths.join(' ')}; do
        [[ "$typed " == "$path "* && \${#path} -gt \${#place} ]] && place=$path
    done
    case "$place \${COMP_WORDS[COMP_CWORD-1]}" in
${choices.join('\n')}
    esac
    [[ -n $words ]] || case "$place" in
${cases.join('\n')}
    esac
    COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
    [[ \${#COMPREPLY[@]} -gt 0 ]] || compopt -o default
}
complete -F _routebook routebook`;
}

/** Zsh can run bash completions. */
function zsh(places: readonly Place[]): string {
    return `#compdef routebook
# routebook completion zsh > ~/.zfunc/_routebook, with ~/.zfunc in fpath before compinit
autoload -U +X bashcompinit && bashcompinit
${bash(places).replace(/^#.*\n/, '')}`;
}

function fish(places: readonly Place[]): string {
    const lines = places.flatMap(({ path, words, choices }) => {
        const where = path === '' ? '__fish_use_subcommand' : path.split(' ').map(seen).join('; and ');
        return words.map(({ text, about }) => {
            const isOption = text.startsWith('--');
            const values = choices.find(({ option }) => option === text)?.values;
            const word = isOption ? `-l ${text.slice(2)}` : `-f -a ${text}`;
            return `complete -c routebook -n '${where}' ${word}${values === undefined ? '' : ` -x -a '${values.join(' ')}'`} -d ${quoted(about)}`;
        });
    });
    return ['# routebook completion fish > ~/.config/fish/completions/routebook.fish', ...lines].join('\n');
}

const seen = (command: string) => `__fish_seen_subcommand_from ${command}`;

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
