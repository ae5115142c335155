import { hash } from 'node:crypto';
import type { Batch, BatchDryRun } from '../../../shared/contracts/batch-fields.ts';
import { isWebToken, newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { BATCH_BODIES } from '../../../shared/domain/jobs/bounds.ts';
import { clip } from '../../../shared/domain/text/clip.ts';
import type { Endpoint } from '../../../shared/domain/types.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';
import { type CsvItems, ITEM_NAME, MAX_COLUMNS } from '../../packages/csv-items.ts';
import { workOnPackage } from '../../packages/work.ts';
import { actingCaller, CHOOSE_KEY, keysToActWith } from '../callers.ts';
import { keepTyped, line, type Problems, readFields } from '../fields.ts';
import { findEndpoint } from '../find-endpoint.ts';
import type { Answer, Shown, WorkspaceVisit } from '../page.ts';

const PATH = '/dashboard/jobs/batches/new';
/** Maximum number of characters of a file. The form's encoding may need three bytes for each. */
const CSV_CHARACTERS = 4 * 1024 * 1024;
export const UPLOAD_BYTES = 3 * CSV_CHARACTERS;
/** Maximum number of problems that a page lists. It also shows their total number. */
const SHOWN_PROBLEMS = 20;
/** Maximum number of characters that the page shows of a cell. */
const CELL = 80;

const FIELDS = {
    site: line({ maxLength: 253 }),
    endpoint: line({ maxLength: 64 }),
    name: line({ minLength: 0, maxLength: 200 }),
    max_credits: line({ minLength: 0, maxLength: 13 }),
};

/** The batch that a valid form describes. */
interface Order {
    endpoint: Endpoint;
    as: Caller;
    rows: Extract<CsvItems, { ok: true }>;
    /** The body of POST /v1/batches. */
    body: string;
}

/** GET /dashboard/jobs/batches/new: a form that is empty or filled with the endpoint from the link. */
export async function showUpload(visit: WorkspaceVisit): Promise<Shown> {
    const { fields, query } = visit;
    if (fields.size > 0) return form(visit, {});
    return form(visit, { typed: { site: query('site') ?? '', endpoint: query('endpoint') ?? '' } });
}

/**
 * POST: the step `check` reads the file, validates each call and shows the price. The step `order` creates the batch that was priced, only
 * once even if the form is sent again (its idempotency key). If the file, a column or the key has changed, it shows the new price instead.
 */
export async function orderByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { fields } = visit;
    const read = await readOrder(visit);
    if ('problems' in read) return form(visit, { problems: read.problems });
    const { as, body, rows, endpoint } = read;
    const missing = missingParams(rows, endpoint.params);
    if (missing.length > 0) {
        // One problem of the file, not one of each row.
        return form(visit, {
            rows,
            endpoint,
            problem: `No column is assigned to ${missing.join(', ')}, which every call needs. Choose one below.`,
        });
    }
    const [once, checked] = [fields.get('once') ?? '', hashOf(as, body)];
    if (fields.get('step') !== 'order' || fields.get('checked') !== checked || !isWebToken(once)) return check(visit, read, checked);
    const answer = await visit.ask({ method: 'POST', path: '/v1/batches', body, headers: { 'idempotency-key': `page-${once}` }, as });
    if (!answer.ok) return form(visit, { rows: read.rows, endpoint: read.endpoint, ...refusal(read, answer.refused) });
    const { batch_id: id } = answer.body['data'] as Batch;
    return { to: `/dashboard/jobs/batches/${id}`, notice: 'batch-ordered' };
}

async function check(visit: WorkspaceVisit, order: Order, checked: string): Promise<Shown> {
    const { rows, endpoint, body, as } = order;
    const answer = await visit.ask({ method: 'POST', path: '/v1/batches?dry_run=true', body, as });
    if (!answer.ok) return form(visit, { rows, endpoint, ...refusal(order, answer.refused) });
    const priced = answer.body['data'] as BatchDryRun;
    return form(visit, { rows, endpoint, priced: { ...priced, checked, once: newWebToken() } });
}

