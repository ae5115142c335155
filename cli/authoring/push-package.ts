import { setTimeout as pause } from 'node:timers/promises';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { type PublishAnswer, type Routebook, RoutebookError } from '../client/index.ts';
import { CommandFault, wrongUsage } from '../failures.ts';
import { invalidPackage, readValidPackage } from '../package/check-package.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { changeLines, changeWord } from './diff-package.ts';

interface PushOptions {
    dryRun?: true;
    ifMatch?: string;
    /** Seconds to wait for the verification. */
    wait?: number;
}

/** `routebook push FILE`: checks the rules locally, then publishes. */
export async function pushPackage(session: Session, path: string, { dryRun: isDryRun, ifMatch, wait }: PushOptions): Promise<Done> {
    const dryRun = isDryRun === true;
    const { terminal, settings } = session;
    if (dryRun && wait !== undefined) throw wrongUsage('--wait cannot be used with --dry-run, which publishes nothing');
    const { file, document, locate } = await readValidPackage(path, terminal, settings);
    const client = session.client();
    const progress = terminal.progress(`publishing ${document.site}`);
    let answer: PublishAnswer;
    try {
        const hash = ifMatch === undefined ? {} : { ifMatch: readHash(ifMatch) };
        answer = await client.schemas.publish(document, { dryRun, ...hash });
    } catch (error) {
        if (error instanceof RoutebookError && error.code === 'CLAIM_REQUIRED') throw needsProof(error, document.site);
        // The server may be stricter than this machine: other ports in EGRESS_ALLOW, or rules of a newer release.
        if (!(error instanceof RoutebookError) || error.code !== 'SCHEMA_INVALID') throw error;
        const problems = error.details.map((detail) => ({ ...detail, ...locate(detail.path) }));
        throw invalidPackage(file, problems, terminal.paintError);
    } finally {
        progress.end();
    }
    for (const { code, message } of answer.warnings) session.note(`! ${code}: ${message}`);
    for (const line of answerLines(answer, dryRun, session)) session.say(line);
    if (wait === undefined || answer.verified) return { result: answer };
    const verifiedAt = await waitForVerification(session, client, answer, wait);
    return { result: { ...answer, verified: verifiedAt !== null, verified_at: verifiedAt }, isFailure: verifiedAt === null };
}

function answerLines(answer: PublishAnswer, dryRun: boolean, { terminal: { paint }, server }: Session): string[] {
    const name = `${paint('bold', answer.site)} version ${answer.version}`;
    if (dryRun)
        return [
            `${name} would be published: ${changeWord(answer.change, paint)}`,
            ...changeLines(answer.changes, paint, answer.version === 1),
        ];
    if (!answer.created) return [`${name} already has this content; nothing was published`];
    const earned = answer.credits_earned > 0 ? `, ${answer.credits_earned} credits earned` : '';
    return [
        `${paint('green', '✓')} ${name} is published: ${changeWord(answer.change, paint)}${earned}`,
        ...changeLines(answer.changes, paint, answer.version === 1),
        `  ${server}/registry/${answer.site}`,
        paint('dim', `  ${answer.version_hash}`),
    ];
}

/** Explains which commands prove that the domain belongs to the user. */
function needsProof({ code, status, fault, retryable, requestId }: RoutebookError, site: string): CommandFault {
    const name = normaliseSite(site);
    const domain = name.ok ? name.registrable : site;
    return new CommandFault(code, `This package needs proof that ${domain} is yours.`, {
        lines: [
            `  ${PROGRAM} claim start ${domain}   shows what to publish, in DNS or in a file`,
            `  ${PROGRAM} claim check ${domain}   looks for it; then push again`,
            '  If it is not yours, ask the operator of this service to let your workspace publish.',
        ],
        fields: { status, fault, retryable, ...(requestId === undefined ? {} : { request_id: requestId }) },
    });
}

function readHash(text: string): string {
    const hash = text.replace(/^"(.*)"$/, '$1');
    if (hash === '*' || /^[0-9a-f]{64}$/.test(hash)) return hash;
    throw wrongUsage('--if-match must be the hash of a version (64 hexadecimal digits) or *');
}

const LOOK_MS = 1000;

/** Waits until the version is verified; null if the time is up. Somebody may publish the next version meanwhile. */
async function waitForVerification(
    { terminal, say, note }: Session,
    client: Routebook,
    { site, version }: PublishAnswer,
    seconds: number,
): Promise<string | null> {
    const endsAt = performance.now() + seconds * 1000;
    const progress = terminal.progress(`waiting for the verification of ${site}`);
    try {
        for (;;) {
            const card = await client.schemas.get(site);
            if (card.version !== version) {
                throw new CommandFault('VERSION_CONFLICT', `Version ${card.version} was published meanwhile and is now the latest.`);
            }
            if (card.verified) {
                progress.end();
                say(`${terminal.paint('green', '✓')} verified`);
                return card.verified_at;
            }
            if (performance.now() + LOOK_MS > endsAt) break;
            await pause(LOOK_MS);
        }
    } finally {
        progress.end();
    }
    note(
        `! not verified within ${seconds} s. A domain is verified at most every 10 minutes; "${PROGRAM} test" makes the same calls from here.`,
    );
    return null;
}
