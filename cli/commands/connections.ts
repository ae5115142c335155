import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

/** The commands for connections: calls with the user's own credentials. */
export function addConnectionCommands(program: Command, run: Run): void {
    program.commandsGroup('Call a site as yourself:');
    program
        .command('connect')
        .description('store your credential for a site: prompts without echo, reads a pipe, or opens the browser for consent')
        .argument('<site>', 'domain of the site')
        .option('--auth <id>', 'the auth entry of the schema, if it has several')
        .option('--user <name>', 'user name, if the site takes user name and password')
        .option('--client-id <id>', 'client id, if the site requires your own OAuth client')
        .option('--name <text>', 'name of the connection')
        .option('--shared', 'let every member of the workspace use it')
        .option('--no-test', 'store it without a test')
        .option('--consent', 'use OAuth: open the page where you consent')
        .option('--no-browser', 'print the address of the consent page; open no browser')
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
    one('show', 'show a connection without its value');
    one('test', 'test whether the site accepts a connection');
    one('remove', 'delete a connection and its value');
}
