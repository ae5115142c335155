import { type Command, Option } from 'commander';
import { collectPaths, readHours, readPace } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { examples } from './options.ts';

export function addOwnerCommands(program: Command, run: Run): void {
    program.commandsGroup('Your own domain:');
    addClaim(program, run);
    addPolicy(program, run);
}

const NEEDS_SCOPE = `The key needs the scope maintain; "${PROGRAM} whoami" shows its scopes.`;

function addClaim(program: Command, run: Run): void {
    const claim = program
        .command('claim')
        .description('prove that a domain is yours')
        .addHelpText(
            'after',
            examples(
                ['claim start shop.example', 'claim check shop.example', 'claim list shop.example'],
                `The proof is for the registrable domain and every host on it.\n${NEEDS_SCOPE}`,
            ),
        );
    claim
        .command('start')
        .description('start a claim and show what to publish where')
        .argument('<domain>')
        .action(run(async () => (await import('../owners/claim-domain.ts')).startClaim));
    claim
        .command('check')
        .description('look for the proof now; at most once a minute')
        .argument('<domain>')
        .argument('[claim]', 'clm_…, if there are several')
        .action(run(async () => (await import('../owners/claim-domain.ts')).checkClaim));
    claim
        .command('list')
        .description("list your workspace's claims on a domain")
        .argument('<domain>')
        .action(run(async () => (await import('../owners/claim-domain.ts')).listClaims));
    claim
        .command('delete')
        .description('withdraw a claim, even a proved one')
        .argument('<domain>')
        .argument('[claim]', 'clm_…, if there are several')
        .action(run(async () => (await import('../owners/claim-domain.ts')).deleteClaim));
}

function addPolicy(program: Command, run: Run): void {
    program
        .command('policy')
        .description('show what you allow on your domain, or change it')
        .argument('<domain>')
        .option('--block', 'refuse all calls, look-ups and versions of the domain')
        .option('--unblock', 'end the block')
        .addOption(new Option('--writes <state>', 'whether calls may change the site').choices(['on', 'off']))
        .option('--rpm <n>', 'requests a minute of all calls together; "none" is no limit', readPace)
        .option('--hours <from-to>', 'when calls are allowed, such as 22:00-06:00', readHours)
        .option('--timezone <name>', 'timezone of the hours, such as Europe/Berlin')
        .option('--no-hours', 'allow calls at any time')
        .option('--block-path <host/path>', 'refuse calls of URLs that begin like this; may be repeated', collectPaths)
        .option('--unblock-path <host/path>', 'allow it again; may be repeated', collectPaths)
        .option('--clear', 'allow everything again')
        .addHelpText(
            'after',
            examples(
                [
                    'policy shop.example',
                    'policy shop.example --writes off --rpm 60',
                    'policy shop.example --hours 22:00-06:00 --timezone Europe/Berlin',
                    'policy shop.example --block-path www.shop.example/admin',
                ],
                `Only for the proved owner of the domain ("${PROGRAM} claim"). Changes take effect within a second.\nThe strictest rule of owner, operator and package applies.\n${NEEDS_SCOPE}`,
            ),
        )
        .action(run(async () => (await import('../owners/change-policy.ts')).showOrChangePolicy));
}
