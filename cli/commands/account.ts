import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

export function addAccountCommands(program: Command, run: Run): void {
    program.commandsGroup('Your account:');
    program
        .command('login')
        .description('store an API key for a server, from a prompt or from stdin')
        .addHelpText(
            'after',
            examples(
                ['login', 'login --server http://localhost:8080 < .data/demo-key'],
                'The key is tried first, then stored in a file that only you can read (mode 0600).',
            ),
        )
        .action(run(async () => (await import('../account/log-in.ts')).logIn));
    program
        .command('logout')
        .description('delete the stored key of a server')
        .action(run(async () => (await import('../account/log-in.ts')).logOut));
    program
        .command('whoami')
        .description('show plan, credits and limits of the key in use')
        .action(run(async () => (await import('../account/who-am-i.ts')).whoAmI));
}
