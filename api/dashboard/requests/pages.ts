import { isWebToken, newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { CATEGORIES } from '../../../shared/domain/package/taxonomy.ts';
import { AUTH_SHAPES, FREQUENCIES, READ_OR_WRITE } from '../../../shared/domain/site/schema-request.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { isId } from '../../../shared/domain/text/ids.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import * as schemaRequests from '../../../shared/store/registry/schema-requests.ts';
import { visitorCaller } from '../callers.ts';
import { besideField, keepTyped, type Problems, problemsAt } from '../fields.ts';
import { type Answer, openPage, pageNotFound, type Shown, type Visit } from '../page.ts';

/** Pages of requested schemas: which ones are in demand, and the state of each request. */
export const requestPages = [
    openPage({ method: 'GET', path: '/requests', respond: listWanted }),
    openPage({ method: 'GET', path: '/requests/new', respond: askForm }),
    openPage({ method: 'POST', path: '/requests/new', respond: ask }),
    openPage({ method: 'GET', path: '/requests/{request_id}', respond: showRequest }),
];

const WANTED = 20;
const OWN = 50;

/** GET /requests: the most requested domains, and the requests of the visitor's workspace. */
async function listWanted({ app, me }: Visit): Promise<Shown> {
    const workspaceId = me?.current?.workspaceId;
    const [wanted, own] = await Promise.all([
        schemaRequests.mostRequested(app.browse, WANTED),
        workspaceId === undefined ? [] : schemaRequests.madeBy(app.browse, workspaceId, OWN),
    ]);
    return {
        view: 'requests/list',
        title: 'Wanted schemas',
        description: 'Sites that people need a schema for, most requested first. Publish the first one and earn credits.',
        model: { wanted, own, max: wanted[0]?.requests ?? 1 },
    };
}

/** GET /requests/{request_id}: for anyone who has the id. It never shows who sent the request. */
async function showRequest({ app, params }: Visit): Promise<Shown> {
    const id = params['request_id'] ?? '';
    const request = isId('srq', id) ? await schemaRequests.find(app.browse, id) : undefined;
    if (request === undefined) throw pageNotFound();
    return { view: 'requests/one', title: `A schema for ${request.domain}`, model: { request } };
}

/** The form's fields, with the same names as in the API. */
const FIELDS = [
    'domain',
    'task',
    'read_or_write',
    'auth_shape',
    'output_shape',
    'failure_mode',
    'intent_category',
    'source_url',
    'frequency',
    'requester_contact',
] as const;

const NOT_SAID = { value: '', label: 'not said' };
const words = (value: string) => value.replaceAll('_', ' ');
const choices = (values: readonly string[]) => [NOT_SAID, ...values.map((value) => ({ value, label: words(value) }))];
const READ_LABELS: Readonly<Record<(typeof READ_OR_WRITE)[number], string>> = { read: 'read', write: 'write', read_write: 'both' };

/** GET /requests/new. The queries `domain` and `task` fill in these fields. */
async function askForm(visit: Visit): Promise<Shown> {
    const { query } = visit;
    return form(visit, { typed: { domain: (query('domain') ?? '').slice(0, 200), task: (query('task') ?? '').slice(0, 1000) } });
}

/** POST /requests/new: creates a request through the API. For signed-in users, sending the form again creates no second one. */
async function ask(visit: Visit): Promise<Answer> {
    const { fields } = visit;
    const given = FIELDS.map((name) => [name, (fields.get(name) ?? '').replaceAll('\r\n', '\n').trim()] as const).filter(
        ([, text]) => text !== '',
    );
    const once = fields.get('once') ?? '';
    const answer = await visit.ask({
        method: 'POST',
        path: '/v1/schema-requests',
        body: Object.fromEntries(given),
        as: visitorCaller(visit.me),
        headers: isWebToken(once) ? { 'idempotency-key': `page-${once}` } : {},
    });
    if (!answer.ok) {
        const problems = { ...siteProblem(fields.get('domain') ?? ''), ...toProblems(answer.refused) };
        return form(visit, { typed: keepTyped(fields), problems, retryAfter: answer.refused.retry_after });
    }
    const { request_id: id } = answer.body['data'] as { request_id: string };
    return { to: `/requests/${id}`, notice: 'request-made' };
}

/** The API checks the domain only when the shape of all fields is right. */
function siteProblem(domain: string): Problems {
    const name = normaliseSite(domain);
    return name.ok ? {} : { domain: name.message };
}

function toProblems(refused: ErrorBody): Problems {
    return problemsAt(refused, ({ path, code, message }) => {
        const name = path.slice(1);
        return [FIELDS.some((field) => field === name) ? name : '', code === 'REQUIRED' ? 'Fill this in.' : besideField(message)];
    });
}

function form(
    visit: Visit,
    { problems = {}, retryAfter, ...more }: { typed: object; problems?: Problems; retryAfter?: number | undefined },
): Shown {
    return {
        view: 'requests/new',
        title: 'Request a schema',
        description: 'Tell us which site you need and why. The most requested sites come first.',
        retryAfter,
        model: {
            problems,
            ...more,
            once: newWebToken(),
            isSignedIn: visit.me?.current !== undefined,
            readOrWrite: [NOT_SAID, ...READ_OR_WRITE.map((value) => ({ value, label: READ_LABELS[value] }))],
            authShapes: choices(AUTH_SHAPES),
            frequencies: choices(FREQUENCIES),
            categories: [
                NOT_SAID,
                ...CATEGORIES.flatMap(({ name, children }) =>
                    children.map((child) => ({ value: child.path, label: `${name}: ${child.name}` })),
                ),
            ],
        },
    };
}
