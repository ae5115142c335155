import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../completion.ts';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

export function addAgentCommands(program: Command, run: Run): void {
    program.commandsGroup('More:');
    program
        .command('mcp')
        .description('serve Routebook as tools for an agent: Model Context Protocol over stdin and stdout')
        .addHelpText('after', examples(['mcp --server https://routebook.example']))
        .action(run(async () => (await import('../mcp/serve-agents.ts')).serveAgents));
    program
        .command('completion')
        .description('print a script for your shell that completes commands and options')
        .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
        .addHelpText('after', examples(['completion bash > ~/.local/share/bash-completion/completions/routebook']))
        .action(
            run(async () => async (_session, shell: Shell) => {
                const script = completionScript(program, shell);
                return { result: { shell, script }, lines: [script] };
            }),
        );
}
