import { PACKAGE_BYTES } from '../../../shared/contracts/body-bytes.ts';
import type { PublishAnswer } from '../../../shared/contracts/schemas.ts';
import { versionHash } from '../../../shared/domain/package/version-hash.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { readPackageText } from '../../../shared/store/registry/versions.ts';
import { workOnPackage } from '../../packages/work.ts';
import type { Answer, Shown, WorkspaceVisit } from '../page.ts';

const HASH = /^[0-9a-f]{64}$/;

type Checked = { report: PublishAnswer; follows: string | undefined } | { refused: ErrorBody };

/** GET /dashboard/schemas/new: an empty form, or with `from=example` a small package, or with `site` the one of its latest version. */
export async function publishForm(visit: WorkspaceVisit): Promise<Shown> {
    const { app, fields, query } = visit;
    const typed = fields.get('package');
    if (typed !== undefined) return form(visit, typed, {});
    if (query('from') === 'example') return form(visit, examplePackage(visit.workspace.workspaceId), { isExample: true });
    const name = normaliseSite(query('site') ?? '');
    const latest = name.ok ? (await app.latest.find(name)).version : undefined;
    const stored = latest === undefined || latest.yankReason === 'legal' ? undefined : await readPackageText(app.browse, latest.versionId);
    return form(visit, stored ?? '', {}, { isStored: stored !== undefined });
}

/** A valid package to change. It has a site that nobody maintains, so it passes the check; unchanged it is not published. */
function examplePackage(workspaceId: string): string {
    const site = `shop-${workspaceId.slice(-6).toLowerCase()}.example`;
    const q = {
        name: 'q',
        source: 'query',
        required: true,
        description: 'Words to look for.',
        schema: { type: 'string' },
        example: 'shoes',
    };
    const search = {
        ...{ name: 'search_products', kind: 'search', description: 'Search the shop by words in the title.' },
        ...{ method: 'GET', url: `https://${site}/search`, params: [q] },
        examples: [{ params: { q: 'shoes' } }],
    };
    const about = { title: 'My shop', description: 'Products and prices of my shop.', intent_category: 'commerce/product-search' };
    return JSON.stringify({ format: 'routebook/1', site, ...about, endpoints: [search] }, null, 4);
}

function exampleHash({ workspace }: WorkspaceVisit): string {
    return versionHash(JSON.parse(examplePackage(workspace.workspaceId)));
}

/**
 * POST /dashboard/schemas/new: the step `check` does a dry run and shows its report. The step `publish` publishes the checked package, if
 * the form still contains the same package and nobody has published another version since.
 */
export async function sendPackage(visit: WorkspaceVisit): Promise<Answer> {
    const text = (visit.fields.get('package') ?? '').toWellFormed();
    if (text.length > PACKAGE_BYTES) throw new Refusal('PAYLOAD_TOO_LARGE');
    if (text.trim() === '') return form(visit, text, { problem: 'Paste a package, or choose a file.' });
    const checked = await check(visit, text);
    if ('refused' in checked) return form(visit, text, await refusalOf(visit, text, checked.refused));
    const { report } = checked;
    if (report.version_hash === exampleHash(visit)) return form(visit, text, { ...checked, isExample: true });
    const isSame = visit.fields.get('checked') === report.version_hash;
    if (visit.fields.get('step') !== 'publish' || !isSame) return form(visit, text, checked);

    const follows = visit.fields.get('follows') ?? '';
    const answer = await visit.ask({
        method: 'POST',
        path: '/v1/schemas',
        body: text,
        headers: HASH.test(follows) ? { 'if-match': `"${follows}"` } : {},
    });
    if (!answer.ok) return form(visit, text, await refusalOf(visit, text, answer.refused));
    const { site, created } = answer.body['data'] as PublishAnswer;
    return { to: `/dashboard/schemas/${site}`, notice: created ? 'schema-published' : 'schema-unchanged' };
}

async function check(visit: WorkspaceVisit, text: string): Promise<Checked> {
    const answer = await visit.ask({ method: 'POST', path: '/v1/schemas?dry_run=true', body: text });
    if (!answer.ok) return { refused: answer.refused };
    const report = answer.body['data'] as PublishAnswer;
    const name = normaliseSite(report.site);
    const latest = name.ok ? (await visit.app.latest.find(name)).version : undefined;
    return { report, follows: latest?.versionHash };
}

async function refusalOf(
    { me }: WorkspaceVisit,
    text: string,
    { code, message, details }: ErrorBody,
): Promise<{ problem: string; details?: ErrorBody['details'] }> {
    if (code === 'INVALID_JSON') {
        const { answer: place } = await workOnPackage('jsonErrorPosition', me.userId, { text });
        return { problem: `This is not valid JSON${place}.` };
    }
    return details === undefined || details.length === 0 ? { problem: message } : { problem: 'Fix these, then check again.', details };
}

/** Shows the form. The package is escaped in a thread, since a large one would block the event loop. */
async function form(
    { me }: WorkspaceVisit,
    text: string,
    more: { problem?: string; details?: ErrorBody['details']; report?: PublishAnswer; follows?: string | undefined; isExample?: true },
    { isStored = false } = {},
): Promise<Shown> {
    const source = text === '' ? undefined : (await workOnPackage('escapeSource', me.userId, { text, isStored })).answer;
    return {
        view: 'schemas/new',
        title: 'Publish a schema',
        status: more.problem === undefined ? 200 : 422,
        large: source,
        model: {
            hasSource: source !== undefined,
            problem: undefined,
            report: undefined,
            follows: undefined,
            ...more,
            details: more.details ?? [],
        },
    };
}
