import { type Command, Option } from 'commander';
import { collectPaths, readHours, readPace } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

export function addOwnerCommands(program: Command, run: Run): void {
    program.commandsGroup('Your own domain:');
    addClaim(program, run);
    addPolicy(program, run);
}

const NEEDS_SCOPE = 'The key needs the scope maintain; "routebook whoami" shows what it has.';

function addClaim(program: Command, run: Run): void {
    const claim = program
        .command('claim')
        .description('prove that a domain is yours')
        .addHelpText(
            'after',
            examples(
                ['claim start shop.example', 'claim check shop.example', 'claim list shop.example'],
                `The registrable domain is proved, with every host on it.\n${NEEDS_SCOPE}`,
            ),
        );
    claim
        .command('start')
        .description('start a claim and show what to publish where')
        .argument('<domain>')
        .action(run(async () => (await import('../owners/claim-domain.ts')).startClaim));
    claim
        .command('check')
        .description('look for the proof now; once a minute')
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
        .option('--block', 'nothing of the domain is called, looked up or published')
        .option('--unblock', 'end the block')
        .addOption(new Option('--writes <state>', 'whether calls may change the site').choices(['on', 'off']))
        .option('--rpm <n>', 'requests a minute, all calls together, or none for no limit', readPace)
        .option('--hours <from-to>', 'when calls are welcome, such as 22:00-06:00', readHours)
        .option('--timezone <name>', 'of the hours, such as Europe/Berlin')
        .option('--no-hours', 'calls are welcome at any time')
        .option('--block-path <host/path>', 'call no URL that begins like this; may be repeated', collectPaths)
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
                `For the proved owner of the domain ("routebook claim"); it holds within a second.\nOf owner, operator and package the strictest holds.\n${NEEDS_SCOPE}`,
            ),
        )
        .action(run(async () => (await import('../owners/change-policy.ts')).policyOf));
}
