import { proofName } from '../../shared/domain/site/proof.ts';
import { isOnDomain } from '../../shared/domain/site/site-name.ts';
import { fieldLines, paragraph, toTheMinute } from '../../shared/platform/table.ts';
import type { ClaimEntry } from '../client/index.ts';
import { CommandFault } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';

/** `routebook claim start DOMAIN`: claims a domain and prints what to publish where. */
export async function startClaim({ client, terminal: { paint, tableWidth } }: Session, domain: string): Promise<Done> {
    const claim = await client().claims.create(domain);
    const [dns, file] = claim.methods;
    // On a public suffix the name of the DNS record could belong to a customer of the suffix, so only the file counts.
    const mayUseDns = isOnDomain(proofName(claim.domain), claim.domain);
    const until = claim.expires_at === null ? '' : `, until ${toTheMinute(claim.expires_at)}`;
    return {
        result: claim,
        lines: [
            ...paragraph(
                '',
                `${paint('green', '✓')} claim ${claim.claim_id} on ${paint('bold', claim.domain)} waits for its proof${until}`,
                tableWidth,
                2,
            ),
            '',
            `Publish ${mayUseDns ? 'one of these' : 'this'} and leave it in place:`,
            ...(mayUseDns ? paragraph(`  ${paint('dim', 'DNS ')}  `, dns.dns, tableWidth, 8) : []),
            `  ${paint('dim', 'file')}  ${file.url}`,
            `        with the line ${claim.value}`,
            '',
            `Then run: ${PROGRAM} claim check ${claim.domain} ${claim.claim_id}`,
        ],
    };
}

/** `routebook claim list DOMAIN`: lists your workspace's claims on a domain, oldest first. */
export async function listClaims({ client, terminal }: Session, domain: string): Promise<Done> {
    const claims = await claimsOn(client(), domain);
    const result = { claims };
    if (claims.length === 0) return { result, lines: [`No claims; "${PROGRAM} claim start ${domain}" starts one.`] };
    // Not in a table, which would cut the value that must be published.
    const lines = claims.flatMap(({ claim_id, status, expires_at, value, reason }, place) => [
        ...(place === 0 ? [] : ['']),
        ...fieldLines(
            [
                ['claim', claim_id],
                ['status', status],
                ['expires', expires_at],
                ['value', value],
                ['reason', reason],
            ],
            terminal,
        ),
    ]);
    return { result, lines };
}

/** `routebook claim check DOMAIN [CLAIM]`: checks the proof now. Fails if it is not found. */
export async function checkClaim({ client, terminal }: Session, domain: string, claimId: string | undefined): Promise<Done> {
    const { paint } = terminal;
    const api = client();
    const claim = await oneClaim(api, domain, claimId);
    const progress = terminal.progress(`looking for the proof of ${claim.domain}`);
    const { status, reason } = await api.claims.check(domain, claim.claim_id).finally(() => progress.end());
    const result = { claim_id: claim.claim_id, domain: claim.domain, status, reason };
    if (status === 'proven') {
        const lines = [
            `${paint('green', '✓')} ${paint('bold', claim.domain)} is yours: your workspace is its owner and a maintainer`,
            paint('dim', '  Leave the proof in place; it is checked again every month.'),
        ];
        return { result, lines };
    }
    const head = status === 'pending' ? 'The lookup has not ended yet' : 'No proof was found';
    const lines = paragraph(`${paint('red', '✗')} `, `${head}${reason === null ? '' : `: ${reason}`}`, terminal.tableWidth, 2);
    return { result, lines, isFailure: true };
}

/** `routebook claim delete DOMAIN [CLAIM]`: withdraws a claim. */
export async function deleteClaim({ client, terminal: { paint } }: Session, domain: string, claimId: string | undefined): Promise<Done> {
    const api = client();
    const claim = await oneClaim(api, domain, claimId);
    const result = await api.claims.delete(domain, claim.claim_id);
    const lost = claim.status === 'proven' ? '; your workspace no longer owns the domain by this claim' : '';
    return { result, lines: [`${paint('green', '✓')} claim ${claim.claim_id} on ${claim.domain} is deleted${lost}`] };
}

type Api = ReturnType<Session['client']>;

/** Far more claims than a workspace has. The server sets no limit to the proven claims on one domain. */
const MAX_CLAIMS = 100_000;

function claimsOn(api: Api, domain: string): Promise<ClaimEntry[]> {
    return api.claims.list(domain, { limit: 100 }).all(MAX_CLAIMS);
}

/** Finds the named claim, or the only one. @throws CommandFault */
async function oneClaim(api: Api, domain: string, claimId: string | undefined): Promise<ClaimEntry> {
    const claims = await claimsOn(api, domain);
    const begin = `"${PROGRAM} claim start ${domain}" starts one`;
    if (claimId !== undefined) {
        const named = claims.find(({ claim_id }) => claim_id === claimId);
        if (named !== undefined) return named;
        const known = claims.length === 0 ? begin : `"${PROGRAM} claim list ${domain}" shows yours`;
        throw new CommandFault('CLAIM_NOT_FOUND', `Your workspace has no claim ${claimId} on ${domain}; it may have expired. ${known}.`);
    }
    const [first, second] = claims;
    if (first === undefined) throw new CommandFault('CLAIM_NOT_FOUND', `Your workspace has no claim on ${domain}; ${begin}.`);
    if (second === undefined) return first;
    const lines = claims.map(({ claim_id, status }) => `  ${claim_id}  ${status}`);
    throw new CommandFault('WRONG_USAGE', `Your workspace has ${claims.length} claims on ${domain}; name one of them.`, {
        exitCode: 2,
        lines,
    });
}