async function readOrder(visit: WorkspaceVisit): Promise<Order | { problems: Problems }> {
    const { fields, me } = visit;
    const read = readFields(fields, FIELDS);
    const text = (fields.get('csv') ?? '').toWellFormed();
    const problems: Record<string, string> = read.ok ? {} : { ...read.problems };
    if (text.trim() === '') problems['csv'] = 'Choose a file or paste its text.';
    if (text.length > CSV_CHARACTERS) problems['csv'] = 'This file is larger than 4 MiB. Use the command line for larger files.';
    const as = await actingCaller(visit);
    if (as === undefined) problems['key'] = CHOOSE_KEY;
    if (!read.ok || as === undefined || problems['csv'] !== undefined) return { problems };
    const { site, endpoint: name, name: title, max_credits: maxCredits } = read.values;
    if (maxCredits !== '' && !/^[1-9]\d*$/.test(maxCredits)) return { problems: { max_credits: 'Enter a whole number.' } };
    const found = await findEndpoint(visit.app, site, name);
    if ('problems' in found) return found;
    const { endpoint } = found;
    const columns = Array.from({ length: MAX_COLUMNS }, (_, place) => fields.get(`column-${place}`) ?? '');
    const task = { text, params: endpoint.params.map(paramOf), columns, head: fields.get('head'), maxRows: BATCH_BODIES.json.items };
    const { answer: rows } = await workOnPackage('rows', me.userId, task);
    if (!rows.ok) return { problems: { csv: rows.problem } };
    const about = {
        ...(title === '' ? {} : { name: title }),
        ...(maxCredits === '' ? {} : { max_credits: Number(maxCredits) }),
        defaults: { site: found.site, endpoint: name },
    };
    return { endpoint, as, rows, body: `${JSON.stringify(about).slice(0, -1)},"items":${rows.items}}` };
}

function paramOf({ name, schema }: Endpoint['params'][number]) {
    return { name, schema };
}

/** Identifies the checked batch. If the file, a column or the key changes, it is priced again before it is ordered. */
function hashOf({ keyId }: Caller, body: string): string {
    return hash('sha256', `${keyId}\n${body}`);
}

/** Maps the API's error to lines and columns of the file. */
function refusal({ rows }: Order, { message, details = [], problems = details.length }: ErrorBody) {
    const wrong = details.slice(0, SHOWN_PROBLEMS).map(({ path, message: text }) => {
        const [, where, item = '', field, param] = path.split('/');
        const place = where === 'items' && /^\d+$/.test(item) ? rows.lines[Number(item)] : undefined;
        const name = (field === 'params' ? param : field)?.replaceAll('~1', '/').replaceAll('~0', '~');
        const column = name === undefined ? -1 : rows.columns.indexOf(name);
        return { line: place, column: column < 0 ? name : rows.head[column], message: text };
    });
    return { problem: message, wrong, count: problems };
}

interface FormParts {
    typed?: Readonly<Record<string, string>>;
    problems?: Problems;
    endpoint?: Endpoint;
    rows?: Order['rows'];
    priced?: BatchDryRun & { checked: string; once: string };
    problem?: string;
    wrong?: { line: number | undefined; column: string | undefined; message: string }[];
    count?: number;
}

/** Shows the form. The file's text is escaped in a thread, since a large file would block the event loop. */
async function form(visit: WorkspaceVisit, { rows, endpoint, problems = {}, ...more }: FormParts): Promise<Shown> {
    const { fields, me } = visit;
    const text = (fields.get('csv') ?? '').toWellFormed().slice(0, CSV_CHARACTERS);
    const source = text === '' ? undefined : (await workOnPackage('escapeSource', me.userId, { text, isStored: false })).answer;
    const isWrong = more.problem !== undefined || Object.keys(problems).length > 0;
    const params = endpoint?.params ?? [];
    const choices = [
        { value: '', label: '– leave out' },
        ...params.map(({ name, required }) => ({ value: name, label: required ? `${name} (required)` : name })),
        { value: ITEM_NAME, label: 'name of the call (custom_id)' },
    ];
    return {
        view: 'jobs/upload',
        title: 'New batch',
        status: isWrong ? 422 : 200,
        large: source,
        model: {
            path: PATH,
            keys: await keysToActWith(visit),
            hasSource: source !== undefined,
            problems,
            typed: keepTyped(fields, ['csv', 'head']),
            priced: undefined,
            problem: undefined,
            wrong: [],
            count: 0,
            ...more,
            table: rows && tableOf(rows),
            choices,
        },
    };
}

/** The params that every call needs and that no column has. */
function missingParams(rows: Order['rows'], params: Endpoint['params']): string[] {
    return params
        .filter(({ name, required, default: fallback }) => required && fallback === undefined && !rows.columns.includes(name))
        .map(({ name }) => name);
}

/** The first lines of the file, with the param of each column. */
function tableOf(rows: Order['rows']) {
    return {
        head: JSON.stringify(rows.head),
        count: rows.count,
        columns: rows.head.map((name, place) => ({ name: clip(name, CELL), param: rows.columns[place] ?? '', place })),
        first: rows.first.map((cells, at) => ({ line: rows.lines[at], cells: cells.map((cell) => clip(cell, CELL)) })),
    };
}
