import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

/** The commands for connections: calls with the user's own credentials. */
export function addConnectionCommands(program: Command, run: Run): void {
    program.commandsGroup('Call a site as yourself:');
    program
        .command('connect')
        .description(
            'keep a credential of yours for a site; it is asked for without echo or read from a pipe, or the browser opens for a consent',
        )
        .argument('<site>', 'domain of the site')
        .option('--auth <id>', 'way to authenticate, where the schema has several')
        .option('--user <name>', 'user name, where the site wants a password')
        .option('--client-id <id>', 'client id, where the site wants a client of your own by OAuth')
        .option('--name <text>', 'what you call it')
        .option('--shared', 'for every member of the workspace')
        .option('--no-test', 'keep it without asking the site')
        .option('--consent', 'by OAuth: open the page where you consent')
        .option('--no-browser', 'print that page and open no browser')
        .addHelpText(
            'after',
            examples(['connect api.example.com', 'connect api.example.com --user ada', 'connect api.example.com --consent']),
        )
        .action(run(async () => (await import('../connections/connections.ts')).connect));
    const connections = program
        .command('connections')
        .description('list, test and remove your connections')
        .addHelpText('after', examples(['connections list', 'connections test con_2cH7…']));
    connections
        .command('list')
        .description('list the connections that you may use')
        .action(run(async () => (await import('../connections/connections.ts')).listConnections));
    const one = (name: 'show' | 'test' | 'remove', description: string) =>
        connections
            .command(name)
            .description(description)
            .argument('<connection>', 'con_…')
            .action(run(async () => (await import('../connections/connections.ts'))[`${name}Connection`]));
    one('show', 'show one connection, never its value');
    one('test', 'ask the site whether it takes a connection');
    one('remove', 'delete a connection and its value');
}
