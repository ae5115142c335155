import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

/** What agents do. */
export function addAgentCommands(program: Command, run: Run): void {
    program.commandsGroup('More:');
    program
        .command('mcp')
        .description('serve Routebook as tools to an agent: Model Context Protocol over stdin and stdout')
        .addHelpText('after', examples(['mcp --server https://routebook.example']))
        .action((_options: object, command: Command) =>
            run(command, async (session) => (await import('../mcp/serve-agents.ts')).serveAgents(session)),
        );
}
